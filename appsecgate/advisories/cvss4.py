"""The base score of CVSS version 4.0 vectors.

The specification's section 8.2: a vector belongs to a macrovector (EQ1 to EQ6), whose score stands in a table; from
it the mean share is taken off by which the vector is below the worst one of its macrovector. Threat and
environmental metrics are left at "not defined", which the specification reads as the worst: E:A and CR, IR, AR:H.
With these EQ5 is 0, EQ6 follows from EQ3, and 60 of the table's 270 scores are all that is ever asked for.
"""

import math
from collections.abc import Mapping, Sequence

from appsecgate.advisories.cvss import vector_metrics

_CVSS4_LEVELS: Mapping[str, str] = {
    "AV": "NALP", "AC": "LH", "AT": "NP", "PR": "NLH", "UI": "NPA",
    "VC": "HLN", "VI": "HLN", "VA": "HLN", "SC": "HLN", "SI": "HLN", "SA": "HLN",
}  # fmt: skip
"""Metric → its values, worst first."""

_CVSS4_WORST: Mapping[str, Sequence[Sequence[Mapping[str, str]]]] = {
    "eq1": (
        ({"AV": "N", "PR": "N", "UI": "N"},),
        (
            {"AV": "A", "PR": "N", "UI": "N"},
            {"AV": "N", "PR": "L", "UI": "N"},
            {"AV": "N", "PR": "N", "UI": "P"},
        ),
        ({"AV": "P", "PR": "N", "UI": "N"}, {"AV": "A", "PR": "L", "UI": "P"}),
    ),
    "eq2": (({"AC": "L", "AT": "N"},), ({"AC": "H", "AT": "N"}, {"AC": "L", "AT": "P"})),
    "eq3": (
        ({"VC": "H", "VI": "H", "VA": "H"},),
        ({"VC": "L", "VI": "H", "VA": "H"}, {"VC": "H", "VI": "L", "VA": "H"}),
        ({"VC": "L", "VI": "L", "VA": "L"},),
    ),
    "eq4": (
        (),  # safety, which base metrics do not know
        ({"SC": "H", "SI": "H", "SA": "H"},),
        ({"SC": "L", "SI": "L", "SA": "L"},),
    ),
}
"""The worst vectors of each level of each equivalence class (the specification's table of highest vectors)."""

_CVSS4_DEPTHS: Mapping[str, Sequence[int]] = {
    "eq1": (1, 4, 5), "eq2": (1, 2), "eq3": (7, 8, 10), "eq4": (6, 5, 4)
}  # fmt: skip
"""Steps from the worst vector of a level to the least bad one (for EQ3: of EQ3 and EQ6 together)."""

_CVSS4_SCORES: Mapping[tuple[int, int, int], tuple[float, float, float, float, float]] = {
    (0, 0, 1): (10.0, 9.6, 9.3, 9.2, 7.9),
    (0, 0, 2): (9.3, 9.0, 8.8, 8.0, 6.9),
    (0, 1, 1): (9.5, 9.1, 9.2, 8.2, 7.1),
    (0, 1, 2): (9.2, 8.1, 8.4, 7.0, 6.3),
    (1, 0, 1): (9.4, 8.9, 8.6, 7.6, 6.5),
    (1, 0, 2): (8.7, 7.5, 7.2, 5.7, 5.3),
    (1, 1, 1): (9.0, 7.7, 7.4, 5.9, 5.8),
    (1, 1, 2): (7.7, 6.6, 6.1, 5.2, 2.3),
    (2, 0, 1): (8.6, 7.4, 7.2, 5.7, 4.7),
    (2, 0, 2): (7.0, 5.4, 5.3, 3.6, 2.4),
    (2, 1, 1): (7.3, 5.5, 6.1, 5.1, 2.4),
    (2, 1, 2): (5.4, 4.3, 4.6, 1.8, 1.0),
}
"""(EQ1, EQ2, EQ4) → scores for (EQ3, EQ6) = 00, 01, 10, 11, 21; EQ5 is 0."""


def cvss4_score(vector: str) -> float | None:
    """The base score of a ``CVSS:4.0/…`` vector, 0.0 to 10.0; None where a base metric is missing or odd."""
    head, _, rest = vector.strip().partition("/")
    metrics = vector_metrics(rest) if head == "CVSS:4.0" else None
    if metrics is None or any(metrics.get(name) not in tuple(values) for name, values in _CVSS4_LEVELS.items()):
        return None
    if all(metrics[name] == "N" for name in ("VC", "VI", "VA", "SC", "SI", "SA")):
        return 0.0
    level = _cvss4_levels(metrics)
    score = _cvss4_score_at(level)
    lower = {
        "eq1": _cvss4_score_at({**level, "eq1": level["eq1"] + 1}),
        "eq2": _cvss4_score_at({**level, "eq2": level["eq2"] + 1}),
        "eq3": _cvss4_below_eq3(level),
        "eq4": _cvss4_score_at({**level, "eq4": level["eq4"] + 1}),
    }
    shares = [
        (score - below) * _cvss4_distance(name, level[name], metrics) / _CVSS4_DEPTHS[name][level[name]]
        for name, below in lower.items()
        if not math.isnan(below)
    ]
    # EQ5 has a lower level too, but no distance within its own: one more to share by
    value = score - sum(shares) / (len(shares) + 1)
    return math.floor(min(max(value, 0.0), 10.0) * 10 + 0.5 + 1e-6) / 10


def _cvss4_levels(metrics: Mapping[str, str]) -> dict[str, int]:
    entry = [metrics["AV"] == "N", metrics["PR"] == "N", metrics["UI"] == "N"]
    impact = [metrics[name] == "H" for name in ("VC", "VI", "VA")]
    return {
        "eq1": 0 if all(entry) else 1 if any(entry) and metrics["AV"] != "P" else 2,
        "eq2": 0 if metrics["AC"] == "L" and metrics["AT"] == "N" else 1,
        "eq3": 0 if impact[0] and impact[1] else 1 if any(impact) else 2,
        "eq4": 1 if "H" in (metrics["SC"], metrics["SI"], metrics["SA"]) else 2,
    }


def _cvss4_score_at(level: Mapping[str, int], column: int | None = None) -> float:
    """The table's score, NaN where there is no such macrovector."""
    row = _CVSS4_SCORES.get((level["eq1"], level["eq2"], level["eq4"]))
    if row is None:
        return math.nan
    return row[(0, 2, 4)[level["eq3"]] if column is None else column]


def _cvss4_below_eq3(level: Mapping[str, int]) -> float:
    """EQ3 and EQ6 go down together: of two ways down the smaller step counts."""
    if level["eq3"] == 0:
        return max(_cvss4_score_at(level, 1), _cvss4_score_at(level, 2))
    return _cvss4_score_at(level, 3) if level["eq3"] == 1 else math.nan


def _cvss4_distance(name: str, level: int, metrics: Mapping[str, str]) -> int:
    """Steps between the vector and the first of its level's worst vectors that is nowhere less bad."""
    for worst in _CVSS4_WORST[name][level]:
        steps = [
            _CVSS4_LEVELS[key].index(metrics[key]) - _CVSS4_LEVELS[key].index(value) for key, value in worst.items()
        ]
        if min(steps) >= 0:
            return sum(steps)
    return 0
