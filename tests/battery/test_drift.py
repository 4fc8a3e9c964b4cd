"""Drift: an edit that leaves the weakness alone changes no logical id, and nothing is new or gone."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from tests.battery.bench import control
from tests.battery.code_entries import GO, JAVA, JAVASCRIPT, LANGUAGES, PYTHON, TYPESCRIPT, C, Language
from tests.battery.entry import key_of
from tests.battery.iac_entries import CLOUDFORMATION, DOCKERFILE, KUBERNETES, TERRAFORM, WORKFLOW
from tests.battery.sca_entries import LOCK, REQUIREMENTS
from tests.support import AWS_KEY, ScannerCase

Known = set[tuple[str, str]]
"""Logical ids with their rules."""


def functions(language: Language) -> str:
    """Three functions with the flagged call, the second of them twice."""
    parts = []
    for name in ("one", "two", "three"):
        body = language.start + (language.margin + language.sink + "\n") * (2 if name == "two" else 1) + language.end
        if language is JAVA:
            body = body.removesuffix("}\n")
        parts.append(body.replace("run_@", name).replace("@", key_of(name)))
    gap = "\n\n" if language is PYTHON else "\n"
    return language.head + gap.join(parts) + ("}\n" if language is JAVA else "")


PROJECT = {
    **{f"code/{language.file}": functions(language) for language in LANGUAGES},
    "settings.py": f'import os\n\n\ndef client():\n    return connect("{AWS_KEY}")\n',
    "service.yaml": f"service: shop\naccess: {AWS_KEY}\n",
    "main.tf": TERRAFORM, "stack.yaml": CLOUDFORMATION, "pod.yaml": KUBERNETES, "Dockerfile": DOCKERFILE,
    ".github/workflows/ci.yml": WORKFLOW, "requirements.txt": REQUIREMENTS, "poetry.lock": LOCK,
}  # fmt: skip
SLASHES = (".js", ".ts", ".java", ".go", ".c")


def comment_of(path: str) -> str:
    return "//" if path.endswith(SLASHES) else "#"


def lines_above(count: int) -> Callable[[str, str], str]:
    return lambda path, text: f"{comment_of(path)} above\n" * count + text


def import_added(path: str, text: str) -> str:
    imports = {
        PYTHON.file: "import sys\n", JAVASCRIPT.file: 'const fs = require("fs");\n', C.file: "#include <stdlib.h>\n",
        TYPESCRIPT.file: 'import { join } from "path";\n',
    }  # fmt: skip
    name = Path(path).name
    if name == JAVA.file:
        return text.replace("\n\nclass", "\nimport java.util.List;\n\nclass", 1)
    if name == GO.file:
        return text.replace('import "os/exec"', 'import "os/exec"\nimport "fmt"', 1)
    return imports.get(name, "") + text


def function_moved(path: str, text: str) -> str:
    """The first function goes to the end."""
    if not path.startswith("code/"):
        return text
    start = re.search(r"^.*\bone\(", text, re.MULTILINE)
    after = re.search(r"^.*\btwo\(", text, re.MULTILINE)
    assert start is not None
    assert after is not None
    moved, rest = text[start.start() : after.start()], text[: start.start()] + text[after.start() :]
    end = "}\n" if path.endswith(".java") else ""
    return rest.removesuffix(end) + "\n" + moved.rstrip("\n") + "\n" + end


def reformatted(path: str, text: str) -> str:
    """Margins double in code, trailing blanks appear elsewhere."""
    if path.startswith("code/"):
        return "\n".join(re.sub(r"^[ \t]+", lambda margin: margin[0] * 2, line) for line in text.split("\n"))
    return text if path == "poetry.lock" else re.sub(r"(?m)(?<=\S)$", "  ", text)


TEXT_EDITS: dict[str, Callable[[str, str], str]] = {
    "1 line inserted above": lines_above(1),
    "100 lines inserted above": lines_above(100),
    "an import added": import_added,
    "a function moved within the file": function_moved,
    "reformatted": reformatted,
    "CRLF": lambda _path, text: text.replace("\n", "\r\n"),
}


class Drift(ScannerCase):
    """Shown as a table: python3 -m tests.battery.drift is not needed, the sums are asserted."""

    def setUp(self) -> None:
        super().setUp()
        shutil.rmtree(self.project)
        for path, text in PROJECT.items():
            self.write(path, text)
        self.current = self.session()
        self.known = self.scan(self.current)

    def scan(self, session: Session) -> Known:
        run_scan(session, whole_project(session), control())
        with session.store.read() as reader:
            present = reader.findings(session.project_id, include_suppressed=True, include_merged=True)
        return {(item.finding.logical_id, item.finding.rule_id) for item in present}

    def test_no_edit_beside_a_weakness_changes_an_id(self) -> None:
        self.assertGreaterEqual(len(self.known), 40)
        for title, edit in TEXT_EDITS.items():
            for path, text in PROJECT.items():
                self.write(path, edit(path, text))
            with self.subTest(edit=title):
                found = self.scan(self.current)
                self.assertEqual((found - self.known, self.known - found), (set(), set()))
        self._rename_all()
        with self.subTest(edit="files renamed"):
            found = self.scan(self.current)
            self.assertEqual((found - self.known, self.known - found), (set(), set()))

    def _rename_all(self) -> None:
        """Every file whose name is free gets another one, with changed line ends too."""
        (self.project / "code").rename(self.project / "lib")
        for old, new in {
            "settings.py": "conf/settings.py", "service.yaml": "conf/shop.yaml", "main.tf": "net/main.tf",
            "stack.yaml": "net/stack.yaml", "pod.yaml": "net/web.yaml", "Dockerfile": "Dockerfile.prod",
            ".github/workflows/ci.yml": ".github/workflows/build.yml", "requirements.txt": "requirements-dev.txt",
            "poetry.lock": "back/poetry.lock",
        }.items():  # fmt: skip
            (self.project / new).parent.mkdir(exist_ok=True)
            (self.project / old).rename(self.project / new)
