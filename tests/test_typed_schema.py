"""The schemas of dataclasses."""

import importlib
import unittest
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from appsecgate.model import Json
from appsecgate.typed import arg, dump, load
from appsecgate.typed_schema import input_schema, output_schema
from tests.test_typed import GOOD, Everything, Part, Sparse, good


def walk(schema: Any) -> Any:
    """Every schema inside a schema."""
    yield schema
    for child in [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]:
        yield from walk(child)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from walk(schema[key])


class Schemas(unittest.TestCase):
    def test_inputs_are_flat_and_described(self) -> None:
        schema = input_schema(Everything)
        self.assertEqual(schema["type"], "object")
        self.assertEqual(schema["required"], list(GOOD))
        for inner in walk(schema):
            self.assertFalse({"$ref", "$defs", "anyOf", "oneOf", "allOf", "default"} & set(inner))
            self.assertIsInstance(inner.get("type", ""), str)
            if inner.get("type") == "object":
                self.assertIn("properties", inner)
            if inner.get("type") == "array":
                self.assertIsInstance(inner["items"], dict)
            for described in inner.get("properties", {}).values():
                self.assertTrue(described["description"])

    def test_each_kind_of_input_has_its_schema(self) -> None:
        properties: Any = input_schema(Everything)["properties"]
        cases = {
            "text": {"type": "string", "minLength": 1, "maxLength": 5, "description": "A text. 1 to 5 characters."},
            "real": {"type": "number", "minimum": 0.5, "description": "A number. At least 0.5."},
            "flag": {"type": "boolean", "description": "A truth value."},
            "colour": {"type": "string", "enum": ["red", "dark-blue"], "description": "A colour."},
            "words": {
                "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3,
                "description": "Words. 1 to 3 items. Each item once.",
            },
            "table": {
                "type": "object", "properties": {}, "additionalProperties": {"type": "integer"},
                "description": "A table.",
            },
            "free": {"description": "Anything."},
            "maybe": {"type": "string", "enum": ["red", "dark-blue"], "description": "Perhaps a colour."},
            "many": {"type": "integer", "minimum": 1, "description": "With a default. At least 1. Default: 7."},
        }  # fmt: skip
        for name, want in cases.items():
            with self.subTest(name):
                self.assertEqual(properties[name], want)

    def test_free_values_are_free_and_have_a_type_where_one_is_declared(self) -> None:
        @dataclass(frozen=True)
        class Free:
            bound: Json = arg("Values.", json_type="array", max_items=5)
            named: Json = arg("Names.", json_type="object")
            patch: Mapping[str, Json] = arg("A patch.")
            part: Part = arg("One part.")
            low: int = arg("A number.", maximum=3)

        properties: Any = input_schema(Free)["properties"]
        self.assertEqual(
            properties["bound"],
            {"type": "array", "items": {}, "maxItems": 5, "description": "Values. At most 5 items."},
        )
        self.assertEqual(
            properties["named"],
            {"type": "object", "properties": {}, "additionalProperties": True, "description": "Names."},
        )
        self.assertEqual(properties["patch"]["additionalProperties"], True)
        self.assertEqual(properties["part"]["required"], ["size"])
        self.assertEqual(properties["low"]["description"], "A number. At most 3.")

    def test_nested_inputs_stand_where_they_are_used(self) -> None:
        properties: Any = input_schema(Everything)["properties"]
        self.assertEqual(
            properties["parts"]["items"],
            {
                "type": "object",
                "properties": {
                    "size": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 9,
                        "description": "How large. 1 to 9.",
                    },
                    "label": {"type": "string", "description": "A name."},
                },
                "required": ["size"],
            },
        )

    def test_an_input_without_a_description_is_a_bug(self) -> None:
        with self.assertRaisesRegex(TypeError, r"Sparse\.plain has no description"):
            input_schema(Sparse)

    def test_no_arguments_are_an_empty_object(self) -> None:
        @dataclass(frozen=True)
        class Nothing:
            pass

        self.assertEqual(input_schema(Nothing), {"type": "object", "properties": {}})
        self.assertEqual(output_schema(Nothing), {"type": "object", "properties": {}})

    def test_outputs_say_what_is_always_there(self) -> None:
        self.assertEqual(
            output_schema(Sparse),
            {
                "type": "object",
                "properties": {
                    "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A note."},
                    "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags."},
                    "count": {"type": "integer", "description": "A count."},
                    "plain": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "nested": {
                        "anyOf": [
                            {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "description": "How large."},
                                    "label": {
                                        "anyOf": [{"type": "string"}, {"type": "null"}],
                                        "description": "A name.",
                                    },
                                },
                                "required": ["size", "label"],
                            },
                            {"type": "null"},
                        ]
                    },
                    "made": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["plain", "nested", "made"],
            },
        )

    def test_dumps_satisfy_their_schemas(self) -> None:
        try:
            jsonschema: Any = importlib.import_module("jsonschema")
        except ImportError:
            self.skipTest("NOT TESTED: jsonschema is not installed")
        records: tuple[Any, ...] = (
            load(Everything, good()),
            load(Everything, good(maybe="red", free=None)),
            Sparse(None, (), 0),
            Sparse("x", ("y",), 1, "z", Part(1)),
        )
        for record in records:
            with self.subTest(record=record):
                schema = output_schema(type(record))
                jsonschema.Draft202012Validator.check_schema(schema)
                jsonschema.validate(dump(record), schema)
        jsonschema.validate(good(), input_schema(Everything))
