"""What earlier scans say about the work of the next: what needs no second look, and what is to come last."""
# ruff: noqa: S608 -- what is put into SQL texts are names and marks of this program, never values

from collections.abc import Collection
from dataclasses import dataclass

from appsecgate.model import CUT_HITS, EvidenceReason, Scanner
from appsecgate.store.rows import Rows, in_parts, marks_for, path_from_db, path_to_db

_UNFINISHED = (
    EvidenceReason.SCANNER_TIMEOUT,
    EvidenceReason.TIME_BUDGET,
    EvidenceReason.SCANNER_FAILED,
    EvidenceReason.OUTPUT_TOO_LARGE,
)


_PARTLY_PARSED = "PartialParsing"
"""With what semgrep's word on a file ends of which it could parse a part."""
_LASTING_DETAILS = (f"{CUT_HITS}%", f"%{_PARTLY_PARSED}", f"%{_PARTLY_PARSED}; {CUT_HITS}%")
"""Of what is partial for good, as LIKE patterns."""


@dataclass(frozen=True, slots=True)
class LastingFailure:
    """A failure that depends on the scanner's input alone: without other input, it would fail again."""

    input_hash: str
    reason: EvidenceReason
    detail: str


class SettledReads(Rows):
    """Questions before a scan."""

    def settled_inputs(self, project_id: str, paths: Collection[str]) -> dict[tuple[Scanner, str], str]:
        """(scanner, path) → input hash, where the scanner's last word on the file is complete evidence."""
        found: dict[tuple[Scanner, str], str] = {}
        for part in in_parts(sorted(path_to_db(path) for path in set(paths))):
            sql = (
                "SELECT scanner, path, input_hash FROM target_states WHERE project_id = ? "
                f"AND state = 'applied' AND input_hash <> '' AND path IN ({marks_for(part)})"
            )
            for row in self._rows(sql, (project_id, *part)):
                found[Scanner(row[0]), path_from_db(row[1])] = row[2]
        return found

    def lasting_failures(self, project_id: str, paths: Collection[str]) -> dict[tuple[Scanner, str], LastingFailure]:
        """(scanner, path) → why its last word is none: what does not parse (whole), and what has too many hits.

        Timeouts, crashes and whatever else may go well the next time are not among them.
        """
        found: dict[tuple[Scanner, str], LastingFailure] = {}
        details = " OR ".join("t.detail LIKE ?" for _ in _LASTING_DETAILS)
        for part in in_parts(sorted(path_to_db(path) for path in set(paths))):
            sql = (
                "SELECT s.scanner, s.path, s.input_hash, t.reason, t.detail FROM target_states s JOIN scan_targets t "
                "ON t.project_id = s.project_id AND t.path = s.path AND t.scanner = s.scanner "
                "AND t.scan_id = s.scan_id "
                f"WHERE s.project_id = ? AND s.state = 'not_verified' AND s.input_hash <> '' "
                f"AND s.path IN ({marks_for(part)}) AND (t.reason = ? OR (t.reason = ? AND ({details})))"
            )
            reasons = (EvidenceReason.PARSE_FAILED, EvidenceReason.PARTIAL)
            for row in self._rows(sql, (project_id, *part, *reasons, *_LASTING_DETAILS)):
                failure = LastingFailure(row[2], EvidenceReason(row[3]), row[4])
                found[Scanner(row[0]), path_from_db(row[1])] = failure
        return found

    def present_count(self, project_id: str) -> int:
        """Findings that are there as far as anyone knows, hidden and merged ones too."""
        row = self._row("SELECT count(*) FROM findings WHERE project_id = ? AND present = 1", (project_id,))
        return int(row[0]) if row else 0

    def unfinished(self, project_id: str) -> set[tuple[Scanner, str]]:
        """(scanner, path) whose last run ended before it had answered: out of time, crashed, flooding; or which had
        more hits than are kept."""
        sql = (
            "SELECT s.scanner, s.path FROM target_states s JOIN scan_targets t ON t.project_id = s.project_id "
            "AND t.path = s.path AND t.scanner = s.scanner AND t.scan_id = s.scan_id "
            f"WHERE s.project_id = ? AND s.state = 'not_verified' AND (t.reason IN ({marks_for(_UNFINISHED)}) "
            "OR (t.reason = ? AND t.detail LIKE '%' || ? || '%'))"
        )
        rows = self._rows(sql, (project_id, *_UNFINISHED, EvidenceReason.PARTIAL, CUT_HITS))
        return {(Scanner(row[0]), path_from_db(row[1])) for row in rows}
