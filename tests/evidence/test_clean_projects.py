"""Projects without a weakness are clean, and say what that rests on."""

import contextlib
from typing import Any

from appsecgate.model import EvidenceReason, EvidenceState, Scanner, ScanVerdict, SentinelState
from appsecgate.session import Session
from appsecgate.store.advisory_import import import_advisories
from appsecgate.tools.scan_diff import ScanDiffInput, scan_diff
from appsecgate.tools.scan_file import ScanFileInput, scan_file
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from tests.evidence.surroundings import ADVISORIES_ARE_FRESH, commit_all, scan
from tests.support import OSV_EXAMPLES, ScannerCase, call, options

SEMGREP, SECRETS, PIP, CHECKOV = Scanner.SEMGREP, Scanner.DETECT_SECRETS, Scanner.PIP_AUDIT, Scanner.CHECKOV
PYTHON = '''"""Adds."""

import json
from pathlib import Path


def total(numbers: list[int]) -> int:
    return sum(numbers)


def load(path: Path) -> dict[str, int]:
    return json.loads(path.read_text("utf-8"))
'''
JAVASCRIPT = 'export function greet(element, name) {\n  element.textContent = `Hello ${name}`;\n}\n'
TYPESCRIPT = "export const add = (a: number, b: number): number => a + b;\n"
TSX = 'export const Title = ({ text }: { text: string }) => <h1 className="title">{text}</h1>;\n'
GO = 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("hello")\n}\n'
JAVA = "package a;\n\npublic final class Adder {\n  public int add(int one, int two) {\n    return one + two;\n  }\n}\n"
TERRAFORM = """variable "name" {
  type        = string
  description = "What it is called"
}

locals {
  label = "app-${var.name}"
}

output "label" {
  value = local.label
}
"""
DOCKERFILE = """FROM python:3.12.4-slim
RUN useradd --create-home app
COPY app.py /home/app/app.py
USER app
HEALTHCHECK CMD ["python", "-c", "print()"]
CMD ["python", "/home/app/app.py"]
"""
KUBERNETES = """apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
data:
  colour: blue
---
apiVersion: v1
kind: Service
metadata:
  name: shop
  namespace: shop
spec:
  type: ClusterIP
  selector:
    app: shop
  ports:
  - port: 80
"""
WORKFLOW = """name: test
on:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
    - run: make test
"""
DOCS = {"README.md": "# Shop\n\nHow to run it.\n", "docs/guide.md": "Start it, then stop it.\n", "LICENSE": "MIT\n"}
PINNED = {"requirements.txt": "requests==2.31.0\n# a comment\nurllib3==2.0.2\n"}
PROJECTS: dict[str, tuple[dict[str, str], set[Scanner]]] = {
    "Python": ({"a/__init__.py": "", "a/total.py": PYTHON, "tests/test_total.py": "def test() -> None:\n    assert True\n"}, {SEMGREP, SECRETS}),
    "JavaScript": ({"src/greet.js": JAVASCRIPT, "index.html": "<p>Hello</p>\n"}, {SEMGREP, SECRETS}),
    "TypeScript": ({"src/add.ts": TYPESCRIPT, "src/Title.tsx": TSX}, {SEMGREP, SECRETS}),
    "Go": ({"main.go": GO}, {SEMGREP, SECRETS}),
    "Java": ({"src/a/Adder.java": JAVA}, {SEMGREP, SECRETS}),
    "Terraform": ({"infra/main.tf": TERRAFORM}, {SECRETS, CHECKOV}),
    "Docker": ({"Dockerfile": DOCKERFILE, "app.py": PYTHON}, {SEMGREP, SECRETS, CHECKOV}),
    "Kubernetes": ({"k8s/shop.yaml": KUBERNETES}, {SECRETS, CHECKOV}),
    "a workflow": ({".github/workflows/test.yml": WORKFLOW}, {SECRETS, CHECKOV}),
    "documents alone": (DOCS, {SECRETS}),
    "pinned requirements": (PINNED, {SECRETS, PIP}),
    "everything together": (
        {
            **DOCS, **PINNED, "app.py": PYTHON, "web/greet.js": JAVASCRIPT, "web/add.ts": TYPESCRIPT, "main.go": GO,
            "infra/main.tf": TERRAFORM, "Dockerfile": DOCKERFILE, "k8s/shop.yaml": KUBERNETES, "logo.png": "\x89PNG\x00",
        },
        set(Scanner),
    ),
}  # fmt: skip


