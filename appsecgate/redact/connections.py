"""Secrets that their place gives away: in addresses, connection strings, headers and command lines."""

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from appsecgate.redact.entropy import has_three_classes, looks_random
from appsecgate.redact.kinds import SecretKind
from appsecgate.redact.names import is_filled_in, is_no_secret
from appsecgate.redact.spans import Span, SpanRank

_FLAGS = re.IGNORECASE | re.ASCII
_USERINFO = re.compile(r"""([^\s/?#"'<>`\\@:]{0,256}+)(:?+)([^\s/?#"'<>`\\]{0,4096})@(?=[\w\[$%{.-])""")
_SLASHED_USERINFO = re.compile(
    r"""([^\s/?#"'<>`\\@:]{0,256}+)(:)([^\s"'<>`\\]{1,256})@(?=[\w.-]{1,255}(?::\d{1,5})?(?:[/?,"'\s]|$))"""
)
_DATABASE_SCHEME = re.compile(r"(?:postgres|mysql|mariadb|mongodb|redis|amqp|mssql|oracle)[a-z0-9+]{0,16}$", _FLAGS)

_PARAMETER = re.compile(
    r"(?<=[?&#])(?:amp;)?"
    r"(?:(sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|x-goog-credential"
    r"|x-oss-signature|x-oss-security-token|x-cos-security-token|awsaccesskeyid|ossaccesskeyid|googleaccessid"
    r"|access_?token|auth_?token|refresh_?token|id_?token|private_?token|token|api_?key|client_?secret"
    r"|subscription-key|secret|password|passwd|pwd)|(?:hmac|auth|key|code|credential|session_?id|jwt|hdnts|st|s))="
    r"""((?:[$#]?\{[^{}\n]{0,200}\}|[^\s&"'`<>#;\\)\]}{|,]){1,8192})""",
    _FLAGS,
)
_SIGNATURE = re.compile(r"(?<![\w?&.-])(?:sig|signature)=([A-Za-z0-9%+/=_-]{20,512})", _FLAGS)

_CONNECTION_KEY = re.compile(
    r"""(?<![\w-])(?:password|passwd|pwd|account\s?key|shared\s?access\s?key|shared\s?secret(?:\s?value)?|pass"""
    r"""|access\s?key|client\s?secret|secret\s?key)\s{0,3}=\s{0,3}(?:'([^'\n]{1,512})'|"([^"\n]{1,512})"|([^\s;"'`\\]{1,512}))""",
    _FLAGS,
)
_CONNECTION_OTHER = re.compile(
    r"(?<![\w-])(?:server|data source|host|hostname|hostaddr|addr|address|accountname|defaultendpointsprotocol|endpoint"
    r"|user id|uid|user|username|database|dbname|initial catalog|driver|dsn|port|sharedaccesskeyname|entitypath"
    r"|integrated security|network address)\s{0,3}=",
    _FLAGS,
)
_CONNECTION_NEAR = 300

_AUTHORIZATION = re.compile(
    r"""authorization\\?["']?\s{0,4}\]?\s{0,4}(?::|=>?|,)\s{0,4}[bfrBFR]?\\?["'`]?"""
    r"""((?:basic|bearer|token|digest|negotiate|apikey|api-key|key|splunk|bot|aws)\s{1,4})?+"""
    r"""([A-Za-z0-9+/=._~:-]{6,8192}+)(?![\w(\[{$<])""",
    _FLAGS,
)
_BEARER = re.compile(r"(?<![\w-])bearer\s{1,4}([A-Za-z0-9+/=._~-]{16,8192})", _FLAGS)
_BASIC = re.compile(r"(?<![\w-])basic\s{1,4}([A-Za-z0-9+/]{6,1024}={0,2})", _FLAGS)
_AUTH_FIELD = re.compile(
    r"""(?<![A-Za-z])auth\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([A-Za-z0-9+/]{6,1024}={0,2})""", _FLAGS
)
_USER_OPTION = re.compile(
    r"""(?<![\w-])(?:-u|--user|--proxy-user)[ =]{0,2}["']?[\w.@+-]{1,128}:([^\s"'`$<{\\]{1,256})""", re.ASCII
)
_NETRC = re.compile(r"(?<!\w)login\s{1,8}\S{1,256}\s{1,8}password\s{1,8}(\S{1,256})", _FLAGS)
_SQL_PASSWORD = re.compile(
    r"""(?<!\w)(?:identified\s{1,8}by(?:\s{1,8}password)?|(?:with|encrypted)\s{1,8}password)\s{1,8}(['"])([^'"\n]{1,256})\1""",
    _FLAGS,
)


