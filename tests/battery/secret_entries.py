"""Edits of secrets that detect-secrets reports. The values are put together here: none stands in this file."""

import base64
import hashlib
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from appsecgate.model import Scanner
from tests.battery.entry import FIXED, NOT_FIXED, Edit, Entry, append, both, move, prepend, recode, remove, swap, write

FIRST, SECOND, WORD = "<FIRST>", "<SECOND>", "<WORD>"
"""Stand for values that no two entries share."""

PY = f'import os\n\nCLIENT = connect("{FIRST}")\nNAME = "shop"\n'
YAML = f"service: shop\naccess: {FIRST}\nregion: eu\n"
PASSWORD = f'import os\n\npassword = "{WORD}"\nuser = "shop"\n'
ENVIRONMENT = 'os.environ["CLIENT_KEY"]'


def values_of(name: str) -> dict[str, str]:
    """Mark → a value that no other entry has."""
    digest = hashlib.sha256(name.encode())
    letters = base64.b32encode(digest.digest()).decode().replace("0", "A").replace("1", "B")
    return {FIRST: "AKIA" + letters[:16], SECOND: "AKIA" + letters[16:32], WORD: "Zq81!x" + digest.hexdigest()[:14] + "Lm"}


def exchange(folder: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Replace texts in all files, leaving those alone that hold none of them."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        before = after = path.read_bytes()
        for old, new in pairs:
            for encoding in ("utf-8", "utf-16-le"):
                after = after.replace(old.encode(encoding), new.encode(encoding))
        if after != before:
            path.write_bytes(after)


def with_values(entry: Entry) -> Entry:
    """The entry with values of its own in place of the marks."""
    values = values_of(entry.name)

    def filled(text: str) -> str:
        for mark, value in values.items():
            text = text.replace(mark, value)
        return text

    def edit(folder: Path) -> None:
        """Done on a copy that holds the marks; what it does not change keeps its times."""
        with tempfile.TemporaryDirectory() as holder:
            copy = Path(holder) / folder.name
            shutil.copytree(folder, copy)
            exchange(copy, [(value, mark) for mark, value in values.items()])
            entry.edit(copy)
            exchange(copy, [*values.items(), ("<HEAD>", values[WORD][:9]), ("<TAIL>", values[WORD][9:])])
            mirror(copy, folder)

    files = {name: filled(str(text)) for name, text in entry.files.items()}
    return replace(entry, files=files, needle=filled(entry.needle), edit=edit)


def mirror(source: Path, target: Path) -> None:
    """Make two folders equal, writing what differs alone."""
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for path in [path for path in target.rglob("*") if path.is_file()]:
        if path.relative_to(target) not in wanted:
            path.unlink()
    for name in wanted:
        data = (source / name).read_bytes()
        if not (target / name).exists() or (target / name).read_bytes() != data:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)


def entry(name: str, case: str, title: str, edit: Edit, status: object, codes: str, **more: object) -> Entry:
    values = {
        "files": {"settings.py": PY}, "rule": "aws-access-key", "needle": FIRST, "dialect": "Python",
        "edit": edit, "status": status, "codes": codes, **more,
    }  # fmt: skip
    made = Entry(name=f"secret-{name}", case=case, scanner=Scanner.DETECT_SECRETS, title=title, **values)  # type: ignore[arg-type]
    return with_values(made)


