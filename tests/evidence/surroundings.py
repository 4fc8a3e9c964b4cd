"""What the tests of evidence share."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.scan.result import ScanResult
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from appsecgate.tools.scanned import control_of
from tests.support import call

ADVISORIES_ARE_FRESH = datetime(2023, 6, 10, tzinfo=UTC)
"""The newest of the example advisories is of 2023-06-05."""
NOBODY = 65534


def scan(session: Session, start: str = "", *, seconds: float = 300) -> ScanResult:
    """The whole project, or one directory of it."""
    return run_scan(session, whole_project(session, start), control_of(call(session, seconds)))


@contextlib.contextmanager
def modes(mode: int, *paths: Path) -> Iterator[None]:
    """The paths with another mode, for a while."""
    before = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(mode)
    try:
        yield
    finally:
        for path, old in zip(paths, before, strict=True):
            path.chmod(old)


@contextlib.contextmanager
def unprivileged(directory: Path) -> Iterator[None]:
    """Without root's right to read everything; ``directory`` belongs to whom we are meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    for path in (directory, *directory.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def commit_all(project: Path) -> None:
    """Make the directory a git repository with everything in one commit."""
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=project, check=True, capture_output=True)
