"""TOML out of a repository: what would keep the parser busy for minutes is refused before it is parsed."""

import re
import tomllib
from typing import Any

MAX_KEY_PARTS = 12
"""Parts of a dotted key: the parser's time grows with their square."""
MAX_TOML_CHARS = 4 << 20
"""Of a lock file; the largest in use hold half of that."""

_TOO_MANY_PARTS = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}"""
)


class UnreasonableTomlError(ValueError):
    """The text is larger, or its keys are longer, than any that a person or a tool writes."""


def parse_toml(text: str, max_chars: int = MAX_TOML_CHARS) -> dict[str, Any]:
    """The document, in a time that its size bounds. Raises UnreasonableTomlError, RecursionError, and ValueError where
    it is no TOML: not only ``TOMLDecodeError``, for ``int`` itself refuses a number of thousands of digits."""
    if len(text) > max_chars:
        raise UnreasonableTomlError(f"it has more than {max_chars} characters")
    if _TOO_MANY_PARTS.search(text):
        raise UnreasonableTomlError(f"a key in it has more than {MAX_KEY_PARTS} parts")
    return tomllib.loads(text)
