"""What a query's text shows before SQLite sees it: its first word, where it ends, whether it has a LIMIT."""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

_SQL_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | --[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<text> '(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] )
  | (?P<word> [^\W\d]\w* )
  | (?P<mark> . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class SqlShape:
    """The outline of a query."""

    first_word: str
    """In capitals; empty where the text holds no statement."""
    statements: int
    limited: bool
    """Whether the outermost SELECT has a LIMIT of its own."""
    named_here: frozenset[str]
    """Names of its common table expressions, in lower case; perhaps a window's besides."""


def sql_shape(sql: str) -> SqlShape:
    """The outline of ``sql``; comments, literals and quoted names are looked through, not into."""
    first_word = ""
    statements = depth = 0
    limited = inside = False
    tokens = list(_sql_tokens(sql))
    for kind, token in tokens:
        if token == ";" and kind == "mark":
            inside = False
            continue
        if not inside:
            inside, statements = True, statements + 1
            if statements == 1:
                first_word = token.upper()
        if kind == "mark":
            depth += (token == "(") - (token == ")")
        elif kind == "word" and depth == 0 and token.upper() == "LIMIT":
            limited = True
    return SqlShape(first_word, statements, limited, frozenset(_names_given(tokens)))


def _names_given(tokens: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The names in ``name AS (``, ``name (columns) AS (`` and ``name AS NOT MATERIALIZED (``."""
    texts = [token for _, token in tokens]
    words = [token.upper() if kind == "word" else token for kind, token in tokens]
    for index, word in enumerate(words):
        if word != "AS" or not _opens(words, index + 1):
            continue
        before = index - 1
        if before > 0 and texts[before] == ")":
            before = _matching_open(texts, before) - 1
        if before >= 0 and tokens[before][0] in ("word", "text"):
            yield texts[before].strip("\"`[]'").lower()


def _opens(words: Sequence[str], index: int) -> bool:
    """Whether a parenthesis opens here, after the words that may stand before it."""
    rest = [word for word in words[index : index + 3] if word not in ("NOT", "MATERIALIZED")]
    return bool(rest) and rest[0] == "("


def _matching_open(texts: Sequence[str], close: int) -> int:
    """Where the parenthesis that closes at ``close`` was opened; -1 where it was not."""
    depth = 0
    for index in range(close, -1, -1):
        depth += (texts[index] == ")") - (texts[index] == "(")
        if depth == 0:
            return index
    return -1


def _sql_tokens(sql: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each token that is neither space nor comment."""
    for match in _SQL_TOKEN.finditer(sql):
        kind = match.lastgroup or ""
        if kind != "space":
            yield kind, match[0]


def named_in(sql: str, names: tuple[str, ...]) -> list[str]:
    """Those of the names that occur in the text as words, wherever."""
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    return [name for name in names if name in words]


def grouped_by(sql: str, names: Collection[str]) -> tuple[str, ...]:
    """Those of the names that the text mentions, in the order of their first mention, if it groups at all."""
    words = [
        token.strip('"`[]').lower()
        for kind, token in _sql_tokens(sql)
        if kind == "word" or (kind == "text" and not token.startswith("'"))
    ]
    if "distinct" not in words and ("group", "by") not in itertools.pairwise(words):
        return ()
    return tuple(dict.fromkeys(word for word in words if word in names))


_NAMES_NO_COLUMN = re.compile(r"\*|\bnatural\b|\bin (?:\w+ \. )?[\"`\[]?v_")
"""In a query's tokens: ``*``, a NATURAL JOIN, ``IN v_view`` mean columns without naming them."""


def columns_meant(sql: str) -> frozenset[str] | None:
    """Words of the text, in lower case: no column with another name is in use. None: any column may be."""
    text = " ".join(token.lower() for _, token in _sql_tokens(sql)).replace("count ( * )", "count")
    return None if _NAMES_NO_COLUMN.search(text) else frozenset(re.findall(r"\w+", text))
