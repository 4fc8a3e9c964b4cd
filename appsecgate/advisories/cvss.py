"""Base scores of CVSS vectors and the words that ratings go by.

Version 3.0 and 3.1: the formulas of the specification's section 7.1 (3.1) and 8.1 (3.0), which differ in
rounding alone. Version 2: section 3.2.1 of its guide. Vectors of version 4 are scored in ``cvss4``.
"""

import math
import re
from collections.abc import Mapping

from appsecgate.model import Severity

_CVSS3_WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "AV": {"N": 0.85, "A": 0.62, "L": 0.55, "P": 0.2},
    "AC": {"L": 0.77, "H": 0.44},
    "PR": {"N": 0.85, "L": 0.62, "H": 0.27},
    "UI": {"N": 0.85, "R": 0.62},
    "S": {"U": 0.0, "C": 1.0},
    "C": {"H": 0.56, "L": 0.22, "N": 0.0},
    "I": {"H": 0.56, "L": 0.22, "N": 0.0},
    "A": {"H": 0.56, "L": 0.22, "N": 0.0},
}
_CVSS3_CHANGED_SCOPE_PR = {"N": 0.85, "L": 0.68, "H": 0.5}
_CVSS2_WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "AV": {"L": 0.395, "A": 0.646, "N": 1.0},
    "AC": {"H": 0.35, "M": 0.61, "L": 0.71},
    "Au": {"M": 0.45, "S": 0.56, "N": 0.704},
    "C": {"N": 0.0, "P": 0.275, "C": 0.66},
    "I": {"N": 0.0, "P": 0.275, "C": 0.66},
    "A": {"N": 0.0, "P": 0.275, "C": 0.66},
}
_CVSS_FLOORS = ((9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.1, Severity.LOW))
_CVSS_WORDS = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "important": Severity.HIGH,
    "moderate": Severity.MEDIUM,
    "medium": Severity.MEDIUM,
    "low": Severity.LOW,
    "none": Severity.INFO,
}


def severity_of_score(score: float) -> Severity:
    """The rating of a score between 0.0 and 10.0, as the CVSS 3.1 and 4.0 specifications name it."""
    return next((severity for floor, severity in _CVSS_FLOORS if score >= floor), Severity.INFO)


def severity_of_word(word: str) -> Severity | None:
    """The severity that an advisory database's own word means, or None for a word that is not known."""
    return _CVSS_WORDS.get(word.strip().lower())


def cvss3_base_score(vector: str) -> float | None:
    """The base score of a ``CVSS:3.0/…`` or ``CVSS:3.1/…`` vector; None where a metric is missing or odd."""
    match = re.fullmatch(r"CVSS:3\.([01])/(.+)", vector.strip())
    metrics = vector_metrics(match[2]) if match else None
    if match is None or metrics is None:
        return None
    try:
        weight = {name: values[metrics[name]] for name, values in _CVSS3_WEIGHTS.items()}
    except KeyError:
        return None
    changed = metrics["S"] == "C"
    privileges = _CVSS3_CHANGED_SCOPE_PR[metrics["PR"]] if changed else weight["PR"]
    iss = 1 - (1 - weight["C"]) * (1 - weight["I"]) * (1 - weight["A"])
    impact = 7.52 * (iss - 0.029) - 3.25 * (iss - 0.02) ** 15 if changed else 6.42 * iss
    if impact <= 0:
        return 0.0
    exploitability = 8.22 * weight["AV"] * weight["AC"] * privileges * weight["UI"]
    total = min((1.08 if changed else 1.0) * (impact + exploitability), 10.0)
    return _cvss31_round_up(total) if match[1] == "1" else math.ceil(total * 10) / 10


def cvss2_base_score(vector: str) -> float | None:
    """The base score of a version 2 vector (``AV:N/AC:L/Au:N/C:P/I:P/A:P``), or None."""
    metrics = vector_metrics(vector.strip().strip("()"))
    try:
        weight = {name: values[(metrics or {})[name]] for name, values in _CVSS2_WEIGHTS.items()}
    except KeyError:
        return None
    impact = 10.41 * (1 - (1 - weight["C"]) * (1 - weight["I"]) * (1 - weight["A"]))
    exploitability = 20 * weight["AV"] * weight["AC"] * weight["Au"]
    factor = 0.0 if impact == 0 else 1.176
    return round((0.6 * impact + 0.4 * exploitability - 1.5) * factor + 1e-9, 1)


def vector_metrics(text: str) -> dict[str, str] | None:
    """``AV:N/AC:L`` as a mapping; None where a part is malformed or a metric comes twice."""
    metrics: dict[str, str] = {}
    for part in text.split("/"):
        name, colon, value = part.partition(":")
        if not colon or not value or name in metrics:
            return None
        metrics[name] = value
    return metrics


def _cvss31_round_up(value: float) -> float:
    """``Roundup`` of the 3.1 specification's appendix A: integers, so that 4.02 never becomes 4.1 by a float's dust."""
    whole = round(value * 100_000)
    if whole % 10_000 == 0:
        return whole / 100_000
    return (whole // 10_000 + 1) / 10
