"""What a key's name and a value's form say: is this a secret, a name of one, or code that fetches one?"""

import enum
import re

from appsecgate.redact.entropy import looks_random


def name_words(words: str) -> frozenset[str]:
    """A set of words, written as a text."""
    return frozenset(words.split())


SECRET_WORD = re.compile(
    r"pass(?:w(?:or)?d|wort|phrase|code)|passw|pwd|secret|token|credential|creds|bearer|connection_?string|conn_?str"
    r"|key|salt|signature|auth|pass(?![a-z])",
    re.IGNORECASE | re.ASCII,
)
"""Where to look for a key; ``key_strength`` says what the whole name is worth."""

_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD = re.compile(r"(?:passw(?:or)?d|passwort|passphrase|passcode|passw|pwd|(?<![a-z])pass)(?:s|s?\d+)?$")
_STRONG = re.compile(
    r"(?:secret|token|credential|creds|bearer|connection_?string|conn_?str"
    r"|(?:api|access|account|auth|private|sign|signing|encrypt|encryption|crypt|crypto|master|shared|storage"
    r"|session|service|license|client|app|application|deploy|hmac|jwt|ssh|host|secret|admin|aes|des|rsa|cipher|ssl|tls"
    r"|function|subscription|webhook|integration)_?key)$"
)
_TAILS = name_words(
    "name names field fields type types url urls uri uris endpoint endpoints path paths file files "
    "filename dir folder label labels length len size count counts ttl expiry expires expire expiration "
    "lifetime age timeout regex pattern prefix suffix header headers param params parameter prompt "
    "message messages msg error errors help hint text title policy validator validators format class cls "
    "view form enabled required env var variable version algorithm alg arn ref reference placeholder "
    "description desc status state index idx id ids limit max min position pos offset start end kind mode "
    "method function func callback handler hook provider service manager factory generator scope scopes "
    "issuer audience usage budget score rate cost model list set map dict cache store storage table "
    "column usages icon color page screen reset strength rotation reader writer parser iterator stream"
)
"""The last word of a name that tells about a secret but does not hold one."""

_FILLERS = name_words("value string str raw b64 base base64 plain data")
_HEADS = name_words(
    "is has have had use uses no num max min check verify validate forgot reset change show hide existing "
    "require requires need needs allow allows enable disable total count with without on handle parse "
    "next prev previous page image sort primary foreign cache partition row range hash group lookup dict "
    "map json public pub"
)
"""The first word of a name that makes it a switch, a verb or a number."""

_VOCABULARY = name_words(
    "access refresh id csrf xsrf auth authorization authentication authenticate api secret secrets key "
    "keys token tokens password passwords passwd pass pwd user username login db database x client "
    "private public session bearer header name field basic oauth oauth2 jwt credential credentials new "
    "old current confirm confirmation repeat type string text hidden account shared signing "
    "encryption passphrase apikey accesskey secretkey aws github gitlab slack stripe middleware default "
    "none null true false undefined required optional"
)
_CONSTANT = re.compile(
    r"none|null|nil|undefined|true|false|nan|required|optional|string|str|bytes|bool|boolean|int|integer|number|object|any"
    r"|unknown|never|void|self|this|inherit|\(?redacted\)?|masked|hidden|\[\]|\{\}|\(\)|\"\"|''|-|~|n/?a|todo|tbd|\.\.\.|…",
    re.IGNORECASE | re.ASCII,
)
_FILLED_IN_WHOLE = re.compile(
    r"<[^<>]{1,120}>|\$[A-Z_][A-Z0-9_]{0,80}|\$[a-z_]{1,80}|%\w{1,80}%|%[-\d.]{0,6}[sdrvqxf]|\{[\w.!:\[\]\"'-]{0,120}\}|@\w{1,80}@|__\w{1,80}__|[:&*][A-Za-z_]{1,80}"
    r"|\[\[[^\]]{1,120}\]\]|\[(?:[Yy]our|[Ii]nsert|[Tt]he)[^\]]{1,80}\]|(?:[Yy](?:our|OUR)|YOUR|[Ii]nsert|INSERT"
    r"|[Rr]eplace|REPLACE|[Ee]nter|ENTER|[Pp]ut)[-_ ][\w \-.]{1,80}|([-*.#_•…])\1{2,}"
    r"|[xX]{3,}[-xX]{0,80}",
)
_FILLED_IN_PART = re.compile(
    r"\$\{[^{}\n]{1,200}\}|\$\([^()\n]{1,200}\)|\{\{[^{}\n]{0,200}\}\}|%\(\w{1,80}\)[sdr]|#\{[^{}\n]{1,200}\}"
    r"|<%[^%\n]{1,200}%>"
)
_FETCHED = re.compile(
    r"arn:|vault:|op://|ref\+|env:|file:|ssm:|sm://|secretsmanager:|keyring:|ENC\[|AQICA|!\w|/run/secrets/|\$ANSIBLE_VAULT"
)
_PATH = re.compile(
    r"(?:~|\.{0,2})/(?:[A-Za-z_.-][\w.-]{0,60}/){1,20}[A-Za-z_.-][\w.-]{0,60}/?|[A-Z]:\\[\w\\. -]{1,200}"
)
_DOTTED = re.compile(r"[A-Za-z_]{2,40}(?:[.:]{1,2}[A-Za-z_]{2,40}){1,12}")
_TYPED = re.compile(
    r"[A-Z][a-z]+(?:[A-Z][a-z]+)+|(?:Optional|Union|List|Dict|Sequence|Final|ClassVar|Annotated|Literal)\[.*"
)
_WEAK_WORDS = frozenset(("key", "keys", "salt", "signature", "auth", "tokens"))