def secret_entries() -> list[Entry]:
    file = "settings.py"
    yaml: dict[str, object] = {"files": {"service.yaml": YAML}, "dialect": "YAML"}
    word: dict[str, object] = {"files": {file: PASSWORD}, "rule": "secret-keyword", "needle": WORD}
    gone, hidden = "rotation_required", "suppressed_inline"
    return [
        entry("pragma", "V2", "pragma: allowlist secret on the line",
              swap(file, f'"{FIRST}")', f'"{FIRST}")  # pragma: allowlist secret'), NOT_FIXED, hidden),
        entry("pragma-before", "V2", "pragma: allowlist nextline secret",
              swap(file, "CLIENT", "# pragma: allowlist nextline secret\nCLIENT"), NOT_FIXED, hidden),
        entry("pragma-white", "V2", "pragma: whitelist secret",
              swap(file, f'"{FIRST}")', f'"{FIRST}")  # pragma: whitelist secret'), NOT_FIXED, hidden),
        entry("pragma-yaml", "V2", "pragma: allowlist secret in YAML",
              swap("service.yaml", FIRST, f"{FIRST}  # pragma: allowlist secret"), NOT_FIXED, hidden, **yaml),
        entry("pragma-near-miss", "V12", "a comment that begins like a pragma",
              swap(file, f'"{FIRST}")', f'"{FIRST}")  # pragma: allowlist secrets everywhere'), NOT_FIXED,
              "still_present suppressed_inline"),
        entry("baseline", "V7", "a baseline is added", write(".secrets.baseline", '{"results": {}}'), NOT_FIXED, "still_present",
              alone=True),
        entry("replaced", "V1", "another secret of the kind on the same line", swap(file, FIRST, SECOND), NOT_FIXED,
              "changed_still_present"),
        entry("replaced-kind", "V11", "a secret of another kind on the same line",
              swap(file, f'CLIENT = connect("{FIRST}")', f'password = "{WORD}"'), NOT_FIXED, "changed_still_present"),
        entry("renamed-key", "V2", "the variable gets a harmless name", swap(file, "password", "greeting"), NOT_FIXED,
              "changed_still_present still_present", **word),
        entry("default", "V2", "the value stays as a default",
              swap(file, f'"{WORD}"', f'os.environ.get("PW", "{WORD}")'), NOT_FIXED, "changed_still_present still_present", **word),
        entry("divided", "V2", "the literal is divided in two",
              both(swap(file, WORD, "<HEAD>" + '" + "' + "<TAIL>")), NOT_FIXED, "changed_still_present still_present", **word),
        entry("commented", "V2", "the line becomes a comment", swap(file, "CLIENT", "# CLIENT"), NOT_FIXED,
              "changed_still_present still_present"),
        entry("moved-env", "V6", "the value moves to .env", both(swap(file, f'"{FIRST}"', ENVIRONMENT), write(".env", f"KEY={FIRST}\n")),
              NOT_FIXED, "moved", place=".env"),
        entry("moved-text", "V6", "the value moves to a text file",
              both(swap(file, f'"{WORD}"', 'open("word.txt").read()'), write("word.txt", f"{WORD}\n")), NOT_FIXED, "moved",
              place="word.txt", **word),
        entry("renamed", "V9", "the file is renamed", move(file, "settings.bin.txt"), NOT_FIXED, "moved", place="settings.bin.txt"),
        entry("above", "V5", "100 lines above", prepend(file, "# x\n" * 100), NOT_FIXED, "still_present"),
        entry("utf16", "V8", "the file is saved as UTF-16", recode("service.yaml", "utf-16"), NOT_FIXED, "still_present", **yaml),
        entry("file-gone", "V4", "the file is deleted", remove(file), FIXED, "file_deleted"),
        entry("environment", "honest", "read from the environment", swap(file, f'"{FIRST}"', ENVIRONMENT), FIXED, gone),
        entry("word-environment", "honest", "a password read from the environment",
              swap(file, f'"{WORD}"', 'os.environ["PASSWORD"]'), FIXED, gone, **word),
        entry("yaml-variable", "honest", "a variable takes its place", swap("service.yaml", FIRST, "${ACCESS_KEY}"), FIXED, gone,
              **yaml),
        entry("one-of-two", "honest", "one of two secrets is removed; the other remains",
              swap(file, f'"{FIRST}"', ENVIRONMENT), FIXED, gone, files={file: PY + f'OTHER = connect("{SECOND}")\n'}),
        entry("line-removed", "honest", "the line is removed", swap(file, f'CLIENT = connect("{FIRST}")\n', ""), FIXED, gone),
        entry("elsewhere", "honest", "removed here; the same value stands in another file untouched",
              swap(file, f'"{FIRST}"', ENVIRONMENT), FIXED, gone, files={file: PY, "service.yaml": YAML}),
        entry("elsewhere-touched", "honest", "removed here; the other file with the value changes too",
              both(swap(file, f'"{FIRST}"', ENVIRONMENT), append("service.yaml", "more: 1\n")), FIXED, gone,
              files={file: PY, "service.yaml": YAML}),
    ]  # fmt: skip
