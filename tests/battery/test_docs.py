"""The examples of docs/verification.md are executed: each reason code has one, and it gives that code."""

import json
import re
from pathlib import Path
from typing import Any

from appsecgate.model import FixStatus, ReasonCode, Scanner
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from appsecgate.verify import check_claim, verify_claims
from tests.battery.bench import control
from tests.scanners.installed import find_installed
from tests.support import AWS_KEY, OSV_EXAMPLES, PACKAGE, ROOT, ScannerCase, options, run_cli

PAGE = ROOT / "docs" / "verification.md"
EXAMPLE = re.compile(r"^### `(\w+)`\n(.*?)^```example\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example:
    """One example, carried out line by line."""

    def __init__(self, text: str, project: Path, data: Path) -> None:
        self.project, self.data = project, data
        self.answer: list[str] = []
        self._status, self._note = FixStatus.FIXED, ""
        self._settings: dict[str, Any] = {}
        self._claim: list[str] = []
        self._no_advisories = False
        before, _, after = text.partition("\nthen\n")
        self._act(before)
        self.session = Session(options(project, data))
        try:
            run_scan(self.session, whole_project(self.session), control())
        finally:
            self.session.close()
        self._act(after)

    def _act(self, text: str) -> None:
        target: Path | None = None
        for line in text.strip().split("\n"):
            word, _, rest = line.partition(" ")
            if word == "|":
                assert target is not None
                with target.open("a") as file:
                    file.write(rest.replace("{AWS_KEY}", AWS_KEY) + "\n")
            elif word == "file":
                target = self.project / rest
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text("")
            else:
                self._do(word, rest)

    def _do(self, word: str, rest: str) -> None:
        if word == "delete":
            (self.project / rest).unlink()
        elif word == "move":
            old, new = rest.split()
            (self.project / old).rename(self.project / new)
        elif word == "set":
            key, value = rest.split(" ", 1)
            self._settings[key] = json.loads(value)
        elif word == "core":
            self._settings["scanners.semgrep.command"] = [str(self._core(rest))]
        elif word == "advisories":
            self._no_advisories = True
        elif word == "wont_fix":
            self._status, self._note = FixStatus.WONT_FIX, json.loads(rest)
        elif word == "claim":
            self._claim = rest.split()
        elif word == "answer":
            self.answer = rest.split()
        else:
            raise AssertionError(f"the example says {word!r}")

    def _core(self, command: str) -> Path:
        """semgrep's engine, replaced by a shell command."""
        tool = find_installed(Scanner.SEMGREP)
        assert tool is not None
        program = self.data / "fake" / "semgrep-core"
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f'#!/bin/sh\nCORE="{tool.command[0]}"\nPROJECT="{self.project}"\n'
            f'if [ "$1" = -version ]; then exec "$CORE" "$@"; fi\n{command}\n'
        )
        program.chmod(0o755)
        return program

    def result(self) -> tuple[list[str], str]:
        """(status and code, the sentence)."""
        if self._no_advisories:
            for path in self.data.glob("advisories*"):
                path.unlink()
        session = Session(options(self.project, self.data, self._settings))
        try:
            with session.store.read() as reader:
                found = reader.findings(session.project_id, include_merged=True)
            which = int(self._claim[1]) if len(self._claim) > 1 else 1
            named = [item for item in found if item.finding.rule_id == self._claim[0]]
            named.sort(key=lambda item: item.finding.line_start)
            claim = check_claim(named[which - 1], self._status, self._note)
            result = verify_claims(session, [claim], control())[0][0]
        finally:
            session.close()
        return [result.verified_status, result.reason_code], result.reason


class Docs(ScannerCase):
    def test_every_reason_code_has_an_example_and_every_example_gives_its_code(self) -> None:
        examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
        self.assertEqual({code for code, _, _ in examples}, set(ReasonCode))
        for code, _, text in examples:
            data, project = self.tmp / f"data-{code}", self.tmp / f"project-{code}"
            project.mkdir()
            data.mkdir(mode=0o700)
            (data / "scanners").symlink_to((self.data / "scanners").resolve())
            if "requirements" in text:
                self._import_advisories(data)
            with self.subTest(code=code):
                example = Example(text, project, data)
                answer, reason = example.result()
                self.assertEqual(answer, example.answer, reason)
                self.assertEqual(example.answer[1], code)

    def _import_advisories(self, data: Path) -> None:
        status, _, err = run_cli(PACKAGE, data, "advisories", "import", str(OSV_EXAMPLES))
        self.assertEqual(status, 0, err)
        self.assertTrue(list(data.glob("advisories*")), "the copy of the advisories is where the example removes it")

    def test_the_page_names_six_conditions(self) -> None:
        section = PAGE.read_text("utf-8").split("## The six conditions")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"(?m)^(\d)\. ", section), list("123456"))
