"""Checks values against the part of JSON Schema 2020-12 that our schemas use; any other keyword is a fault itself."""

from collections.abc import Iterator
from typing import Any

_ANNOTATIONS = {"description", "title", "examples", "default"}
_KEYWORDS = {"type", "enum", "properties", "required", "items", "anyOf", "additionalProperties"}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def schema_faults(schema: dict[str, Any], value: Any, where: str = "$") -> Iterator[str]:
    """What is wrong with the value, in words. Stricter in one point: an object has no property that its schema
    does not tell, unless ``additionalProperties`` says so; what a schema does not tell, no client can rely on."""
    for keyword, rule in schema.items():
        if keyword not in _ANNOTATIONS:
            yield from _keyword_faults(schema, keyword, rule, value, where)
    if isinstance(value, dict) and "properties" in schema:
        for name in value.keys() - schema["properties"].keys():
            more = schema.get("additionalProperties", False)
            if more is False:
                yield f"{where}: {name!r} is not in the schema"
            elif isinstance(more, dict):
                yield from schema_faults(more, value[name], f"{where}.{name}")


def _keyword_faults(schema: dict[str, Any], keyword: str, rule: Any, value: Any, where: str) -> Iterator[str]:
    match keyword:
        case "type" if not isinstance(value, _TYPES[rule]) or (isinstance(value, bool) and rule != "boolean"):
            yield f"{where}: {type(value).__name__} is no {rule}"
        case "enum" if value not in rule:
            yield f"{where}: {value!r} is none of {rule}"
        case "properties" | "required" if isinstance(value, dict):
            yield from _member_faults(keyword, rule, value, where)
        case "items" if isinstance(value, list):
            for index, item in enumerate(value):
                yield from schema_faults(rule, item, f"{where}[{index}]")
        case "anyOf" if all(any(True for _ in schema_faults(choice, value, where)) for choice in rule):
            yield f"{where}: fits none of {len(rule)} schemas"
        case "additionalProperties" if "properties" not in schema:
            yield f"{where}: a schema with additionalProperties and no properties"
        case _ if keyword not in _KEYWORDS:
            yield f"{where}: keyword {keyword!r} is not one of ours"


def _member_faults(keyword: str, rule: Any, value: dict[str, Any], where: str) -> Iterator[str]:
    if keyword == "required":
        if missing := [name for name in rule if name not in value]:
            yield f"{where}: lacks {missing}"
        return
    for name in rule.keys() & value.keys():
        yield from schema_faults(rule[name], value[name], f"{where}.{name}")
