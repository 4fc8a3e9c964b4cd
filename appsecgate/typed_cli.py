"""Dataclasses on the command line: what is required is positional, the rest are options.

A list of texts is repeated values, a truth value has a ``--no-`` form, and whatever is nested is
written as JSON. Types and limits are checked by ``typed.load``, so both doors refuse the same things.
"""

import argparse
from typing import Any, Final

from appsecgate.model import Json
from appsecgate.typed import FieldSpec, RecordT, ShapeKind, TypedRecord, fields_of, load
from appsecgate.typed_schema import described

ARG_DEST_PREFIX: Final = "arg_"
"""Keeps an argument ``path`` apart from an option of the program that has the same name."""
_FLAT_KINDS: Final = (ShapeKind.TEXT, ShapeKind.CHOICE, ShapeKind.INTEGER, ShapeKind.NUMBER)


def add_arguments(parser: argparse.ArgumentParser, cls: type[TypedRecord]) -> None:
    """Add one positional or option to ``parser`` for each field of the dataclass."""
    for spec in fields_of(cls):
        options = _parser_options(spec)
        if spec.required:
            parser.add_argument(ARG_DEST_PREFIX + spec.name, metavar=_metavar(spec), **options)
        else:
            flag = "--" + spec.name.replace("_", "-")
            if spec.shape.kind is not ShapeKind.BOOLEAN:
                options["metavar"] = _metavar(spec)
            parser.add_argument(flag, dest=ARG_DEST_PREFIX + spec.name, default=None, **options)


def _parser_options(spec: FieldSpec) -> dict[str, Any]:
    options: dict[str, Any] = {"help": described(spec).replace("%", "%%")}
    if spec.shape.kind is ShapeKind.BOOLEAN and not spec.required:
        options["action"] = argparse.BooleanOptionalAction
    elif _is_flat_list(spec):
        options |= {"nargs": "+"} if spec.required else {"action": "append"}
    return options


def _is_flat_list(spec: FieldSpec) -> bool:
    return spec.shape.kind is ShapeKind.ARRAY and spec.shape.inner.kind in _FLAT_KINDS


def _metavar(spec: FieldSpec) -> str:
    shape = spec.shape.inner if _is_flat_list(spec) else spec.shape
    if shape.kind is ShapeKind.CHOICE:
        return "{" + ",".join(shape.choices) + "}"
    name = spec.name.upper()
    return name if shape.kind in (*_FLAT_KINDS, ShapeKind.BOOLEAN) else f"{name}_JSON"


def from_namespace(cls: type[RecordT], namespace: argparse.Namespace, *, name: str = "") -> RecordT:
    """The dataclass from what ``add_arguments`` parsed; ``ArgumentError`` as ``typed.load`` raises it."""
    given: dict[str, Json] = {}
    for spec in fields_of(cls):
        value = getattr(namespace, ARG_DEST_PREFIX + spec.name, None)
        if value is not None:
            given[spec.name] = value
    return load(cls, given, name=name)
