"""Tokens that tell by themselves what they are: vendors' prefixes, JSON web tokens, headerless keys.

Each is found by a literal (a substring search in C), then matched on the spot with bounded repeats, so the
time is linear in the text. Where a token runs on past the bound, the span runs on with it.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from appsecgate.redact.entropy import has_three_classes, is_evident, shannon_bits
from appsecgate.redact.kinds import SecretKind
from appsecgate.redact.spans import Span, SpanRank

_ALNUM = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_BASE64_MARKS = frozenset("-_+/")
_ESCAPERS = frozenset("\\%\x1b")
_ESCAPE_END = re.compile(r"\\(?:[nrtbf0]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})$|%[0-9A-Fa-f]{2}$|\x1b\[[0-9;]{0,6}[A-Za-z]$")
_REST = re.compile(r"[A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class TokenPattern:
    """``form`` is matched where one of ``prefixes`` stands; group 1, else all of it, is the secret."""

    kind: SecretKind
    prefixes: tuple[str, ...]
    form: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    exact: bool = False
    """The token has one length: what runs on is something else."""
    apart: bool = False
    """Not within a longer run of base64: such a token may be long, and would be tried again and again."""


def _token(
    kind: SecretKind,
    prefixes: str,
    form: str,
    check: Callable[[str], bool] | None = None,
    *,
    exact: bool = False,
    apart: bool = False,
) -> TokenPattern:
    return TokenPattern(kind, tuple(prefixes.split()), re.compile(form), check, exact, apart)


def _dense(token: str) -> bool:
    """A long run without separators, or all three classes: not a name with hyphens."""
    return has_three_classes(token) or bool(re.search("[A-Za-z0-9]{16}", token))


def _digit_or_dense(token: str) -> bool:
    return bool(re.search("[0-9]", token)) or _dense(token[4:])


def _jwt(token: str) -> bool:
    """The first part decodes to the beginning of a JSON object."""
    return base64.urlsafe_b64decode(token[:8]).lstrip()[:1] == b"{"


_K = SecretKind
TOKEN_PATTERNS: tuple[TokenPattern, ...] = (
    _token(
        _K.AWS_ACCESS_KEY,
        "AKIA ASIA ABIA ACCA A3T AGPA AIDA AROA AIPA ANPA ANVA APKA ASCA",
        r"A(?:3T[A-Z0-9]|[A-Z]{3})[A-Z0-9]{16}(?![A-Za-z0-9])",
        exact=True,
    ),
    # of a package's name and version only lower case is left, and such a key has no other than upper case
    _token(_K.AWS_ACCESS_KEY, "akia asia", r"a[ks]ia(?=[a-z]*[2-7])[a-z2-7]{16}(?![A-Za-z0-9])", exact=True),
    _token(_K.GOOGLE_API_KEY, "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _token(_K.GCP_KEY, "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,200}"),
    _token(_K.GCP_KEY, "ya29.", r"ya29\.[A-Za-z0-9_-]{20,400}"),
    _token(_K.GCP_KEY, "1//0", r"1//0[A-Za-z0-9_-]{30,200}"),
    _token(_K.GITHUB_TOKEN, "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_]{20,255}"),
    _token(_K.GITHUB_TOKEN, "github_pat_", r"github_pat_[A-Za-z0-9_]{20,255}"),
    _token(
        _K.GITLAB_TOKEN,
        "glpat- gldt- glrt- glrtr- glptt- glft- glsoat- glcbt- glimt- glagent- gloas- glffct- glwt-",
        r"gl[a-z]{2,6}-[A-Za-z0-9_-]{16,255}(?:\.[A-Za-z0-9_-]{2,40}){0,3}",
        _digit_or_dense,
    ),
    _token(_K.GITLAB_TOKEN, "GR1348941", r"GR1348941[A-Za-z0-9_-]{16,64}"),
    _token(_K.SLACK_TOKEN, "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,255}", _digit_or_dense),
    _token(_K.SLACK_TOKEN, "xapp- xwfp-", r"x(?:app|wfp)-[A-Za-z0-9-]{16,255}", _digit_or_dense),
    _token(
        _K.SLACK_WEBHOOK,
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_+/-]{16,255})",
    ),
    _token(_K.STRIPE_KEY, "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}"),
    _token(_K.STRIPE_KEY, "whsec_", r"whsec_[A-Za-z0-9+/]{16,255}={0,2}"),
    _token(_K.NPM_TOKEN, "npm_", r"npm_[A-Za-z0-9]{30,255}"),
    _token(_K.PYPI_TOKEN, "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{10,512}"),
    _token(_K.PYPI_TOKEN, "pypi-", r"pypi-[A-Za-z0-9_-]{50,512}", _dense),
    _token(_K.SENDGRID_KEY, "SG.", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"),
    _token(_K.TWILIO_KEY, "AC SK", r"(?:AC|SK)[0-9a-f]{32}(?![A-Za-z0-9])", exact=True),
    _token(_K.ANTHROPIC_KEY, "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,255}", _dense),
    _token(_K.OPENAI_KEY, "sk-", r"sk-[A-Za-z0-9_-]{20,255}", _dense),
    _token(_K.HUGGINGFACE_TOKEN, "hf_", r"hf_[A-Za-z0-9]{30,255}"),
    _token(_K.HUGGINGFACE_TOKEN, "api_org_", r"api_org_[A-Za-z0-9]{30,255}"),
    _token(_K.DIGITALOCEAN_TOKEN, "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{32,255}"),
    _token(_K.AZURE_KEY, "JQQJ99", r"JQQJ99[A-Za-z0-9]{20,80}"),
    _token(
        _K.DISCORD_TOKEN,
        "discord.com/api/ discordapp.com/api/",
        r"[a-z.]{8,14}/api/webhooks/\d{5,25}/([\w-]{20,255})",
    ),
    _token(_K.VENDOR_TOKEN, ".webhook.office.com/", r"\.webhook\.office\.com/webhookb?2?/([\w@/.-]{20,400})"),
    _token(_K.VENDOR_TOKEN, "sq0atp- sq0csp-", r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,64}"),
    _token(_K.VENDOR_TOKEN, "shpat_ shpca_ shppa_ shpss_", r"shp[a-z]{2}_[A-Fa-f0-9]{32,64}"),
    _token(_K.VENDOR_TOKEN, "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{20,64}"),
    _token(_K.VENDOR_TOKEN, "dapi", r"dapi[a-h0-9]{32}(?:-\d)?"),
    _token(_K.VENDOR_TOKEN, "glc_ glsa_", r"gl(?:c|sa)_[A-Za-z0-9+/=_]{32,255}"),
    _token(_K.VENDOR_TOKEN, "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,255}", _digit_or_dense),
    _token(_K.VENDOR_TOKEN, ".atlasv1.", r"\.atlasv1\.[A-Za-z0-9_-]{40,100}"),
    _token(_K.VENDOR_TOKEN, "ATATT3xFf ATCTT3xFf", r"AT[AC]TT3[A-Za-z0-9_=-]{40,255}"),
    _token(_K.VENDOR_TOKEN, "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _token(_K.VENDOR_TOKEN, "pul-", r"pul-[a-f0-9]{40}"),
    _token(_K.VENDOR_TOKEN, "NRAK- NRJS- NRII-", r"NR[A-Z]{2}-[A-Za-z0-9_-]{19,64}", _digit_or_dense),
    _token(_K.VENDOR_TOKEN, "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{32,400}"),
    _token(_K.VENDOR_TOKEN, "lin_api_", r"lin_api_[A-Za-z0-9]{32,64}"),
    _token(_K.VENDOR_TOKEN, "ntn_", r"ntn_[A-Za-z0-9]{40,64}"),
    _token(
        _K.VENDOR_TOKEN,
        "figd_ rubygems_ gsk_ sbp_ xai-",
        r"(?:figd|rubygems|gsk|sbp|xai)[_-][A-Za-z0-9_-]{32,255}",
    ),
    _token(_K.VENDOR_TOKEN, "pscale_tkn_ pscale_pw_", r"pscale_(?:tkn|pw)_[A-Za-z0-9_.=-]{20,64}"),
    _token(_K.VENDOR_TOKEN, "r8_ pplx-", r"(?:r8_|pplx-)[A-Za-z0-9]{32,64}"),
    _token(_K.VENDOR_TOKEN, "dp.pt. dp.st.", r"dp\.[ps]t\.[A-Za-z0-9.]{32,64}"),
    _token(_K.VENDOR_TOKEN, "LTAI", r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])", _digit_or_dense, exact=True),
    _token(_K.VENDOR_TOKEN, "EAACEdEose0cBA", r"EAACEdEose0cBA[A-Za-z0-9]{10,255}"),
    _token(_K.VENDOR_TOKEN, "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{30,80}"),
    _token(_K.VENDOR_TOKEN, "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])", exact=True),
    _token(
        _K.JWT,
        "eyJ ewo",
        r"e[wy][A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,8000}){2}(?:\.[A-Za-z0-9_-]{1,8000}){0,2}",
        _jwt,
        apart=True,
    ),
    _token(_K.JWT, "eyJ", r"eyJ[A-Za-z0-9_-]{8,8000}\.eyJ[A-Za-z0-9_-]{8,8000}", _jwt, apart=True),
    _token(
        _K.PRIVATE_KEY,
        "MII MHcCAQEE MHQCAQEE MIGHAgEA MIGkAgEB MIHcAgEB MC4CAQAw b3BlbnNzaC1rZXkt",
        r"(?:MII[A-Za-z0-9+/]{3}IBA[A-Za-z0-9+/]{0,8000}|M[A-Z0-9a-z]{2,7}(?:CAQEE|CAQAw|AgEAM|AgEBB)[A-Za-z0-9+/]{20,8000}"
        r"|b3BlbnNzaC1rZXkt[A-Za-z0-9+/]{20,8000})={0,2}",
        apart=True,
    ),
)

_EDGE_BEFORE = r"(?:(?<![A-Za-z0-9_.~+/-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9\[]m)|(?m:(?<=^[+-])))"
"""No token runs into this place, unless it is the letter of an escape (see ``starts_token``)."""

_UNPREFIXED: tuple[tuple[SecretKind, str, re.Pattern[str]], ...] = (
    (_K.TELEGRAM_TOKEN, ":", re.compile(_EDGE_BEFORE + r"[0-9]{6,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")),
    (
        _K.DISCORD_TOKEN,
        ".",
        re.compile(_EDGE_BEFORE + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])"),
    ),
    (_K.AZURE_KEY, "==", re.compile(_EDGE_BEFORE + r"[A-Za-z0-9+/]{86}==(?!=)")),
    (_K.AZURE_KEY, "Q~", re.compile(_EDGE_BEFORE + r"[A-Za-z0-9_.~-]{3}[78]Q~[A-Za-z0-9_.~-]{31,34}")),
)
"""Kind, a substring without which there is none, form."""
_FORTY = re.compile(_EDGE_BEFORE + r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_CONTEXT = re.compile(r"aws|secret|access.?key|A(?:KI|SI)A|\[REDACTED:aws", re.IGNORECASE | re.ASCII)
_AWS_NEAR = 300
_RETRY = 64
"""After a match that a check refused, look again this far before its end."""


_ANY_PREFIX = re.compile("|".join(sorted({re.escape(p) for each in TOKEN_PATTERNS for p in each.prefixes})))


def may_hold_token(text: str) -> bool:
    """False where no token of the table is in a text; quick."""
    return bool(_ANY_PREFIX.search(text))


def find_prefixed_tokens(text: str) -> Iterator[Span]:
    """Every token of the table: what its prefix gives away, wherever it stands."""
    for pattern in TOKEN_PATTERNS:
        for prefix in pattern.prefixes:
            yield from _find_prefixed(text, pattern, prefix)


def find_tokens(text: str) -> Iterator[Span]:
    """Every token of the table, and the few forms without a fixed prefix."""
    yield from find_prefixed_tokens(text)
    for kind, needed, form in _UNPREFIXED:
        for match in form.finditer(text) if needed in text else ():
            evident = not has_three_classes(match[0]) and ":AA" not in match[0]
            if not evident and not (kind is _K.AZURE_KEY and is_evident(text, match)):
                yield Span(match.start(), match.end(), kind, SpanRank.VENDOR)
    for match in _FORTY.finditer(text):
        if _aws_secret(text, match):
            yield Span(match.start(), match.end(), _K.AWS_SECRET_KEY, SpanRank.VENDOR)


def _find_prefixed(text: str, pattern: TokenPattern, prefix: str) -> Iterator[Span]:
    group = 1 if pattern.form.groups else 0
    position = text.find(prefix)
    while position >= 0:
        after = position + len(prefix)
        match = pattern.form.match(text, position) if may_start_token(text, position, pattern, prefix) else None
        if match and (pattern.check is None or pattern.check(match[0])):
            rest = None if pattern.exact else _REST.match(text, match.end())
            after = rest.end() if rest else match.end()
            yield Span(match.start(group), after, pattern.kind, SpanRank.VENDOR)
        elif match:
            after = max(after, match.end() - _RETRY)
        position = text.find(prefix, after)


def may_start_token(text: str, position: int, pattern: TokenPattern, prefix: str) -> bool:
    """No word or longer token runs into this position, where ``prefix`` stands."""
    if pattern.apart and text[max(position - 1, 0) : position] in _BASE64_MARKS:
        return text[position - 1] in "+-" and text[max(position - 2, 0) : position - 1] in ("", "\n")
    return prefix[0] not in _ALNUM or starts_token(text, position)


def starts_token(text: str, position: int) -> bool:
    """No word runs into this position. Escapes (``\\n``, ``\\x22``, ``%3D``, ANSI colours) end a word too."""
    if position == 0 or text[position - 1] not in _ALNUM:
        return True
    before = text[max(position - 10, 0) : position]
    if not _ESCAPERS.intersection(before):
        return False
    return bool(_ESCAPE_END.search(before))


def _aws_secret(text: str, match: re.Match[str]) -> bool:
    token = match[0]
    if not has_three_classes(token) or shannon_bits(token) < 4.0:
        return False
    near = text[max(match.start() - _AWS_NEAR, 0) : match.end() + 100]
    return bool(_AWS_CONTEXT.search(near))
