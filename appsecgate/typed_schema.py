"""JSON Schemas of dataclasses, in the plain form that every client takes.

No ``$ref``, no list of types, no ``anyOf`` at the top, always ``properties``; each limit stands in the
description too, since some clients strip the keywords before a model sees them.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from appsecgate.model import Json
from appsecgate.typed import ArgRules, FieldSpec, Shape, ShapeKind, TypedRecord, dump_value, fields_of

SCHEMA_TYPES: Final[Mapping[ShapeKind, str]] = {
    ShapeKind.TEXT: "string",
    ShapeKind.CHOICE: "string",
    ShapeKind.INTEGER: "integer",
    ShapeKind.NUMBER: "number",
    ShapeKind.BOOLEAN: "boolean",
    ShapeKind.ARRAY: "array",
    ShapeKind.MAP: "object",
    ShapeKind.RECORD: "object",
}
SchemaMaker: TypeAlias = Callable[[Shape], dict[str, Json]]
_ANY_OF_TYPE: Final[Mapping[str, dict[str, Json]]] = {
    "array": {"type": "array", "items": {}},
    "object": {"type": "object", "properties": {}, "additionalProperties": True},
}
_LIMIT_KEYWORDS: Final = (
    ("minimum", "minimum"),
    ("maximum", "maximum"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
)


def input_schema(cls: type[TypedRecord]) -> dict[str, Json]:
    """The schema of arguments. TypeError where a field has no description: a model would have to guess.

    An optional argument is one that may be left out; that null is taken for absent is not said, since
    several clients cannot express it.
    """
    properties: dict[str, Json] = {}
    required: list[Json] = []
    for spec in fields_of(cls):
        if not spec.rules.doc:
            raise TypeError(f"{cls.__name__}.{spec.name} has no description")
        properties[spec.name] = _input_property(spec)
        if spec.required:
            required.append(spec.name)
    return _object_schema(properties, required)


def _object_schema(properties: dict[str, Json], required: list[Json]) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema


def _input_property(spec: FieldSpec) -> dict[str, Json]:
    schema = _bare_schema(spec.shape, _input_item)
    if spec.rules.json_type:
        schema = dict(_ANY_OF_TYPE[spec.rules.json_type])
    for attribute, keyword in _LIMIT_KEYWORDS:
        if (limit := getattr(spec.rules, attribute)) is not None:
            schema[keyword] = limit
    schema["description"] = described(spec)
    return schema


def _input_item(shape: Shape) -> dict[str, Json]:
    if shape.kind is ShapeKind.RECORD:
        return input_schema(shape.python)
    return _bare_schema(shape, _input_item)


def output_schema(cls: type[TypedRecord]) -> dict[str, Json]:
    """The schema that ``dump`` of the dataclass satisfies; what ``omit_empty`` may drop is not required."""
    properties: dict[str, Json] = {}
    required: list[Json] = []
    for spec in fields_of(cls):
        schema = _output_value(spec.shape)
        if spec.rules.doc:
            schema["description"] = spec.rules.doc
        properties[spec.name] = schema
        if not spec.rules.omit_empty:
            required.append(spec.name)
    return _object_schema(properties, required)


def _output_value(shape: Shape) -> dict[str, Json]:
    is_record = shape.kind is ShapeKind.RECORD
    schema = output_schema(shape.python) if is_record else _bare_schema(shape, _output_value)
    if shape.nullable and shape.kind is not ShapeKind.ANY:
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


def _bare_schema(shape: Shape, of_item: SchemaMaker) -> dict[str, Json]:
    """The schema without limits and words; ``of_item`` makes the schema of a shape inside this one."""
    if shape.kind is ShapeKind.ANY:
        return {}  # not a bare true: some clients lose the whole list over it
    schema: dict[str, Json] = {"type": SCHEMA_TYPES[shape.kind]}
    match shape.kind:
        case ShapeKind.CHOICE:
            schema["enum"] = list(shape.choices)
        case ShapeKind.ARRAY:
            schema["items"] = of_item(shape.inner)
        case ShapeKind.MAP:
            # true rather than {} where anything goes: a schema that says nothing is faulted by linters
            schema |= {"properties": {}, "additionalProperties": of_item(shape.inner) or True}
        case ShapeKind.RECORD:
            return dict(of_item(shape))
    return schema


def described(spec: FieldSpec) -> str:
    """The description of an argument with its limits and its default in words."""
    sentences = [spec.rules.doc.rstrip("."), *(limit.capitalize() for limit in limits_in_words(spec.rules))]
    if not spec.required and spec.default not in (None, (), [], ""):
        sentences.append(f"Default: {json.dumps(dump_value(spec.default), ensure_ascii=False)}")
    return ". ".join(sentences) + "."


def limits_in_words(rules: ArgRules) -> Iterator[str]:
    """The limits of an argument as short phrases: "at most 20 items"."""
    bounds = (
        (rules.minimum, rules.maximum, ""),
        (rules.min_length, rules.max_length, " characters"),
        (rules.min_items, rules.max_items, " items"),
    )
    for low, high, unit in bounds:
        if low is not None and high is not None:
            yield f"{low:,} to {high:,}{unit}"
        elif low is not None:
            yield f"at least {low:,}{unit}"
        elif high is not None:
            yield f"at most {high:,}{unit}"
    if rules.unique:
        yield "each item once"
