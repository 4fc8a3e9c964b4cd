"""Names of packages as a project's files give them."""

from appsecgate.advisories.pep440 import canonical_name
from appsecgate.redact.patterns import find_prefixed_tokens, may_hold_token


def told_name(name: str) -> str:
    """The name normalised (PEP 503); a secret stays as it is written, since in lower case nobody knows it for one."""
    is_secret = may_hold_token(name) and any(True for _ in find_prefixed_tokens(name))
    return name if is_secret else canonical_name(name)
