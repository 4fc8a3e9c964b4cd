"""What leaves in a result: odd characters spelled out, texts and lists cut to the room that clients give."""

import json
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from appsecgate.model import Json
from appsecgate.typed import dump

RESULT_CHARS = 36_000
"""Of a whole result as JSON text, where it can be cut. Clients take 40,000."""

_ItemT = TypeVar("_ItemT")
_WholeT = TypeVar("_WholeT")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What steers a terminal or reorders text; file names may hold it."""


def shown_text(text: str) -> str:
    """Spelled out, not dropped, so that two names stay two."""
    return _UNSHOWN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def shown_json(value: Json) -> Json:
    """``shown_text`` of every text in a value, names of members included."""
    if isinstance(value, str):
        return shown_text(value)
    if isinstance(value, list):
        return [shown_json(item) for item in value]
    return {shown_text(key): shown_json(item) for key, item in value.items()} if isinstance(value, dict) else value


def result_text(value: Json) -> str:
    """Compact JSON, as it goes out. ValueError for NaN."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def result_chars(item: Any) -> int:
    """How many characters a record, a text or any JSON value takes in a result."""
    value = dump(item) if is_dataclass(item) and not isinstance(item, type) else item
    value = list(value) if isinstance(value, tuple) else value
    return len(result_text(shown_json(value)))


def shorten(text: str, limit: int) -> str:
    """The text as it is shown, or its beginning and "…", of at most ``limit`` characters."""
    text = shown_text(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def fit(items: Sequence[_ItemT], room: int, least: int = 1) -> tuple[_ItemT, ...]:
    """As many items from the front as fit into ``room`` characters of JSON; the first ``least`` whatever they take."""
    used = 0
    for count, item in enumerate(items):
        used += result_chars(item) + 1
        if used > room and count >= least:
            return tuple(items[:count])
    return tuple(items)


def filled(whole: _WholeT, name: str, items: Sequence[Any], most: int = RESULT_CHARS) -> _WholeT:
    """The record with as many ``items`` in its (still empty) field ``name`` as the rest leaves room for."""
    assert name in {field.name for field in fields(whole)}  # type: ignore[arg-type]
    room = min(most, RESULT_CHARS - result_chars(whole))
    return replace(whole, **{name: fit(items, room)})  # type: ignore[type-var]