class KeyStrength(enum.IntEnum):
    """What a key's name says about its value."""

    NONE = 0
    WEAK = 1
    """A value that looks random is masked."""
    STRONG = 2
    """A value of 8 characters or more is masked, unless it is evidently none."""
    PASSWORD = 3
    """The same from 6 characters on: people choose short ones."""


def key_strength(name: str) -> KeyStrength:
    """Judges a name in any spelling: ``dbPassword``, ``AWS_SECRET_ACCESS_KEY``, ``api-key``, ``max_tokens``."""
    words = [word.lower() for word in _SEGMENT.findall(name)]
    joined = "_".join(words)
    if not SECRET_WORD.search(joined) or {"public", "pub"}.intersection(words):
        return KeyStrength.NONE
    while len(words) > 1 and not _STRONG.search(joined) and (words[-1].isdigit() or words[-1] in _FILLERS):
        words.pop()
        joined = "_".join(words)
    if words[0] in _HEADS and len(words) > 1:
        return KeyStrength.WEAK
    if _PASSWORD.search(joined):
        return KeyStrength.PASSWORD
    if _STRONG.search(joined) or (_STRONG.search(joined.removesuffix("s")) and words[-1] != "tokens"):
        return KeyStrength.STRONG
    return KeyStrength.WEAK if words[-1] in _TAILS or _weak_word(words) else KeyStrength.NONE


def _weak_word(words: list[str]) -> bool:
    return any(word in _WEAK_WORDS or _PASSWORD.search(word) or _STRONG.search(word) for word in words)


def is_filled_in(value: str) -> bool:
    """The value comes from elsewhere: ``${VAR}``, ``{{ x }}``, ``%s``, ``<your-token>``, ``****``."""
    if len(value) > 400:
        return False
    if _FILLED_IN_WHOLE.fullmatch(value):
        return True
    rest = _FILLED_IN_PART.sub("", value)
    return rest != value and not looks_random(rest) and sum(map(str.isalnum, rest)) < 8


def is_no_secret(value: str, name: str = "") -> bool:
    """The value of a secret's key is evidently something else: a template, a constant, a name, a path, prose."""
    if len(value) > 400:
        return False
    value = value.strip()
    if is_filled_in(value) or _CONSTANT.fullmatch(value) or _FETCHED.match(value) or value.lower() == name.lower():
        return True
    if "://" in value or _is_dotted(value) or (_PATH.fullmatch(value) and not looks_random(value)):
        return True
    return is_vocabulary(value) or _is_prose(value)


def _is_dotted(value: str) -> bool:
    """A path of names as in imports: three names or more, or one of them speaks of secrets."""
    return bool(_DOTTED.fullmatch(value)) and bool(SECRET_WORD.search(value) or len(re.split("[.:]+", value)) > 2)


def is_vocabulary(value: str) -> bool:
    """Made of nothing but the words in which programs speak of secrets: ``access_token``, ``X-Api-Key``."""
    if len(value) > 80 or not re.fullmatch(r"[A-Za-z0-9_.:\- ]+", value):
        return False
    words = [word.lower() for word in _SEGMENT.findall(value)]
    return bool(words) and all(word in _VOCABULARY for word in words)


def is_type(value: str) -> bool:
    """A bare word after a colon that is a type of the language."""
    return bool(_CONSTANT.fullmatch(value) or _TYPED.fullmatch(value))


def _is_prose(value: str) -> bool:
    """Several words that speak of secrets, or end like a sentence; a passphrase does neither."""
    words = value.split()
    if len(words) < 2 or any(looks_random(word) for word in words):
        return False
    return (
        value[-1] in ".:!?…," or value[:1] in "([" or any(SECRET_WORD.search(word) for word in words) or "%s" in value
    )
