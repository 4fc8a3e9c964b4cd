"""What a client is told about the tools: one golden file per tool, and the limits that clients set."""

import json
import re
import unittest
from dataclasses import asdict
from typing import Any

from appsecgate.tools.instructions import INSTRUCTIONS
from appsecgate.tools.registry import TOOLS
from tests.golden import GOLDEN, compare_golden

NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
SEEN_CHARS = 16_000
"""Of all that a model sees of the tools; clients that load them all pay for it in every conversation."""


def schemas_within(schema: Any) -> Any:
    """A schema and every schema in it."""
    if isinstance(schema, dict):
        yield schema
        for key in ("items", "additionalProperties"):
            yield from schemas_within(schema.get(key))
        for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
            yield from schemas_within(inner)


class Cards(unittest.TestCase):
    def test_every_card_is_as_it_was_reviewed(self) -> None:
        for tool in TOOLS:
            with self.subTest(tool.name):
                text = json.dumps(asdict(tool.card()), indent=2, ensure_ascii=False) + "\n"
                compare_golden(self, f"tools/{tool.name}.json", text)

    def test_no_golden_file_is_left_of_a_tool_that_is_gone(self) -> None:
        self.assertEqual({path.stem for path in (GOLDEN / "tools").glob("*.json")}, {tool.name for tool in TOOLS})

    def test_no_card_has_what_makes_a_client_drop_a_tool(self) -> None:
        for tool in TOOLS:
            card = tool.card()
            with self.subTest(tool.name):
                self.assertRegex(card.name, NAME)
                self.assertLessEqual(len(card.description), 1024)
                self.assertTrue(card.title)
                for root in (card.input_schema, card.output_schema or {}):
                    self.assertEqual(root["type"], "object")
                    self.assertIn("properties", root)
                    self.assertFalse({"anyOf", "oneOf", "allOf", "not", "if"} & root.keys())
                    for schema in schemas_within(root):
                        self.assertFalse({"$ref", "$defs"} & schema.keys())
                        self.assertIsInstance(schema.get("type", ""), str)
                        self.assertTrue(all(PROPERTY.fullmatch(key) for key in schema.get("properties", {})))
                for schema in schemas_within(card.input_schema):
                    self.assertFalse({"anyOf", "oneOf", "default"} & schema.keys())
                hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
                self.assertLessEqual(hints, card.annotations.keys())

    def test_what_a_model_sees_is_short(self) -> None:
        seen = [(card.name, card.description, card.input_schema) for card in (tool.card() for tool in TOOLS)]
        self.assertLessEqual(len(json.dumps(seen, separators=(",", ":"))), SEEN_CHARS)
        self.assertLessEqual(len(INSTRUCTIONS), 2048)

    def test_the_instructions_name_every_tool(self) -> None:
        """Some clients show a model the names and the instructions alone, at first."""
        self.assertEqual([tool.name for tool in TOOLS if tool.name not in INSTRUCTIONS], [])
