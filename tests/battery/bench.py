"""Runs battery entries on the real scanners: scan, edit, claim "fixed", compare. In process, few scanner starts."""

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from appsecgate.model import Finding, FixStatus
from appsecgate.process import CancelToken
from appsecgate.scan.result import ScanKind, ScanRequest
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Control, Session
from appsecgate.verify import VerifyResult, check_claim, verify_claims
from tests.battery.arrival_entries import arrival_entries
from tests.battery.code_entries import code_entries
from tests.battery.disguise_entries import disguise_entries
from tests.battery.entry import Entry
from tests.battery.iac_entries import iac_entries
from tests.battery.sca_entries import sca_entries
from tests.battery.secret_disguise_entries import secret_disguise_entries
from tests.battery.secret_entries import secret_entries
from tests.support import OSV_EXAMPLES, PACKAGE, link_scanners, options, run_cli

BATCH = 20
PLAIN = "plain"
SCAN_BETWEEN = "scan-between"
"""The project is scanned between the edit and the claim, as agents like to do."""
FILES_ONLY = "files-only"
"""Nothing but the flagged file was scanned before: nobody knows what stood elsewhere."""
MODES = (PLAIN, SCAN_BETWEEN, FILES_ONLY)


@dataclass(frozen=True)
class Outcome:
    entry: Entry
    result: VerifyResult | None
    problem: str
    """Why the answer is not the right one, or ""."""

    @property
    def right(self) -> bool:
        return not self.problem


def all_entries() -> list[Entry]:
    code = [*code_entries(), *disguise_entries(), *arrival_entries()]
    entries = [*code, *secret_entries(), *secret_disguise_entries(), *iac_entries(), *sca_entries()]
    names = [entry.name for entry in entries]
    assert len(set(names)) == len(names), "two entries have one name"
    return entries


def control() -> Control:
    return Control(CancelToken(), time.monotonic() + 300)


@contextlib.contextmanager
def bench(parent: Path | None = None) -> Iterator["Bench"]:
    with tempfile.TemporaryDirectory(prefix="appsecgate-battery-", dir=parent) as holder:
        yield Bench(Path(holder).resolve())


