"""The checker of results notices what a client's checker would."""

import unittest
from typing import Any

from tests.tools.json_schema import schema_faults

RECORD = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "list": {"type": "array", "items": {"type": "number"}},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "map": {"type": "object", "properties": {}, "additionalProperties": {"type": "boolean"}},
    },
    "required": ["n"],
}


class Checker(unittest.TestCase):
    def test_good_values_have_no_faults(self) -> None:
        good: dict[str, Any] = {"n": 1, "kind": "a", "list": [1, 2.5], "maybe": None, "map": {"x": True}}
        for value in (good, {"n": 1}, good | {"maybe": "text"}):
            self.assertEqual(list(schema_faults(RECORD, value)), [])

    def test_every_kind_of_fault_is_found(self) -> None:
        bad: tuple[Any, ...] = (
            {}, [], None, {"n": True}, {"n": 1.5}, {"n": "1"}, {"n": 1, "kind": "c"}, {"n": 1, "list": [None]},
            {"n": 1, "list": {}}, {"n": 1, "maybe": 1}, {"n": 1, "map": {"x": 1}}, {"n": 1, "more": 1},
        )  # fmt: skip
        for value in bad:
            with self.subTest(value=value):
                self.assertTrue(list(schema_faults(RECORD, value)))
        self.assertTrue(list(schema_faults({"type": "string", "pattern": "x"}, "x")), "an unknown keyword")
