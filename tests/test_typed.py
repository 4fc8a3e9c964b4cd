"""Dataclasses to JSON and back, their schemas, and their command line."""

import enum
import json
import unittest
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from appsecgate.errors import ArgumentError
from appsecgate.model import Json
from appsecgate.typed import arg, dump, dump_value, fields_of, load, shape_of, shown_value


class Colour(enum.StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


@dataclass(frozen=True, slots=True)
class Part:
    size: int = arg("How large.", minimum=1, maximum=9)
    label: str | None = arg("A name.", default=None)


@dataclass(frozen=True, slots=True)
class Everything:
    text: str = arg("A text.", min_length=1, max_length=5, example="abc")
    whole: int = arg("An integer.")
    real: float = arg("A number.", minimum=0.5)
    flag: bool = arg("A truth value.")
    colour: Colour = arg("A colour.")
    mode: Literal["fast", "slow"] = arg("A mode.")
    words: tuple[str, ...] = arg("Words.", min_items=1, max_items=3, unique=True)
    numbers: list[int] = arg("Numbers.")
    parts: tuple[Part, ...] = arg("Parts.")
    table: Mapping[str, int] = arg("A table.")
    free: Json = arg("Anything.")
    maybe: Colour | None = arg("Perhaps a colour.", default=None)
    many: int = arg("With a default.", default=7, minimum=1)
    hidden: int = arg("Nobody sees this.", default=5, internal=True)


GOOD: dict[str, Json] = {
    "text": "abc",
    "whole": 3,
    "real": 1.5,
    "flag": True,
    "colour": "dark-blue",
    "mode": "fast",
    "words": ["a", "b"],
    "numbers": [1, 2],
    "parts": [{"size": 2, "label": "x"}, {"size": 9}],
    "table": {"a": 1},
    "free": {"any": [None, 1.5]},
}


def good(**changes: Any) -> dict[str, Json]:
    """Right arguments, some of them changed."""
    return {**GOOD, **changes}


@dataclass(frozen=True, slots=True)
class Sparse:
    note: str | None = arg("A note.", omit_empty=True)
    tags: tuple[str, ...] = arg("Tags.", omit_empty=True)
    count: int = arg("A count.", omit_empty=True)
    plain: str | None = None
    nested: Part | None = None
    made: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Checked:
    status: str = arg("The status.")
    note: str | None = arg("Why.", default=None)

    def __post_init__(self) -> None:
        if self.status == "wont_fix" and not self.note:
            raise ArgumentError("note: wont_fix needs one.")


@dataclass(frozen=True, slots=True)
class OnlyOptional:
    bound: Json = arg("Values.", default=None, json_type="array")
    path: str | None = arg("A path.", default=None, example="src/app.py", any_bytes=True)
    limit: int = arg("A limit.", default=5)


class Loading(unittest.TestCase):
    def test_right_arguments_become_the_dataclass(self) -> None:
        record = load(Everything, good())
        self.assertEqual(record.colour, Colour.DARK_BLUE)
        self.assertEqual(record.words, ("a", "b"))
        self.assertEqual(record.numbers, [1, 2])
        self.assertEqual(record.parts, (Part(2, "x"), Part(9, None)))
        self.assertEqual((record.maybe, record.many, record.hidden), (None, 7, 5))
        self.assertEqual(record.free, {"any": [None, 1.5]})

    def test_what_is_dumped_loads_again(self) -> None:
        record = load(Everything, good(maybe="red", many=2))
        self.assertEqual(load(Everything, dump(record)), record)
        self.assertEqual(load(Everything, json.loads(json.dumps(dump(record)))), record)

    def test_unknown_and_internal_keys_are_ignored_and_null_is_absent(self) -> None:
        record = load(Everything, good(wait_for_previous=True, hidden=99, many=None, maybe=None, free=None))
        self.assertEqual((record.many, record.maybe, record.hidden, record.free), (7, None, 5, None))

    def test_strings_that_hold_the_wanted_json_are_read(self) -> None:
        cases: tuple[tuple[str, Json, Any], ...] = (
            ("words", '["x"]', ("x",)),
            ("whole", "5", 5),
            ("whole", " -5 ", -5),
            ("real", "2", 2.0),
            ("flag", "false", False),
            ("parts", '[{"size": "3"}]', (Part(3),)),
            ("table", '{"a": 2}', {"a": 2}),
            ("text", "5", "5"),
            ("free", "[1]", "[1]"),
        )
        for name, value, want in cases:
            with self.subTest(name=name, value=value):
                self.assertEqual(getattr(load(Everything, good(**{name: value})), name), want)

    def test_whole_floats_are_integers_and_integers_are_numbers(self) -> None:
        record = load(Everything, good(whole=4.0, real=2))
        self.assertEqual((record.whole, type(record.whole)), (4, int))
        self.assertEqual((record.real, type(record.real)), (2.0, float))

    def test_wrong_arguments_are_named_with_what_came_and_what_is_wanted(self) -> None:
        cases: tuple[tuple[dict[str, Json], str], ...] = (
            (good(text=5), "text: got 5, wanted a string."),
            (good(text=None), "text: got null, wanted a string."),
            (good(text=""), "text: at least 1 character, got 0."),
            (good(text="abcdef"), "text: at most 5 characters, got 6."),
            (
                good(text="\ud800"),
                "text: got text with half a surrogate pair in it, wanted Unicode characters.",
            ),
            (good(whole=True), "whole: got true, wanted an integer."),
            (good(whole=1.5), "whole: got 1.5, wanted an integer."),
            (good(whole="five"), 'whole: got "five", wanted an integer.'),
            (good(whole="1.5"), 'whole: got "1.5", wanted an integer.'),
            (good(whole=10**30), "whole: got an integer beyond 64 bits, wanted an integer."),
            (good(whole=10**400), "whole: got an integer beyond 64 bits, wanted an integer."),
            (good(real=float("nan")), "real: got NaN, wanted a number."),
            (good(real=float("inf")), "real: got Infinity, wanted a number."),
            (good(real=0.25), "real: at least 0.5, got 0.25."),
            (good(flag=1), "flag: got 1, wanted true or false."),
            (good(flag="yes"), 'flag: got "yes", wanted true or false.'),
            (good(colour="green"), 'colour: got "green", wanted one of "red", "dark-blue".'),
            (good(colour=["red"]), 'colour: got an array of 1 items, wanted one of "red", "dark-blue".'),
            (good(mode="x" * 100), 'mode: got a string of 100 characters, wanted one of "fast", "slow".'),
            (good(words="a, b"), 'words: got "a, b", wanted an array, each item a string.'),
            (good(words=[]), "words: at least 1 item, got 0."),
            (good(words=["a", "b", "c", "d"]), "words: at most 3 items, got 4."),
            (good(words=["a", "b", "a"]), 'words: "a" is in it twice, wanted each once.'),
            (good(words=["a", 1]), "words[1]: got 1, wanted a string."),
            (good(parts=[{"size": 1}, {"size": 10}]), "parts[1].size: at most 9, got 10."),
            (good(parts=[{}]), "parts[0].size: missing, wanted an integer (How large)."),
            (good(parts=["{}"]), "parts[0].size: missing, wanted an integer (How large)."),
            (good(parts=[[]]), "parts[0]: got an array of 0 items, wanted an object."),
            (good(table={"a": "x"}), 'table.a: got "x", wanted an integer.'),
            (good(table=[]), "table: got an array of 0 items, wanted an object with any keys."),
            (good(maybe={}), 'maybe: got an object with 0 keys, wanted one of "red", "dark-blue".'),
            (good(words='["a"'), 'words: got "[\\"a\\"", wanted an array, each item a string.'),
            (
                good(words="[" * 20_000),
                "words: got a string of 20000 characters, wanted an array, each item a string.",
            ),
        )
        for arguments, want in cases:
            with self.subTest(want=want), self.assertRaises(ArgumentError) as caught:
                load(Everything, arguments, name="tool")
            self.assertEqual(str(caught.exception), want)

    def test_many_faults_are_named_at_once_but_not_endlessly(self) -> None:
        with self.assertRaises(ArgumentError) as caught:
            load(Everything, {})
        self.assertEqual(str(caught.exception).count("missing"), 5)

    def test_the_hint_is_a_call_that_works(self) -> None:
        with self.assertRaises(ArgumentError) as caught:
            load(Everything, {}, name="do_it")
        start, example = caught.exception.hint.split(" do_it ", 1)
        self.assertEqual(start, "Call it like this:")
        load(Everything, json.loads(example))

    def test_a_tool_without_required_arguments_shows_an_optional_one(self) -> None:
        with self.assertRaises(ArgumentError) as caught:
            load(OnlyOptional, {"limit": "x"}, name="scan")
        self.assertEqual(caught.exception.hint, 'Call it like this: scan {"path": "src/app.py"}')

    def test_checks_across_fields_speak_the_same_way(self) -> None:
        with self.assertRaises(ArgumentError) as caught:
            load(Checked, {"status": "wont_fix"}, name="verify")
        self.assertEqual(str(caught.exception), "note: wont_fix needs one.")
        self.assertIn('verify {"status": "<status>"}', caught.exception.hint)

    def test_file_names_may_hold_bytes_that_are_not_text(self) -> None:
        self.assertEqual(load(OnlyOptional, {"path": "caf\udce9"}).path, "caf\udce9")
        with self.assertRaises(ArgumentError):
            load(OnlyOptional, {"path": "caf\ud800"})

    def test_free_values_with_a_declared_type_are_read_from_strings_too(self) -> None:
        cases: tuple[tuple[Json, Json], ...] = (("[1]", [1]), ({"a": 1}, {"a": 1}), ("x", "x"), (None, None))
        for given, want in cases:
            with self.subTest(given=given):
                self.assertEqual(load(OnlyOptional, {"bound": given}).bound, want)


class Dumping(unittest.TestCase):
    def test_enums_tuples_and_none_become_json(self) -> None:
        dumped = dump(load(Everything, good(maybe="red")))
        self.assertEqual(dumped["maybe"], "red")
        self.assertIs(type(dumped["maybe"]), str)
        self.assertEqual(dumped["words"], ["a", "b"])
        self.assertEqual(dumped["parts"], [{"size": 2, "label": "x"}, {"size": 9, "label": None}])
        self.assertNotIn("hidden", dumped)

    def test_empty_fields_can_be_left_out(self) -> None:
        self.assertEqual(dump(Sparse(None, (), 0)), {"count": 0, "plain": None, "nested": None, "made": []})
        self.assertEqual(dump(Sparse("n", ("t",), 0))["tags"], ["t"])

    def test_what_has_no_json_form_is_refused(self) -> None:
        for value in (object(), b"bytes", {1, 2}, Part):
            with self.subTest(value=value), self.assertRaises(TypeError):
                dump_value(value)

    def test_keys_of_maps_become_texts(self) -> None:
        self.assertEqual(dump_value({Colour.RED: (1, None)}), {"red": [1, None]})


class Shapes(unittest.TestCase):
    def test_types_without_a_json_form_are_refused(self) -> None:
        hints: tuple[Any, ...] = (
            bytes, set[str], int | str, tuple[int, str], dict[int, str], Literal[1], enum.Enum, "str", None,
        )  # fmt: skip
        for hint in hints:
            with self.subTest(hint=hint), self.assertRaises(TypeError):
                shape_of(hint)

    def test_a_scalar_has_no_items(self) -> None:
        with self.assertRaises(TypeError):
            _ = shape_of(str).inner

    def test_fields_are_understood_once(self) -> None:
        self.assertIs(fields_of(Part), fields_of(Part))

    def test_values_are_shown_short(self) -> None:
        cases: tuple[tuple[Json, str], ...] = (
            (None, "null"),
            ("é", '"é"'),
            (True, "true"),
            ({"a": 1}, "an object with 1 keys"),
        )
        for value, want in cases:
            with self.subTest(value=value):
                self.assertEqual(shown_value(value), want)
