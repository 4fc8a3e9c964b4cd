"""How many hits of one scan are kept: a generated file, or a hostile one, can have hundreds of thousands.

Sealing, matching and storing takes about 0.3 ms and 8 KB a hit (measured), out of the time of the call and the memory
of the server. What is cut is counted and named in the evidence, which is not verified then: it never looks clean.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from appsecgate.model import CUT_HITS, EvidenceReason, EvidenceState, Hit, TargetEvidence

HITS_PER_RULE = 1_000
"""Of one rule in one file."""
HITS_PER_FILE = 5_000
"""Of one scanner in one file."""
HITS_PER_SCAN = 10_000
"""Of all scanners together, in the time of one tool call."""
MOST_HITS_PER_SCAN = 50_000
"""The same where a scan may take as long as it likes."""
HITS_PER_PROJECT = 50_000
"""Findings in the books beyond which a scan keeps no more than ``HITS_WHEN_FULL``: each scan of the whole project goes
through all of them."""
HITS_WHEN_FULL = 1_000
RESERVE_S = 5.0
"""Kept back from a call's time for sealing, matching and storing."""
_STORING_S_PER_HIT = 0.0003
_HITS_PER_SECOND = 200


class HitRoom:
    """What one scan has room for; its scanners share it. Safe to share between threads."""

    def __init__(self, remaining_s: float, in_books: int = 0) -> None:
        """``remaining_s``: the time that the scan has; ``in_books``: findings that the project has already."""
        in_time = max(HITS_PER_SCAN, int(min(remaining_s, 1e6) * _HITS_PER_SECOND))
        self.most = min(MOST_HITS_PER_SCAN, in_time, max(HITS_WHEN_FULL, HITS_PER_PROJECT - in_books))
        self._in_books = in_books
        self._left = self.most
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        return self.most - self._left

    @property
    def reserve_s(self) -> float:
        """Of the call's time, what storing will take."""
        return RESERVE_S + (self._in_books + self.taken) * _STORING_S_PER_HIT

    def take(self, count: int) -> bool:
        """Whether there is room for so many, which is taken then."""
        with self._lock:
            if count > self._left:
                return False
            self._left -= count
            return True


@dataclass(slots=True)
class KeptHits:
    """What is kept of one run."""

    hits: list[Hit] = field(default_factory=list)
    targets: list[TargetEvidence] = field(default_factory=list)
    cut: Counter[str] = field(default_factory=Counter)
    """Path → hits that are not kept."""


def keep_hits(hits: Iterable[Hit], targets: Iterable[TargetEvidence], room: HitRoom) -> KeptHits:
    """The hits of as many files as there is room for, those with few of them first; of each file the first ones.

    A file for which there is no room has none, and counts as not reached: the next call goes on there.
    """
    kept = KeptHits()
    by_path: dict[str, list[Hit]] = {}
    for hit in hits:
        by_path.setdefault(hit.path, []).append(hit)
    why: dict[str, tuple[EvidenceReason, str]] = {}
    for path, members in sorted(by_path.items(), key=lambda entry: (len(entry[1]), entry[0])):
        chosen = _first_hits(members)
        if not room.take(len(chosen)):
            kept.cut[path] = len(members)
            why[path] = EvidenceReason.TIME_BUDGET, f"{len(members):,} hits: one scan keeps {room.most:,} in all"
            continue
        kept.hits += chosen
        if len(chosen) < len(members):
            kept.cut[path] = len(members) - len(chosen)
            why[path] = EvidenceReason.PARTIAL, f"{CUT_HITS}{len(chosen):,} of {len(members):,} hits"
    kept.targets = [_told(row, *why[row.path]) if row.path in why else row for row in targets]
    return kept


def _first_hits(hits: Sequence[Hit]) -> list[Hit]:
    """In their order where all can be kept, else by their lines."""
    if len(hits) <= HITS_PER_RULE:
        return list(hits)
    of_rule: Counter[str] = Counter()
    chosen = []
    for hit in sorted(hits, key=lambda hit: (hit.line_start, hit.col_start or 0, hit.rule_id)):
        of_rule[hit.rule_id] += 1
        if of_rule[hit.rule_id] <= HITS_PER_RULE:
            chosen.append(hit)
    return chosen[:HITS_PER_FILE]


def _told(row: TargetEvidence, reason: EvidenceReason, words: str) -> TargetEvidence:
    """What was missing before is said all the same."""
    if row.state is EvidenceState.NOT_VERIFIED:
        return replace(row, detail=f"{row.detail}; {words}" if row.detail else words)
    return replace(row, state=EvidenceState.NOT_VERIFIED, reason=reason, detail=words)
