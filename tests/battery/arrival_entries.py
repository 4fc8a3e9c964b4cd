"""Weaknesses that come in with other files while the claimed one looks fixed, beside honest edits of that kind."""

import os

from appsecgate.model import FixStatus, Scanner
from tests.battery.entry import FIXED, NOT_FIXED, Edit, Entry, append, both, move, swap, write

CALC = "def calc_@(text_@):\n    return eval(text_@)\n"
OTHER = "def helper(x):\n    return eval(str(x), {})\n"
HANDED_ON: Edit = write("calc.py", "from helper import helper\n\n\ndef calc_@(text_@):\n    return helper(text_@)\n")
SAFE: Edit = swap("calc.py", "eval(text_@)", "int(text_@)")


def _entry(name: str, title: str, edit: Edit, status: FixStatus, codes: str, place: str = "", **more: object) -> Entry:
    values = {"files": {"calc.py": CALC}, "git": "", **more}
    return Entry(
        f"{name}-arrival", "V6" if status is NOT_FIXED else "honest", Scanner.SEMGREP, "Python", title, edit=edit,
        rule="python-eval", needle="eval(text_@)", status=status, codes=codes, place=place, alone=True,
        **values,  # type: ignore[arg-type]
    )  # fmt: skip


def link_out(name: str) -> Edit:
    """A link to a file that lies outside of the project."""
    return lambda folder: (folder / name).symlink_to(os.__file__)


def arrival_entries() -> list[Entry]:
    files = {"calc.py": CALC, "keep.py": CALC.replace("calc_@", "keep_@")}
    return [
        _entry("same-rule", "in a repository: the weakness is new elsewhere, and looks different there",
               both(HANDED_ON, write("helper.py", OTHER)), NOT_FIXED, "moved", "helper.py:2", git="commit"),
        _entry("same-rule-known-file", "in a repository: the weakness is new in a file that was clean",
               both(HANDED_ON, append("helper.py", OTHER)), NOT_FIXED, "moved", "helper.py", git="commit",
               files={"calc.py": CALC, "helper.py": "one = 1\n"}),
        _entry("unjudged-language", "the code moves into a language without rules",
               both(HANDED_ON, write("helper.pyx", OTHER)), NOT_FIXED, "not_analysed", "helper.pyx"),
        _entry("unjudged-syntax", "the code moves into a file that cannot be parsed",
               both(HANDED_ON, write("helper.py", OTHER + "def broken(:\n")), NOT_FIXED, "not_analysed moved", "helper.py",
               git="commit"),
        _entry("link-out", "the code is brought in by a link out of the project", both(HANDED_ON, link_out("helper.py")),
               NOT_FIXED, "not_analysed", "helper.py"),
        _entry("nested-git", "the code moves into a directory that calls itself git's",
               both(write("calc.py", "one = 1\n"), write("lib/.git/helper.py", CALC)), NOT_FIXED, "moved", "lib/.git/helper.py"),
        _entry("equal-file-renamed", "made safe; an equal, untouched file gets a new name",
               both(SAFE, move("keep.py", "kept.py")), FIXED, "fixed", files=files),
        _entry("equal-file-git-renamed", "in a repository: made safe; an equal, untouched file gets a new name",
               both(SAFE, move("keep.py", "lib/kept.py")), FIXED, "fixed", files=files, git="commit"),
        _entry("two-known", "made safe; the same rule reports another file, which also changed",
               both(SAFE, append("keep.py", "\n\none = 1\n")), FIXED, "fixed", files=files),
        _entry("clean-file", "made safe with a new, clean file", both(HANDED_ON, write("helper.py", "helper = int\n")),
               FIXED, "fixed"),
        _entry("link-inside", "made safe; a new link leads to a file of the project",
               both(SAFE, lambda folder: (folder / "again.py").symlink_to("keep.py")), FIXED, "fixed", files=files),
    ]  # fmt: skip
