"""Edits of dependency manifests that pip-audit judges, over the advisories of examples/advisories."""

from appsecgate.model import Scanner
from tests.battery.entry import FIXED, NOT_FIXED, Edit, Entry, both, prepend, remove, swap, write

REQUIREMENTS = "django==1.8.10\nrequests==2.19.0\nPyYAML==5.1\n"
LOCK = """[[package]]
name = "requests"
version = "2.19.0"
description = ""
optional = false
python-versions = "*"
files = []

[metadata]
lock-version = "2.0"
python-versions = "^3.11"
content-hash = "x"
"""


def entry(name: str, case: str, title: str, edit: Edit, status: object, codes: str, **more: object) -> Entry:
    values = {
        "files": {"requirements.txt": REQUIREMENTS}, "rule": "CVE-2018-18074", "needle": "requests",
        "dialect": "requirements", "edit": edit, "status": status, "codes": codes, **more,
    }  # fmt: skip
    return Entry(name=f"sca-{name}", case=case, scanner=Scanner.PIP_AUDIT, title=title, **values)  # type: ignore[arg-type]


def sca_entries() -> list[Entry]:
    file, pin = "requirements.txt", "requests==2.19.0"
    lock: dict[str, object] = {"files": {"poetry.lock": LOCK}, "needle": "", "dialect": "poetry.lock"}
    here = "changed_still_present still_present"
    return [
        entry("bumped", "honest", "raised above the range", swap(file, pin, "requests==2.31.0"), FIXED, "fixed"),
        entry("bumped-lock", "honest", "raised in a lock file", swap("poetry.lock", "2.19.0", "2.31.0"), FIXED, "fixed", **lock),
        entry("bumped-one", "honest", "raised above one flaw's range, not the other's", swap(file, pin, "requests==2.20.0"),
              FIXED, "fixed"),
        entry("removed", "honest", "the dependency is dropped", swap(file, pin + "\n", ""), FIXED, "code_removed fixed"),
        entry("other-manifest", "honest", "raised here; another manifest, untouched, still has it",
              swap(file, pin, "requests==2.31.0"), FIXED, "fixed", files={file: REQUIREMENTS, "poetry.lock": LOCK}),
        entry("still-vulnerable", "V1", "another vulnerable version", swap(file, pin, "requests==2.18.4"), NOT_FIXED, here),
        entry("spelled", "V2", "the name is spelled in another way", swap(file, pin, "Requests === 2.19.0"), NOT_FIXED,
              f"{here} unpinned"),
        entry("case", "V2", "the name's case changes", swap(file, "PyYAML==5.1", "pyyaml == 5.1"), NOT_FIXED, here,
              rule="CVE-2020-1747", needle="PyYAML"),
        entry("marker", "V2", "a marker that is false here", swap(file, pin, pin + ' ; python_version < "3"'), NOT_FIXED, here),
        entry("unpinned", "V2", "the pin is loosened", swap(file, pin, "requests>=2.19.0"), NOT_FIXED, "unpinned"),
        entry("bare", "V2", "the version is left out", swap(file, pin, "requests"), NOT_FIXED, "unpinned"),
        entry("url", "V2", "a URL in its place", swap(file, pin, "https://example.com/r-2.19.0.zip"), NOT_FIXED,
              f"unpinned {here}"),
        entry("unnamed-url", "V2", "a URL that names nothing", swap(file, pin, "https://example.com/7f3a"), NOT_FIXED, "unpinned"),
        entry("editable", "V2", "installed from a path", swap(file, pin, "-e ./vendor/requests"), NOT_FIXED, "unpinned"),
        entry("included", "V6", "the pin moves into an included file",
              both(swap(file, pin, "-r base.txt"), write("base.txt", pin + "\n")), NOT_FIXED, f"{here} moved"),
        entry("moved", "V6", "the pin moves to another manifest",
              both(swap(file, pin + "\n", ""), write("requirements-dev.txt", pin + "\n")), NOT_FIXED, "moved",
              place="requirements-dev.txt"),
        entry("missing-include", "V3", "an included file is missing", swap(file, pin, "-r missing.txt"), NOT_FIXED, "not_analysed"),
        entry("not-a-manifest", "V9", "the file is renamed to a name that nobody audits",
              both(write("deps.list", REQUIREMENTS), remove(file)), NOT_FIXED, "not_analysed moved", place="deps.list"),
        entry("above", "V5", "100 lines above", prepend(file, "# x\n" * 100), NOT_FIXED, "still_present"),
        entry("file-gone", "V4", "the file is deleted", remove(file), FIXED, "file_deleted"),
        entry("broken-lock", "V3", "the lock file no longer parses", swap("poetry.lock", "[[package]]", "[[package]"), NOT_FIXED,
              "parse_failed", **lock),
    ]  # fmt: skip
