"""Frozen dataclasses ⇄ JSON, → JSON Schema, ⇄ the command line.

One dataclass declares what a tool takes or gives; the wire, the schemas and the command line follow
from its annotations and from what ``arg`` puts beside them. A field's type is ``str``, ``int``,
``float``, ``bool``, a ``StrEnum``, ``Literal`` of strings, ``tuple[T, ...]``, ``list[T]``,
``Mapping[str, T]``, ``dict[str, T]``, another dataclass, ``Json`` (anything), or ``T | None`` of these.
"""

import collections.abc
import dataclasses
import enum
import functools
import json
import math
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeVar

from appsecgate.errors import ArgumentError
from appsecgate.model import Json

MAX_INTEGER: Final = 2**63 - 1
"""Integers beyond 64 bits are refused: the database could not hold them."""
PREVIEW_CHARS: Final = 60
"""How much of a wrong value an error message repeats."""
MAX_ARGUMENT_PROBLEMS: Final = 5
"""How many wrong arguments one error message names."""

_REQUIRED: Final = dataclasses.MISSING
_JSON_HINT: Final = typing.Union[bool, int, float, str, list[Any], dict[str, Any], None]  # noqa: UP007 (compared to typing's own)
_HALF_PAIR_IN_TEXT: Final = re.compile("[\ud800-\udfff]")
_HALF_PAIR_NOT_BYTE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class TypedRecord(Protocol):
    """Any dataclass, as type checkers see it."""

    __dataclass_fields__: ClassVar[dict[str, "dataclasses.Field[Any]"]]


RecordT = TypeVar("RecordT", bound=TypedRecord)


@dataclass(frozen=True, slots=True)
class ArgRules:
    """What ``arg`` knows of a field besides its type."""

    doc: str = ""
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False
    any_bytes: bool = False
    omit_empty: bool = False
    json_type: str = ""
    example: Json = None


def arg(doc: str, *, default: Any = _REQUIRED, internal: bool = False, **rules: Any) -> Any:
    """A dataclass field with its description and limits.

    ``doc`` is one or two sentences for a model or a person. ``rules`` are the fields of ``ArgRules``:
    ``minimum``/``maximum`` bound numbers, ``min_length``/``max_length`` count characters,
    ``min_items``/``max_items`` and ``unique`` speak of arrays, ``example`` is a value for example calls,
    ``any_bytes`` lets a text hold bytes that are not UTF-8 (file names, as ``os.fsdecode`` gives them),
    ``omit_empty`` has ``dump`` leave out null, "" and empty arrays, ``json_type`` ("array", "object") is what
    the schema says of a ``Json`` argument. An ``internal`` field is never dumped, loaded or described.
    """
    metadata = {"arg": ArgRules(doc=doc, **rules), "internal": internal}
    return dataclasses.field(default=default, metadata=metadata)


class ShapeKind(enum.Enum):
    """What a JSON value can be, named as error messages name it."""

    ANY = "any JSON value"
    TEXT = "a string"
    INTEGER = "an integer"
    NUMBER = "a number"
    BOOLEAN = "true or false"
    CHOICE = "one of"
    ARRAY = "an array"
    MAP = "an object with any keys"
    RECORD = "an object"


