"""Texts from outside made presentable: no control characters, bounded, nothing cut in half."""

import re

from appsecgate.redact.kinds import SECRET_PLACEHOLDER

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,16}[@-~]|[\]PX^_][^\x07\x1b\n]{0,1024}(?:\x07|\x1b\\)?|[ -/]{0,4}[0-~])?"
    r"|\x9b[0-?]{0,64}[ -/]{0,16}[@-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Without ANSI escapes and control characters (line feed and tab stay).

    Characters that reorder or hide text are spelled out as ``<U+202E>``: dropping them would hide the trick.
    Bytes that were not UTF-8 become U+FFFD, so that the text can be stored.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    text = _CONTROL.sub("", text)
    text = _SURROGATE.sub("\ufffd", text)
    return _INVISIBLE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def cut_before(text: str, max_chars: int) -> str:
    """At most the first ``max_chars`` characters, ending at a blank where one is near: no token is halved."""
    if len(text) <= max_chars:
        return text
    cut = text[:max_chars]
    if text[max_chars].isspace():
        return cut
    near = re.search(r"\s\S{0,4096}$", cut[-4097:])
    return cut[: len(cut) - len(near[0])] if near else cut[: max(0, max_chars - 4096)]


def bound_text(text: str, max_chars: int) -> str:
    """At most ``max_chars`` characters with a visible mark where something was cut; placeholders stay whole."""
    if len(text) <= max_chars:
        return text
    mark = f" … [cut, {len(text)} characters in all]"
    end = max(max_chars - len(mark), 0)
    for match in SECRET_PLACEHOLDER.finditer(text, max(end - 80, 0), min(end + 80, len(text))):
        if match.start() < end < match.end():
            end = match.start()
    return text[:end] + mark