def find_connections(text: str) -> Iterator[Span]:
    """User information and signatures in addresses, connection strings, authorization, command lines."""
    yield from _userinfo(text)
    yield from _parameters(text)
    yield from _connection_strings(text)
    yield from _headers(text)
    for match in _USER_OPTION.finditer(text):
        if not match[1].isdigit():
            yield _span(match, 1, SecretKind.PASSWORD)
    yield from _matches(text, _NETRC, SecretKind.PASSWORD, 1)
    yield from _matches(text, _SQL_PASSWORD, SecretKind.PASSWORD, 2)


def _span(match: re.Match[str], group: int, kind: SecretKind) -> Span:
    return Span(match.start(group), match.end(group), kind, SpanRank.STRUCTURE)


def _matches(text: str, form: re.Pattern[str], kind: SecretKind, group: int) -> Iterator[Span]:
    for match in form.finditer(text):
        if not is_filled_in(match[group]):
            yield _span(match, group, kind)


def _userinfo(text: str) -> Iterator[Span]:
    """The password of ``scheme://user:password@host``, or a lone user that is evidently a token."""
    position = text.find("://")
    while position >= 0:
        after = position + 3
        match = _slashed(text, position) or _USERINFO.match(text, after)
        if match:
            user, password = match[1], match[3]
            if match[2] and password and not is_filled_in(password):
                yield _span(match, 3, SecretKind.URL_CREDENTIAL)
            if user and (looks_random(user) or (has_three_classes(user) and len(user) >= 16)):
                yield _span(match, 1, SecretKind.URL_CREDENTIAL)
        position = text.find("://", after)


def _slashed(text: str, position: int) -> re.Match[str] | None:
    """Database addresses are often written with a raw ``/`` or ``#`` in the password."""
    if _DATABASE_SCHEME.search(text[max(position - 24, 0) : position]):
        return _SLASHED_USERINFO.match(text, position + 3)
    return None


def _parameters(text: str) -> Iterator[Span]:
    for match in _PARAMETER.finditer(text):
        value = match[2]
        if is_filled_in(value):
            continue
        if looks_random(value) or (match[1] and (len(value) >= 8 or re.search("[0-9]", value))):
            yield _span(match, 2, SecretKind.URL_SIGNATURE)
    for match in _SIGNATURE.finditer(text):
        if looks_random(match[1]):
            yield _span(match, 1, SecretKind.URL_SIGNATURE)


def _connection_strings(text: str) -> Iterator[Span]:
    """``Password=…`` beside ``Server=…``, ``host=…`` and the like on the same line."""
    others: list[tuple[int, int]] | None = None
    for match in _CONNECTION_KEY.finditer(text):
        others = [other.span() for other in _CONNECTION_OTHER.finditer(text)] if others is None else others
        group = match.lastindex or 1
        value = match[group]
        if not _beside_other(text, match, others) or _in_call(text, match):
            continue
        if not is_no_secret(value) and not re.match(r"[\w.]{1,64}[(\[]", value):
            yield _span(match, group, SecretKind.CONNECTION_STRING)


def _beside_other(text: str, match: re.Match[str], others: Sequence[tuple[int, int]]) -> bool:
    """Another part of a connection string is near, on the same line."""
    index = bisect_left(others, match.span())
    before, after = others[index - 1 : index] if index else (), others[index : index + 1]
    for start, end in before:
        if match.start() - start <= _CONNECTION_NEAR and "\n" not in text[end : match.start()]:
            return True
    return any(start - match.end() <= _CONNECTION_NEAR and "\n" not in text[match.end() : start] for start, _ in after)


def _in_call(text: str, match: re.Match[str]) -> bool:
    """Arguments of a call (``host=h, password=p``) or assignments in a row, unless ``;`` leads."""
    before = text[max(match.start() - _CONNECTION_NEAR, 0) : match.start()].rpartition("\n")[2].rstrip()
    if before.endswith(";"):
        return False
    return before.endswith("=") or "," in before or text[match.end() : match.end() + 1] in (",", ")")


def _headers(text: str) -> Iterator[Span]:
    for match in _AUTHORIZATION.finditer(text):
        if match[1] or looks_random(match[2]):
            yield _span(match, 2, SecretKind.AUTHORIZATION)
    for match in _BEARER.finditer(text):
        if re.search("[0-9]", match[1]) or len(match[1]) >= 40:
            yield _span(match, 1, SecretKind.AUTHORIZATION)
    for form in (_BASIC, _AUTH_FIELD):
        for match in form.finditer(text):
            if _user_and_password(match[1]):
                yield _span(match, 1, SecretKind.AUTHORIZATION)


def _user_and_password(encoded: str) -> bool:
    """Base64 of printable text with a colon in it."""
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()