class CleanProjects(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        import_advisories(OSV_EXAMPLES, self.data, ADVISORIES_ARE_FRESH)
        self.top = self.project

    def test_each_is_clean_with_complete_evidence(self) -> None:
        self.assertGreaterEqual(len(PROJECTS), 10)
        for name, (files, scanners) in PROJECTS.items():
            self.project = self.top / name.replace(" ", "-")
            for path, content in files.items():
                self.write(path, content)
            with self.subTest(name), self.opened_here() as session:
                result = scan(session)
                gaps = [row for row in result.targets if row.state is EvidenceState.NOT_VERIFIED]
                self.assertEqual((gaps, result.findings), ([], ()))
                self.assertEqual((result.verdict, result.complete), (ScanVerdict.CLEAN, True))
                applied = {row.scanner: row for row in result.evidence if row.state is EvidenceState.APPLIED}
                self.assertEqual(set(applied), scanners)
                self.assertEqual({row.sentinel for row in applied.values()}, {SentinelState.ALIVE})
                self.assertTrue(all(row.targets == row.targets_seen > 0 for row in applied.values()))

    @contextlib.contextmanager
    def opened_here(self) -> Any:
        with contextlib.closing(Session(options(self.project, self.data), clock=lambda: ADVISORIES_ARE_FRESH)) as session:
            yield session

    def test_the_tools_and_the_cache_say_the_same(self) -> None:
        self.write("app.py", PYTHON)
        self.write("requirements.txt", "requests==2.31.0\n")
        commit_all(self.project)
        self.write("app.py", PYTHON + "\n\nLIMIT = 3\n")
        with self.opened_here() as session:
            whole = scan_project(call(session), ScanProjectInput())
            self.assertEqual((whole.verdict, whole.complete, whole.missing), (ScanVerdict.CLEAN, True, ()))
            self.assertEqual(whole.summary.by_category, {"sast": 0, "secret": 0, "sca": 0, "iac": 0})
            again = scan_project(call(session), ScanProjectInput())
            self.assertEqual((again.verdict, again.complete), (ScanVerdict.CLEAN, True))
            self.assertIn(EvidenceReason.CACHED, {row.reason for row in again.evidence})
            one = scan_file(call(session), ScanFileInput("app.py"))
            changed = scan_diff(call(session), ScanDiffInput())
        self.assertEqual((one.verdict, changed.verdict), (ScanVerdict.CLEAN, ScanVerdict.CLEAN))
        self.assertEqual(changed.files, ("app.py",))

    def test_a_diff_without_changes_is_clean_since_git_vouches_for_it(self) -> None:
        self.write("app.py", "eval(input())\n")
        self.write("gone.py", "x = 1\n")
        self.write(".gitignore", "ignored.py\n")
        commit_all(self.project)
        with self.opened_here() as session:
            nothing = scan_diff(call(session), ScanDiffInput())
            self.assertEqual((nothing.verdict, nothing.complete, nothing.missing), (ScanVerdict.CLEAN, True, ()))
            (self.project / "gone.py").unlink()
            self.write("ignored.py", "eval(input())\n")
            shown = scan_diff(call(session), ScanDiffInput())
        self.assertEqual((shown.verdict, shown.files), (ScanVerdict.CLEAN, ()))

    def test_a_file_that_no_scanner_looks_at_is_not_clean_when_asked_for(self) -> None:
        self.write("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(64))
        with self.opened_here() as session:
            shown = scan_file(call(session), ScanFileInput("logo.png"))
        self.assertEqual(shown.verdict, ScanVerdict.INCOMPLETE)
        self.assertEqual({item.reason for item in shown.missing}, {EvidenceReason.NOT_APPLICABLE})

    def test_other_peoples_code_is_scanned_when_it_is_named(self) -> None:
        self.write("node_modules/a/index.js", "eval(location.hash);\n")
        self.write("src/b.js", "let b = 1;\n")
        with self.opened_here() as session:
            before = scan_project(call(session), ScanProjectInput())
            self.assertEqual(before.verdict, ScanVerdict.CLEAN)
            self.assertIn(("node_modules", EvidenceReason.VENDORED), {(v.path, v.reason) for v in before.left_out})
            named = scan_file(call(session), ScanFileInput("node_modules/a/index.js"))
            self.assertEqual(named.verdict, ScanVerdict.FINDINGS)
            after = scan_project(call(session), ScanProjectInput())
            self.assertEqual(after.verdict, ScanVerdict.FINDINGS, "what was found once stays in view")

    def test_hidden_findings_are_no_clean_verdict(self) -> None:
        self.write("app.py", "eval(input())\n")
        settings = {"suppressions": [{"path": "app.py", "reason": "an example"}]}
        session = Session(options(self.project, self.data, settings), clock=lambda: ADVISORIES_ARE_FRESH)
        with contextlib.closing(session):
            shown = scan_file(call(session), ScanFileInput("app.py"))
            whole = scan_project(call(session), ScanProjectInput())
        self.assertEqual((shown.verdict, shown.findings, whole.verdict), (ScanVerdict.FINDINGS, (), ScanVerdict.FINDINGS))
        self.assertGreater(shown.suppressed, 0)
        self.assertEqual((whole.summary.total, whole.summary.suppressed), (0, shown.suppressed))
