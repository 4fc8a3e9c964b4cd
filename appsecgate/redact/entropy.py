"""Randomness: Shannon entropy, and what is evidently no key although it looks random.

The thresholds are those of the product: more than 4.5 bits a character over 16 characters or more (which can
only happen from 23 distinct characters on), and hexadecimal of 32 digits or more over 3.0 bits.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from appsecgate.redact.blocks import find_public_blocks
from appsecgate.redact.kinds import SecretKind
from appsecgate.redact.spans import Span, SpanRank

_SHANNON_BITS = 4.5
_SHANNON_LENGTH = 16
_HEX_BITS = 3.0
_HEX_LENGTH = 32
_WORDY = 0.5
_NEAR = 100
"""Characters of the same line, before and after, that may say what a token is."""

_TOKEN = re.compile(r"[A-Za-z0-9+/_.~%-]{16,}={0,2}")
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_WORD_RUN = re.compile(r"[A-Z]?[a-z]{3,}|(?<![A-Za-z0-9])[A-Z]{3,}(?![A-Za-z0-9])")
_ESCAPE_LETTERS = re.compile(
    r"(?<=\\)[nrt]|(?<=%)[0-9A-Fa-f]{2}|(?:%[0-9A-Fa-f]{2}){1,3}|(?<=\x1b\[)[0-9;]{0,8}[A-Za-z]|[+-]"
)
_BASE64_TOKEN = re.compile(r"[A-Za-z0-9+/]{22,}={0,2}|[A-Za-z0-9_-]{22,}={0,2}")
_BASE64_KEY_BYTES = frozenset((16, 24, 32, 48, 64))
_BASE64_LONGEST = 200
_IS_DIGEST = re.compile(
    r"sha-?\d{1,3}|md5|blake2|crc32|hash|digest|checksum|integrity|fingerprint|etag|commit|revision|rev\b"
    r"|uuid|guid|\bh1:|resolved|ssh-(?:rsa|ed25519|dss)|ecdsa-sha2|data:[\w/+.-]{1,60};base64,",
    re.IGNORECASE | re.ASCII,
)
_ALPHABET = re.compile("abcdefgh|ABCDEFGH|0123456789")
_IN_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>]*$", re.IGNORECASE | re.ASCII)


def shannon_bits(text: str) -> float:
    """Bits a character of the empirical distribution; 0 for the empty text."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def wordiness(text: str) -> float:
    """The share, 0 to 1, of characters that are in runs that look like words: names and paths are near 1."""
    return sum(len(run) for run in _WORD_RUN.findall(text)) / max(len(text), 1)


def has_three_classes(text: str) -> bool:
    """Upper case, lower case and a digit are all there."""
    return bool(re.search("[a-z]", text) and re.search("[A-Z]", text) and re.search("[0-9]", text))


def looks_random(value: str) -> bool:
    """A value that is no word, name, path or number: the test for keys whose name says little."""
    if len(value) < 12 or re.search(r"\s", value) or not re.search("[0-9]", value):
        return False
    if not re.search("[A-Za-z]", value) or wordiness(value) >= _WORDY or "://" in value or _UUID.fullmatch(value):
        return False
    return shannon_bits(value) >= 3.0 if len(value) >= 16 else has_three_classes(value)


def find_random(text: str, *, exempt: bool = True) -> Iterator[Span]:
    """Tokens over the thresholds. ``exempt`` spares digests, commit ids, UUIDs, names, paths, URLs."""
    public = find_public_blocks(text) if exempt else []
    for match in _TOKEN.finditer(text):
        kind = _random_kind(match[0])
        if kind is None or (exempt and (is_evident(text, match) or _inside(public, match.start()))):
            continue
        yield _token_span(text, match, kind)


def find_base64_keys(text: str) -> Iterator[Span]:
    """Base64 whose length is that of a key, or 40 characters and more; random, and not evidently a digest."""
    public: list[tuple[int, int]] | None = None
    for match in _BASE64_TOKEN.finditer(text):
        if not _base64_key(match[0]) or is_evident(text, match):
            continue
        public = find_public_blocks(text) if public is None else public
        if not _inside(public, match.start()):
            yield _token_span(text, match, SecretKind.BASE64_KEY)


def _token_span(text: str, match: re.Match[str], kind: SecretKind) -> Span:
    """Without the marker of a diff, and without the letters of an escape, that run into the token."""
    lead = _ESCAPE_LETTERS.match(text, match.start())
    return Span(lead.end() if lead else match.start(), match.end(), kind, SpanRank.RANDOM)


def _base64_key(token: str) -> bool:
    if len(token) > _BASE64_LONGEST or not has_three_classes(token):
        return False
    body = token.rstrip("=")
    padded = len(token) % 4 == 0 and token != body and len(body) * 3 // 4 in _BASE64_KEY_BYTES
    if not padded and len(body) < 40:
        return False
    return wordiness(body) < _WORDY and shannon_bits(body) > (3.5 if padded else _SHANNON_BITS)


def _random_kind(token: str) -> SecretKind | None:
    digits = _HEX.search(token) if len(token) >= _HEX_LENGTH else None
    if digits and not digits[0].isdigit() and shannon_bits(digits[0]) > _HEX_BITS:
        return SecretKind.HEX_KEY
    if len(token) >= _SHANNON_LENGTH and shannon_bits(token) > _SHANNON_BITS:
        return SecretKind.HIGH_ENTROPY
    return None


def _inside(ranges: Sequence[tuple[int, int]], offset: int) -> bool:
    index = bisect_right(ranges, (offset, math.inf)) - 1
    return index >= 0 and offset < ranges[index][1]


def is_evident(text: str, match: re.Match[str]) -> bool:
    """The token, or the line round it, shows that it is public."""
    token = match[0].strip("=./~%-")
    if (len(token) == 40 and _HEX.fullmatch(token)) or _UUID.search(token):
        return True
    if wordiness(token) >= _WORDY or not re.search("[0-9]", token) or _ALPHABET.search(token):
        return True
    before = text[max(match.start() - _NEAR, 0) : match.start()].rpartition("\n")[2]
    after = text[match.end() : match.end() + _NEAR].partition("\n")[0]
    return bool(
        _IS_DIGEST.search(before + "\0" + after) or _IS_DIGEST.match(token) or _IN_URL.search(before + match[0][:2])
    )
