"""Whether a fix left its file in pieces, in the languages whose brackets a scanner mends in silence."""

import re

from appsecgate.model import Scanner
from appsecgate.scanners.semgrep_syntax import check_syntax
from appsecgate.scanners.stage import Stage
from appsecgate.session import Session
from appsecgate.workspace import Source

_BRACED = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".java", ".go", ".c", ".h", ".cc", ".cpp", ".cs", ".kt")
_NO_CODE = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/', re.DOTALL
)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_PARSING_S = 10.0


def is_braced(path: str) -> bool:
    """Whether a file is in one of these languages."""
    return path.endswith(_BRACED)


def brackets_match(text: str) -> bool:
    """Whether every bracket of a C-like text has its partner; literals and comments are left out."""
    opened: list[str] = []
    for char in _NO_CODE.sub("", text):
        if char in "([{":
            opened.append(char)
        elif char in _PAIRS and (not opened or opened.pop() != _PAIRS[char]):
            return False
    return not opened


def was_mended(session: Session, source: Source) -> bool:
    """Whether the file's brackets do not match and semgrep's parser had to mend it, which its report does not tell.

    Neither is enough alone: a bracket in a regular expression has no partner, and the parser's statistics count
    what it merely does not know yet. The parser is asked only where brackets do not match.
    """
    if not is_braced(source.path) or brackets_match(source.text):
        return False
    tool = session.installation(Scanner.SEMGREP)
    if tool is None:
        return False
    with Stage() as stage:
        states = check_syntax(tool, [stage.add(source)], stage, timeout_s=_PARSING_S)
    return any(state.broken_lines for state in states.values())
