"""Cutting to size, and spelling out what could mislead."""

import json
import unittest
from dataclasses import dataclass
from typing import Any

from appsecgate.shown import RESULT_CHARS, filled, fit, result_chars, result_text, shorten, shown_json, shown_text


@dataclass(frozen=True, slots=True)
class Listing:
    name: str
    items: tuple[str, ...]


class Shown(unittest.TestCase):
    def test_what_steers_a_terminal_or_reorders_text_is_spelled_out(self) -> None:
        cases = (
            ("plain é 😀\n\ttab", "plain é 😀\n\ttab"),
            ("a\u202eb", "a<U+202E>b"),
            ("\x1b[31m\x00\x7f\x85", "<U+001B>[31m<U+0000><U+007F><U+0085>"),
            ("a\u2028b\u200b\ufeff", "a<U+2028>b<U+200B><U+FEFF>"),
        )
        for text, want in cases:
            with self.subTest(want):
                self.assertEqual(shown_text(text), want)
                self.assertEqual(shown_text(want), want)
        self.assertEqual(shown_json({"\u202e": ["\u202e", 1, None]}), {"<U+202E>": ["<U+202E>", 1, None]})

    def test_texts_are_cut_after_they_are_spelled_out(self) -> None:
        self.assertEqual(shorten("abc", 3), "abc")
        self.assertEqual(shorten("abcd", 3), "ab…")
        self.assertEqual(len(shorten("\u202e" * 100, 50)), 50)

    def test_the_size_of_an_item_is_what_it_takes_in_a_result(self) -> None:
        items: tuple[Any, ...] = ("\u202e\n\"", ["é", 1.5], ("\u2028", None), Listing("a", ("b",)), {"k": "\x00"})
        for item in items:
            with self.subTest(repr(item)):
                plain: Any = {"name": "a", "items": ["b"]} if isinstance(item, Listing) else json.loads(json.dumps(item))
                self.assertEqual(result_chars(item), len(result_text(shown_json(plain))))

    def test_items_are_taken_from_the_front_while_they_fit(self) -> None:
        items = ["x" * 8] * 5  # 11 characters each, with quotes and comma
        self.assertEqual(len(fit(items, 33)), 3)
        self.assertEqual(len(fit(items, 32)), 2)
        self.assertEqual(len(fit(items, 55)), 5)
        self.assertEqual((len(fit(items, -1)), len(fit(items, -1, least=0))), (1, 0))
        self.assertEqual(fit([], 0), ())

    def test_a_list_takes_the_room_that_the_rest_leaves(self) -> None:
        items = ["y" * 97] * 1000  # 100 characters each
        for name in ("", "n" * 20_000):
            with self.subTest(len(name)):
                whole = filled(Listing(name, ()), "items", items)
                self.assertLessEqual(result_chars(whole), RESULT_CHARS)
                self.assertGreater(result_chars(whole), RESULT_CHARS - 200)
        self.assertEqual(len(filled(Listing("", ()), "items", items, most=1000).items), 10)
