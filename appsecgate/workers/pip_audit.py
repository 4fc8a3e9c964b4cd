"""pip-audit's own command line, kept loaded by ``zygote.py`` in pip-audit's own interpreter."""

import importlib
import sys
from collections.abc import Sequence
from typing import Any


def command_line() -> Any:
    return importlib.import_module("pip_audit._cli")


def load(_directory: str) -> None:
    """Import all that ``main`` needs."""
    command_line()


def main(arguments: Sequence[str]) -> None:
    """As ``python -m pip_audit ARGUMENTS``; leaves by SystemExit where that does."""
    sys.argv = ["pip-audit", *arguments]
    command_line().audit()
