"""Dataclasses on the command line."""

import argparse
import unittest
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from appsecgate.errors import ArgumentError
from appsecgate.typed import arg
from appsecgate.typed_cli import add_arguments, from_namespace
from tests.test_typed import Everything, OnlyOptional, Part


class CommandLine(unittest.TestCase):
    def parse(self, cls: Any, *argv: str) -> Any:
        parser = argparse.ArgumentParser(exit_on_error=False)
        parser.add_argument("--project", dest="path")  # the program's own, which the arguments must not touch
        add_arguments(parser, cls)
        return from_namespace(cls, parser.parse_args(argv), name="cmd")

    def test_required_fields_are_positional_and_others_options(self) -> None:
        @dataclass(frozen=True)
        class Small:
            path: str = arg("A path, 100 % sure.")
            limit: int = arg("A limit.", default=5)
            tags: tuple[str, ...] = arg("Tags.", default=())
            deep_scan: bool | None = arg("Deep.", default=None)
            extra: Mapping[str, int] | None = arg("Extra.", default=None)

        self.assertEqual(self.parse(Small, "p"), Small("p"))
        argv = ("--limit", "7", "--tags", "a", "--tags", "b", "--no-deep-scan", "--extra", '{"x":1}')
        got = self.parse(Small, "p", *argv)
        self.assertEqual(got, Small("p", 7, ("a", "b"), False, {"x": 1}))

    def test_everything_can_be_written(self) -> None:
        got = self.parse(
            Everything, "abc", "3", "1.5", "true", "red", "slow", "w1", "w2", "5", '[{"size":1}]', '{"a":1}', "free",
        )  # fmt: skip
        self.assertEqual((got.words, got.numbers), (("w1", "w2"), [5]))
        self.assertEqual(
            (got.text, got.whole, got.flag, got.parts, got.free), ("abc", 3, True, (Part(1),), "free")
        )

    def test_wrong_values_are_refused_as_over_the_wire(self) -> None:
        with self.assertRaises(ArgumentError) as caught:
            self.parse(OnlyOptional, "--limit", "many")
        self.assertEqual(str(caught.exception), 'limit: got "many", wanted an integer.')

    def test_the_help_names_what_is_wanted(self) -> None:
        parser = argparse.ArgumentParser(prog="p")
        add_arguments(parser, Everything)
        text = parser.format_help()
        for part in ("{red,dark-blue}", "TABLE_JSON", "--many MANY", "WORDS", "Default: 7."):
            with self.subTest(part):
                self.assertIn(part, text)