class Bench:
    """A directory with a data directory for all runs and a project for each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._data = root / "data"
        self._count = 0
        link_scanners(self._data)
        status, out, err = run_cli(PACKAGE, self._data, "advisories", "import", str(OSV_EXAMPLES))
        assert status == 0, out + err

    def run(self, entries: Sequence[Entry], *, mode: str = PLAIN) -> list[Outcome]:
        """All entries, as many in one project as can be without being taken for one another."""
        done = {
            outcome.entry.name: outcome
            for group in grouped(entries)
            for outcome in self.run_group(group, mode=mode)
        }
        return [done[entry.name] for entry in entries]

    def run_group(self, entries: Sequence[Entry], *, mode: str) -> list[Outcome]:
        self._count += 1
        project = self._root / f"project-{self._count}"
        for entry in entries:
            entry.lay_out(project / entry.name)
            if entry.git:
                make_repository(project, commit=entry.git == "commit")
        with contextlib.closing(Session(options(project, self._data))) as session:
            claimed = _claimed(session, entries, mode)
            for entry in entries:
                entry.edit(project / entry.name)
            if mode == SCAN_BETWEEN:
                run_scan(session, whole_project(session), control())
            results = _verified(session, claimed)
            outcomes = [_outcome(entry, claimed, results, session) for entry in entries]
        shutil.rmtree(project)
        return outcomes


def grouped(entries: Sequence[Entry]) -> list[list[Entry]]:
    """At most a batch per project; of entries that move files one of each dialect, alone what wants to be alone."""
    groups: list[tuple[str, list[Entry]]] = []
    for entry in entries:
        kind = "alone" if entry.alone or entry.git else "moves" if entry.moves else str(entry.scanner)
        for known, members in groups:
            dialects = {member.dialect for member in members}
            if known == kind != "alone" and len(members) < BATCH and not (entry.moves and entry.dialect in dialects):
                members.append(entry)
                break
        else:
            groups.append((kind, [entry]))
    return [members for _, members in groups]


def make_repository(project: Path, *, commit: bool) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    steps = [["init", "-q"]] + ([["add", "-A"], ["commit", "-q", "-m", "first"]] if commit else [])
    for step in steps:
        subprocess.run([*git, *step], cwd=project, check=True, stdin=subprocess.DEVNULL)


def _claimed(session: Session, entries: Sequence[Entry], mode: str) -> dict[str, Finding]:
    """Entry name → the finding that is claimed."""
    flagged = tuple(f"{entry.name}/{entry.flagged_path}" for entry in entries)
    request = ScanRequest(ScanKind.FILE, flagged) if mode == FILES_ONLY else whole_project(session)
    found = run_scan(session, request, control()).findings
    claimed = {}
    for entry in entries:
        path = f"{entry.name}/{entry.flagged_path}"
        lines = (session.workspace.root / path).read_text().split("\n")
        needle = entry.filled(entry.needle)
        hits = [
            one
            for one in sorted(found, key=lambda one: one.line_start)
            if one.file_path == path
            and one.rule_id == entry.rule
            and needle in "\n".join(lines[one.line_start - 1 : one.line_end])
        ]
        if hits:
            claimed[entry.name] = hits[0]
    return claimed


def _verified(session: Session, claimed: dict[str, Finding]) -> dict[str, VerifyResult]:
    names = list(claimed)
    results: dict[str, VerifyResult] = {}
    for start in range(0, len(names), BATCH):
        part = names[start : start + BATCH]
        with session.store.read() as reader:
            stored = [reader.finding(session.project_id, claimed[name].logical_id) for name in part]
        claims = [check_claim(item, FixStatus.FIXED, "") for item in stored if item is not None]
        answers, _ = verify_claims(session, claims, control())
        results.update(zip(part, answers, strict=True))
    return results


def _outcome(
    entry: Entry, claimed: dict[str, Finding], results: dict[str, VerifyResult], session: Session
) -> Outcome:
    if entry.name not in claimed:
        return Outcome(entry, None, "the finding was not found before the edit")
    result = results[entry.name]
    problems = []
    if result.verified_status is not entry.status:
        problems.append(f"{result.verified_status}, not {entry.status}")
    if result.reason_code not in entry.codes.split():
        problems.append(f"{result.reason_code}, not {entry.codes}: {result.reason}")
    if entry.place not in result.reason:
        problems.append(f"{entry.place} is not named in: {result.reason}")
    if result.logical_id != claimed[entry.name].logical_id:
        problems.append("another logical id")
    if entry.introduced:
        with session.store.read() as reader:
            brought = {item.finding.rule_id for item in reader.findings_by_id(session.project_id, result.new_findings)}
        if not set(entry.introduced) <= brought:
            problems.append(f"introduced {sorted(brought)}, not {entry.introduced}")
    return Outcome(entry, result, "; ".join(problems))


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The table and its sums."""
    lines = ["| kind | scanner | dialect | edit | answer | reason | right |", "|---|---|---|---|---|---|---|"]
    for outcome in outcomes:
        entry, result = outcome.entry, outcome.result
        answer, reason = (result.verified_status, result.reason_code) if result else ("none", "none")
        right = "yes" if outcome.right else "NO"
        cells = [entry.case, entry.scanner, entry.dialect, entry.title, answer, reason, right]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    fakes = [outcome for outcome in outcomes if outcome.entry.status is FixStatus.NOT_FIXED]
    honest = [outcome for outcome in outcomes if outcome.entry.status is FixStatus.FIXED]
    accepted = sum(o.result is None or o.result.verified for o in fakes)
    taken = sum(o.result is not None and o.result.verified for o in honest)
    lines += [
        "",
        f"{len(outcomes)} edits. Fakes accepted: {accepted} of {len(fakes)}. Honest edits accepted: {taken} of {len(honest)}. "
        f"Right in every detail: {sum(o.right for o in outcomes)} of {len(outcomes)}.",
    ]
    return "\n".join(lines)
