"""Finds the real scanners for the tests that need them.

``APPSECGATE_TEST_SCANNERS`` names the directory that holds ``semgrep-1.185.0`` and its siblings; by default it is
``scanners/`` in the platform's user data directory. With ``APPSECGATE_TEST_FULL=1`` a missing scanner fails the
tests, otherwise they are skipped, loudly.
"""

import os
import sys
import unittest
from pathlib import Path

from appsecgate.model import Scanner
from appsecgate.scanners.base import Installation

_COMMANDS = {
    Scanner.SEMGREP: "semgrep-core",
    Scanner.DETECT_SECRETS: "detect-secrets",
    Scanner.PIP_AUDIT: "pip-audit",
    Scanner.CHECKOV: "checkov",
}


def scanners_directory() -> Path:
    """Where the tests look for installed scanners; it need not exist."""
    named = os.environ.get("APPSECGATE_TEST_SCANNERS")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "appsecgate" / "scanners"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "appsecgate" / "scanners"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "appsecgate" / "scanners"


def find_installed(scanner: Scanner) -> Installation | None:
    """The newest installation of this scanner, or ``None``."""
    for home in sorted(scanners_directory().glob(f"{scanner}-*"), reverse=True):
        python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        command = _command_of(scanner, home)
        if python.exists() and command is not None:
            version = home.name.removeprefix(f"{scanner}-")
            return Installation(scanner, version, (str(command),), python=python, home=home)
    return None


def require_installed(scanner: Scanner) -> Installation:
    """For ``setUpClass``: the installation, or the class is skipped (failed with ``APPSECGATE_TEST_FULL=1``)."""
    found = find_installed(scanner)
    if found is not None:
        return found
    message = f"{scanner} is not installed below {scanners_directory()} (set APPSECGATE_TEST_SCANNERS)"
    if os.environ.get("APPSECGATE_TEST_FULL") == "1":
        raise AssertionError(message)
    print(f"\nSKIPPED, NOT TESTED: {message}", file=sys.stderr)
    raise unittest.SkipTest(message)


def _command_of(scanner: Scanner, home: Path) -> Path | None:
    name = _COMMANDS[scanner]
    if scanner is Scanner.SEMGREP:
        return next(iter(sorted(home.glob(f"[Ll]ib/**/semgrep/bin/{name}"))), None)
    command = home / "bin" / name
    return command if command.exists() else None
