"""Reading scanners' JSON without trusting its shape: what is not of the expected type is its empty value."""

import json

from appsecgate.model import Json


def load_report(data: bytes) -> Json:
    """The JSON of a report, ``None`` where it is none or too deep; what is not UTF-8 becomes U+FFFD."""
    try:
        parsed: Json = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return parsed


def json_object(value: Json) -> dict[str, Json]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def json_list(value: Json) -> list[Json]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def json_text(value: Json) -> str:
    """The value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def json_integer(value: Json, default: int = 0) -> int:
    """The value if it is an integer (true and false are none), else ``default``."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def json_texts(value: Json) -> tuple[str, ...]:
    """The strings of an array; a lone string counts as an array of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in json_list(value) if isinstance(item, str))
