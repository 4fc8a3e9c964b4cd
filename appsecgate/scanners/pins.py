"""The versions of the scanners that the adapters are tested against: the one place that names them."""

from collections.abc import Mapping

from appsecgate.model import Scanner

PINS: Mapping[Scanner, str] = {
    Scanner.SEMGREP: "1.185.0",
    Scanner.DETECT_SECRETS: "1.5.0",
    Scanner.PIP_AUDIT: "2.10.1",
    Scanner.CHECKOV: "3.3.30",
}
SCANNER_PYTHON_FLOOR = (3, 10)
"""The oldest Python that all four of them take."""
INSTALLED_MB: Mapping[Scanner, int] = {
    Scanner.SEMGREP: 386,
    Scanner.DETECT_SECRETS: 34,
    Scanner.PIP_AUDIT: 61,
    Scanner.CHECKOV: 291,
}
"""Rough sizes on disk, for the person who waits."""
