"""What a tool is made of."""

import json
import time
import unittest
from dataclasses import dataclass
from typing import Any

from appsecgate.errors import ArgumentError
from appsecgate.process import CancelToken
from appsecgate.tools.base import Call, Tool, failed_result, structured_result
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class Question:
    text: str = arg("What to ask.")


@dataclass(frozen=True, slots=True)
class Answer:
    words: tuple[str, ...] = arg("What was said.")


def answer(call: Call[str], request: Question) -> Answer:
    call.progress(1, 2, "half")
    return Answer((call.session, request.text))


def make(**changes: Any) -> Tool[str, Question, Answer]:
    """A tool, some of it changed."""
    options: dict[str, Any] = {
        "name": "ask", "title": "Ask", "description": "Asks.", "input": Question, "output": Answer, "call": answer,
        "summary": "ask something", "read_only": True,
    }  # fmt: skip
    return Tool(**{**options, **changes})


class Tools(unittest.TestCase):
    def call(self, deadline: float = 0.0) -> Call[str]:
        return Call(session="s", cancel=CancelToken(), deadline=deadline)

    def test_a_call_gives_the_same_data_twice(self) -> None:
        result = make().bind({"text": "é", "more": 1})(self.call())
        self.assertEqual(result.structured, {"words": ["s", "é"]})
        self.assertEqual(result.content, ({"type": "text", "text": '{"words":["s","é"]}'},))
        self.assertFalse(result.is_error)

    def test_what_steers_a_terminal_or_reorders_text_is_spelled_out(self) -> None:
        result = make().bind({"text": "a\x1b[2Jb\u202ec\x9b\x00\td\ne"})(self.call())
        want = "a<U+001B>[2Jb<U+202E>c<U+009B><U+0000>\td\ne"
        self.assertEqual(result.structured, {"words": ["s", want]})
        self.assertEqual(json.loads(str(result.content[0]["text"])), result.structured)
        self.assertEqual(failed_result("a\x07").content[0]["text"], "a<U+0007>")

    def test_arguments_are_checked_before_anything_runs(self) -> None:
        with self.assertRaisesRegex(ArgumentError, "text: missing"):
            make().bind({})

    def test_all_four_hints_are_stated(self) -> None:
        card = make(destructive=True).card()
        self.assertEqual(
            card.annotations,
            {
                "title": "Ask", "readOnlyHint": True, "destructiveHint": True, "idempotentHint": False,
                "openWorldHint": False,
            },
        )  # fmt: skip
        self.assertEqual(card.input_schema["required"], ["text"])
        assert card.output_schema is not None
        self.assertEqual(card.output_schema["required"], ["words"])

    def test_names_and_descriptions_fit_every_client(self) -> None:
        for changes in (
            {"name": "Ask"},
            {"name": "a.b"},
            {"name": "a" * 31},
            {"description": ""},
            {"description": "x" * 1025},
        ):
            with self.subTest(changes=str(changes)[:40]), self.assertRaises(ValueError):
                make(**changes)

    def test_the_time_left_is_never_negative(self) -> None:
        self.assertEqual(self.call(time.monotonic() - 5).remaining_s(), 0)
        self.assertGreater(self.call(time.monotonic() + 5).remaining_s(), 4)

    def test_a_failure_is_text_alone(self) -> None:
        result = failed_result("no")
        self.assertEqual((result.is_error, result.structured), (True, None))

    def test_a_result_with_nan_is_a_bug(self) -> None:
        with self.assertRaises(ValueError):
            structured_result({"a": float("nan")})
        self.assertEqual(json.loads(str(structured_result({"a": 1}).content[0]["text"])), {"a": 1})