@dataclass(frozen=True, slots=True)
class Shape:
    """A type annotation, understood."""

    kind: ShapeKind
    nullable: bool = False
    python: Any = None
    """The enum, the dataclass, or ``list``/``tuple``; None elsewhere."""
    choices: tuple[str, ...] = ()
    item: "Shape | None" = None

    @property
    def inner(self) -> "Shape":
        """The shape of an array's or a map's items."""
        if self.item is None:
            raise TypeError(f"{self.kind} has no items")
        return self.item


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a dataclass, understood."""

    name: str
    shape: Shape
    rules: ArgRules
    required: bool
    default: Any


_SCALARS: Final[Mapping[Any, ShapeKind]] = {
    str: ShapeKind.TEXT,
    int: ShapeKind.INTEGER,
    float: ShapeKind.NUMBER,
    bool: ShapeKind.BOOLEAN,
}


def shape_of(hint: Any) -> Shape:
    """The shape of a resolved annotation; TypeError where it is none that this module knows."""
    if hint is Any or hint == _JSON_HINT:
        return Shape(ShapeKind.ANY, nullable=True)
    if hint in _SCALARS:
        return Shape(_SCALARS[hint])
    if typing.get_origin(hint) is not None:
        return _generic_shape(typing.get_origin(hint), typing.get_args(hint), hint)
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        return Shape(ShapeKind.CHOICE, python=hint, choices=tuple(member.value for member in hint))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return Shape(ShapeKind.RECORD, python=hint)
    raise TypeError(f"no JSON form for {hint!r}")


def _generic_shape(origin: Any, args: tuple[Any, ...], hint: Any) -> Shape:
    if origin in (typing.Union, types.UnionType):
        members = [member for member in args if member is not types.NoneType]
        if len(members) == 1:
            return dataclasses.replace(shape_of(members[0]), nullable=True)
    elif origin is typing.Literal and all(isinstance(choice, str) for choice in args):
        return Shape(ShapeKind.CHOICE, choices=args)
    elif origin in (list, collections.abc.Sequence) or (origin is tuple and args[1:] == (...,)):
        return Shape(ShapeKind.ARRAY, python=list if origin is list else tuple, item=shape_of(args[0]))
    elif origin in (dict, collections.abc.Mapping) and args[0] is str:
        return Shape(ShapeKind.MAP, item=shape_of(args[1]))
    raise TypeError(f"no JSON form for {hint!r}")


@functools.cache
def fields_of(cls: type[TypedRecord]) -> tuple[FieldSpec, ...]:
    """The fields of a dataclass that JSON sees, in their order."""
    # The alias Json is recursive: Any in its own place ends the recursion and is compared to _JSON_HINT.
    hints = typing.get_type_hints(cls, localns={"Json": Any})
    specs = []
    for field in dataclasses.fields(cls):
        if field.metadata.get("internal"):
            continue
        made = field.default_factory
        default = field.default if made is _REQUIRED else made()
        rules = field.metadata.get("arg", ArgRules())
        specs.append(FieldSpec(field.name, shape_of(hints[field.name]), rules, default is _REQUIRED, default))
    return tuple(specs)


def dump(record: TypedRecord) -> dict[str, Json]:
    """The JSON object of a dataclass: enums as values, tuples as arrays, None as null."""
    dumped: dict[str, Json] = {}
    for spec in fields_of(type(record)):
        value = getattr(record, spec.name)
        # a number or false is never "empty"
        if spec.rules.omit_empty and (value is None or (hasattr(value, "__len__") and not len(value))):
            continue
        dumped[spec.name] = dump_value(value)
    return dumped


def dump_value(value: object) -> Json:
    """The JSON form of any value that a field may hold; TypeError for others."""
    if isinstance(value, enum.Enum):
        return dump_value(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dump(value)
    if isinstance(value, Mapping):
        return {str(key): dump_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [dump_value(item) for item in value]
    raise TypeError(f"no JSON form for a {type(value).__name__}")


def load(cls: type[RecordT], mapping: Mapping[str, Json], *, name: str = "") -> RecordT:
    """The dataclass that ``mapping`` describes; unknown keys are ignored.

    null counts as absent where the field has a default. A string where a number, a truth value, an array
    or an object is wanted is read as JSON, since some clients turn every argument into a string. Raises
    ``ArgumentError``: each wrong argument, what came, what is wanted, and an example call of ``name``.
    """
    problems: list[str] = []
    try:
        record = _load_record(cls, mapping, "", problems)
    except ArgumentError as error:  # a check across fields, in __post_init__
        problems.append(str(error).rstrip("."))
    if problems:
        shown = "; ".join(problems[:MAX_ARGUMENT_PROBLEMS])
        example = json.dumps(example_of(cls), ensure_ascii=False)
        raise ArgumentError(f"{shown}.", hint=f"Call it like this: {name or 'arguments'} {example}")
    return typing.cast(RecordT, record)


def _load_record(cls: type[TypedRecord], raw: Mapping[str, Json], where: str, problems: list[str]) -> Any:
    values: dict[str, Any] = {}
    before = len(problems)
    for spec in fields_of(cls):
        given = raw.get(spec.name)
        path = f"{where}.{spec.name}" if where else spec.name
        if given is None and not spec.required:
            continue
        if spec.name not in raw:
            problems.append(f"{path}: missing, wanted {wanted(spec.shape)} ({spec.rules.doc.rstrip('.')})")
        else:
            values[spec.name] = _load_value(spec.shape, spec.rules, given, path, problems)
    return cls(**values) if len(problems) == before else None


def _load_value(shape: Shape, rules: ArgRules, raw: Json, where: str, problems: list[str]) -> Any:
    if raw is None and shape.nullable:
        return None
    value = _unquoted(shape, rules, raw)
    problem = _misfit(shape, rules, value)
    if problem:
        problems.append(f"{where}: {problem}")
        return None
    match value:
        case list() if shape.kind is ShapeKind.ARRAY:
            return _load_array(shape, value, where, problems)
        case dict() if shape.kind is ShapeKind.MAP:
            return {
                key: _load_value(shape.inner, ArgRules(), item, f"{where}.{key[:PREVIEW_CHARS]}", problems)
                for key, item in value.items()
            }
        case dict() if shape.kind is ShapeKind.RECORD:
            return _load_record(shape.python, value, where, problems)
        case str() if shape.kind is ShapeKind.CHOICE and shape.python is not None:
            return shape.python(value)
        case int() | float() if shape.kind in (ShapeKind.INTEGER, ShapeKind.NUMBER):
            return int(value) if shape.kind is ShapeKind.INTEGER else float(value)
        case _:
            return value


def _load_array(shape: Shape, raw: list[Json], where: str, problems: list[str]) -> Any:
    items = [
        _load_value(shape.inner, ArgRules(), item, f"{where}[{position}]", problems)
        for position, item in enumerate(raw)
    ]
    return shape.python(items)


def _unquoted(shape: Shape, rules: ArgRules, raw: Json) -> Json:
    """A string that holds the JSON of what is wanted, read; anything else as it came."""
    is_text = shape.kind in (ShapeKind.TEXT, ShapeKind.CHOICE, ShapeKind.ANY) and not rules.json_type
    if not isinstance(raw, str) or is_text:
        return raw
    try:
        parsed: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return raw if _is_other_kind(shape, parsed) else parsed


def _misfit(shape: Shape, rules: ArgRules, value: Json) -> str:
    """What is wrong with a value, or ""."""
    if _is_other_kind(shape, value):
        return f"got {shown_value(value)}, wanted {wanted(shape)}"
    if isinstance(value, str) and shape.kind is ShapeKind.TEXT:
        broken = _HALF_PAIR_NOT_BYTE if rules.any_bytes else _HALF_PAIR_IN_TEXT
        if broken.search(value):
            return "got text with half a surrogate pair in it, wanted Unicode characters"
        return _out_of_bounds(len(value), rules.min_length, rules.max_length, "character")
    if isinstance(value, list) and shape.kind is ShapeKind.ARRAY:
        if rules.unique and (twice := _first_twice(value)) is not None:
            return f"{shown_value(twice)} is in it twice, wanted each once"
        return _out_of_bounds(len(value), rules.min_items, rules.max_items, "item")
    if isinstance(value, int | float) and shape.kind in (ShapeKind.INTEGER, ShapeKind.NUMBER):
        return _out_of_bounds(value, rules.minimum, rules.maximum, "")
    return ""


def _is_other_kind(shape: Shape, value: Json) -> bool:
    match shape.kind:
        case ShapeKind.ANY:
            return False
        case ShapeKind.TEXT:
            return not isinstance(value, str)
        case ShapeKind.CHOICE:
            return value not in shape.choices
        case ShapeKind.BOOLEAN:
            return not isinstance(value, bool)
        case ShapeKind.ARRAY:
            return not isinstance(value, list)
        case ShapeKind.INTEGER | ShapeKind.NUMBER:
            return not _is_number(value, whole=shape.kind is ShapeKind.INTEGER)
        case _:
            return not isinstance(value, dict)


def _is_number(value: Json, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # the bound first: isfinite cannot take an integer beyond the range of a float
    if abs(value) > MAX_INTEGER or not math.isfinite(value):
        return False
    return not whole or value == int(value)


def _first_twice(values: Sequence[Json]) -> Json:
    seen: set[str] = set()
    for value in values:
        key = json.dumps(value, sort_keys=True)
        if key in seen:
            return value
        seen.add(key)
    return None


def _out_of_bounds(size: float, low: float | None, high: float | None, unit: str) -> str:
    if low is not None and size < low:
        word, bound = "at least", low
    elif high is not None and size > high:
        word, bound = "at most", high
    else:
        return ""
    units = f" {unit}{'' if bound == 1 else 's'}" if unit else ""
    return f"{word} {bound:,}{units}, got {size:,}"


def wanted(shape: Shape) -> str:
    """What an argument should be, in words."""
    if shape.kind is ShapeKind.CHOICE:
        return "one of " + ", ".join(json.dumps(choice) for choice in shape.choices)
    if shape.kind is ShapeKind.ARRAY:
        return f"an array, each item {wanted(shape.inner)}"
    return str(shape.kind.value)


def shown_value(value: Json) -> str:
    """A value as an error message names it: short, and by its kind where it is large."""
    match value:
        case None:
            return "null"
        case dict():
            return f"an object with {len(value)} keys"
        case list():
            return f"an array of {len(value)} items"
        case str() if len(value) > PREVIEW_CHARS:
            return f"a string of {len(value)} characters"
        case int() if abs(value) > MAX_INTEGER:
            return "an integer beyond 64 bits"
        case _:
            return json.dumps(value, ensure_ascii=False)


def example_of(cls: type[TypedRecord]) -> dict[str, Json]:
    """Arguments of an example call: what is required, else whatever has an example."""
    specs = fields_of(cls)
    chosen = [spec for spec in specs if spec.required]
    chosen = chosen or [spec for spec in specs if spec.rules.example is not None]
    return {spec.name: _example_value(spec.name, spec.shape, spec.rules) for spec in chosen}


def _example_value(name: str, shape: Shape, rules: ArgRules) -> Json:
    if rules.example is not None:
        return rules.example
    match shape.kind:
        case ShapeKind.CHOICE:
            return shape.choices[0]
        case ShapeKind.INTEGER | ShapeKind.NUMBER:
            return 1 if rules.minimum is None else rules.minimum
        case ShapeKind.BOOLEAN:
            return True
        case ShapeKind.ARRAY:
            return [_example_value(name, shape.inner, ArgRules())]
        case ShapeKind.RECORD:
            return example_of(shape.python)
        case ShapeKind.MAP:
            return {}
        case _:
            return f"<{name}>"
