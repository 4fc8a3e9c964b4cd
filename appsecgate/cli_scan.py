"""``scan`` on the command line: what is scanned, how it is printed, and when it fails."""

import argparse
import json
import time
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any, Protocol

from appsecgate import __version__
from appsecgate.cli_render import render_scan
from appsecgate.errors import EXIT_DONE, EXIT_FINDINGS, EXIT_INCOMPLETE, ArgumentError
from appsecgate.exports.gitlab import gitlab_report
from appsecgate.exports.sarif import sarif_log
from appsecgate.model import Finding, Severity
from appsecgate.process import CancelToken
from appsecgate.session import Session
from appsecgate.tools.base import Call
from appsecgate.tools.scan_diff import ScanDiffInput, scan_diff
from appsecgate.tools.scan_file import ScanFileInput, scan_file
from appsecgate.tools.scan_project import ScanProjectInput, scan_project

PATIENCE_S = 3600.0
"""A person can wait and interrupt; a call over MCP has 45 s."""


class Printer(Protocol):
    """What ``cli.Terminal`` offers."""

    def say(self, text: str) -> None: ...

    def show(self, record: Any, as_json: bool, render: Callable[[Any], str]) -> None: ...


def patient_call(session: Session) -> Call[Session]:
    return Call(session=session, cancel=CancelToken(), deadline=time.monotonic() + PATIENCE_S)


def scanned_path(arguments: argparse.Namespace) -> Path | None:
    """The file or directory to scan; a directory without ``--project`` is the project itself, then None."""
    path = Path(arguments.path) if arguments.path else None
    if path is not None and not path.exists():
        raise ArgumentError(f"there is no {arguments.path!r}.", hint="Name a file or directory.")
    if path is not None and path.is_dir() and arguments.project is None:
        arguments.project = str(path)
        return None
    return path


def scan_and_print(arguments: argparse.Namespace, printer: Printer, session: Session, path: Path | None) -> int:
    """Scan, print, and say by the exit status whether a finding is over ``--fail-on`` or evidence is missing."""
    call = patient_call(session)
    if arguments.diff is not None:
        result: Any = scan_diff(call, ScanDiffInput(arguments.diff or None))
    elif path is None or path.is_dir():
        result = scan_project(call, ScanProjectInput(str(path.absolute()) if path else None))
    else:
        result = scan_file(call, ScanFileInput(str(path.absolute())))
    if arguments.format in ("sarif", "gitlab"):
        printer.say(_report(session, result.scan_id, arguments.format))
    else:
        printer.show(result, arguments.format == "json", render_scan)
    if arguments.fail_on and _is_over(session, Severity(arguments.fail_on), arguments.diff, path):
        return EXIT_FINDINGS
    return EXIT_DONE if result.complete else EXIT_INCOMPLETE


def _report(session: Session, scan_id: str, form: str) -> str:
    """All present findings of the project, with what the scan could not verify."""
    with session.store.read() as reader:
        findings = reader.findings(session.project_id, include_suppressed=True)
        evidence = reader.evidence(session.project_id, scan_id)
    report = sarif_log(findings, evidence, __version__) if form == "sarif" else gitlab_report(findings)
    return json.dumps(report, indent=2, ensure_ascii=False)


def _scanned_paths(session: Session, base: str | None, path: Path | None) -> Callable[[str], bool]:
    """Whether a file is among those that a person asked to scan."""
    if base is not None:
        return frozenset(session.workspace.git.changed(base or None)).__contains__
    start = session.workspace.relative(str(path.absolute())) if path else ""
    return lambda name: not start or name == start or name.startswith(f"{start}/")


def _is_over(session: Session, limit: Severity, base: str | None, path: Path | None) -> bool:
    """Whether a finding in what was scanned is at least so severe.

    Findings that the repository or an agent hides count: they must not be able to open a gate. Those that a person
    of this machine hides (``config.toml``, environment, command line) do not.
    """
    scanned = _scanned_paths(session, base, path)
    with session.store.read() as reader:
        present = [item.finding for item in reader.findings(session.project_id, include_suppressed=True)]
    return any(
        finding.severity.rank <= limit.rank and scanned(finding.file_path) and not _hidden_by_a_person(session, finding)
        for finding in present
    )


def _hidden_by_a_person(session: Session, finding: Finding) -> bool:
    today = session.clock().astimezone(UTC).date()
    return any(
        entry.origin.trusted and entry.covers(finding.rule_id, finding.file_path, str(finding.category), today)
        for entry in session.config.suppressions
    )
