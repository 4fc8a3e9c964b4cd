"""Runs one adapter over staged files; whatever happens, every target ends with exactly one evidence.

This is the boundary between the scanners' world and ours: a scanner that is missing, hangs, floods, crashes,
lies or answers nonsense, and an adapter with a bug, become evidence here and never an exception.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.errors import CancelledError
from appsecgate.model import EvidenceReason, EvidenceState, Hit, Scanner, SentinelState, TargetEvidence
from appsecgate.process import CancelToken, Completed, Ending, Limits, base_environment, run
from appsecgate.scanners.base import Adapter, Batch, Installation, Invocation, Report, StagedFile
from appsecgate.scanners.pool import WorkerPool
from appsecgate.scanners.stage import Stage, place_bytes, place_copy
from appsecgate.scanners.zygote import RunPlaces

DETAIL_MAX_CHARS = 300
_SHORTEST_RUN_S = 0.2
"""With less time left than this, a process is not worth starting."""
_MOST_RUNS_PER_BATCH = 24
"""Enough to single out one file among a thousand, or two among a hundred."""
_ENDINGS_TO_BELIEVE = frozenset({EvidenceReason.SCANNER_TIMEOUT, EvidenceReason.TIME_BUDGET, EvidenceReason.CANCELLED})
"""Of a worker that is well otherwise: a new process would take as long."""
_DOUBTFUL_REASONS = frozenset(
    {EvidenceReason.SCANNER_FAILED, EvidenceReason.SCANNER_TIMEOUT, EvidenceReason.NOT_REPORTED}
)
_NO_WORKER = Report(failure=EvidenceReason.SCANNER_FAILED)
_CRASHES = frozenset({EvidenceReason.SCANNER_FAILED, EvidenceReason.OUTPUT_TOO_LARGE})


@dataclass(frozen=True, slots=True)
class ScannerRun:
    """What one scanner did with its targets in one scan."""

    scanner: Scanner
    version: str
    ruleset_hash: str
    hits: tuple[Hit, ...]
    """In the report's order; hits about companions and unknown files are not among them."""
    targets: tuple[TargetEvidence, ...]
    """One for every target, in the order given."""
    targets_seen: int
    """Targets that the scanner's own report accounts for."""
    sentinel: SentinelState
    started_at: str
    """UTC, ISO 8601 with ``Z``."""
    duration_ms: int
    dropped: int = 0
    """Hits about files that were not handed over: a scanner that followed a link, or lies."""
    detail: str = ""
    packages: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """See ``Report.packages``."""


def run_adapter(
    adapter: Adapter,
    tool: Installation,
    targets: Sequence[StagedFile],
    companions: Sequence[StagedFile] = (),
    *,
    stage: Stage,
    cancel: CancelToken | None = None,
    deadline: float | None = None,
    redact: Callable[[str], str] | None = None,
    pool: WorkerPool | None = None,
    name_bug: Callable[[Exception], str] | None = None,
) -> ScannerRun:
    """Run the scanner over the targets, batch by batch; by a resident worker of ``pool`` where one can.

    ``deadline`` is a ``time.monotonic()`` moment. ``redact`` is applied to details that quote the scanner's
    own words; without it such words are left out. ``name_bug`` takes note of an adapter's bug and gives the words for
    the evidence; it quotes nothing, since an error's text may hold what the project holds. Never raises for anything a
    scanner, a repository or an adapter does.
    """
    started_at = datetime.now(UTC)
    clock = time.monotonic()
    shift = _Shift(adapter, tool, stage, cancel, deadline, redact, pool, name_bug or _bug_words)
    reports = shift.reports(targets, companions)
    evidence: dict[str, TargetEvidence] = {}
    for batch, report in reports:
        evidence |= {file.path: _batch_evidence(adapter.name, file, report) for file in batch.targets}
    for file in targets:
        evidence.setdefault(
            file.path,
            _not_verified(adapter.name, file, EvidenceReason.NOT_REPORTED, "the adapter left it out"),
        )
    return ScannerRun(
        scanner=adapter.name,
        version=tool.version,
        ruleset_hash=shift.ruleset_hash(),
        hits=tuple(hit for _, report in reports for hit in report.hits),
        targets=tuple(evidence[file.path] for file in targets),
        targets_seen=sum(_is_accounted_for(item) for item in evidence.values()),
        sentinel=_joined_sentinel([report.sentinel for _, report in reports]),
        started_at=started_at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
        duration_ms=round((time.monotonic() - clock) * 1000),
        dropped=sum(report.dropped for _, report in reports),
        detail=next((report.detail for _, report in reports if report.detail), ""),
        packages={path: names for _, report in reports for path, names in report.packages.items()},
    )


def clip_detail(text: str) -> str:
    """One line of at most 300 characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= DETAIL_MAX_CHARS else folded[: DETAIL_MAX_CHARS - 1] + "…"


@dataclass(frozen=True, slots=True)
class _Shift:
    """One call of ``run_adapter``: the things that every batch needs."""

    adapter: Adapter
    tool: Installation
    stage: Stage
    cancel: CancelToken | None
    deadline: float | None
    redact: Callable[[str], str] | None
    pool: WorkerPool | None
    name_bug: Callable[[Exception], str]

    def ruleset_hash(self) -> str:
        try:
            return self.adapter.ruleset_hash()
        except Exception:  # the boundary: a broken rule pack has no hash, and its run says so itself
            return ""

    def reports(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> list[tuple[Batch, Report]]:
        """One report per batch; an adapter that fails before its first process gives one for all targets."""
        everything = Batch(tuple(targets), tuple(companions))
        if not targets:
            return []
        done: list[tuple[Batch, Report]] = []
        try:
            reason, detail = self.adapter.unready()
            if reason is not EvidenceReason.NONE:
                return [(everything, Report(failure=reason, detail=clip_detail(detail)))]
            batches = self.adapter.batches(targets, companions)
            with self.adapter.service() as service:
                for batch in batches:
                    done += self._batch_reports(batch, service)
        except Exception as error:  # the boundary: see the module's docstring
            seen = {file.path for batch, _ in done for file in batch.targets}
            rest = Batch(tuple(file for file in targets if file.path not in seen), everything.companions)
            done.append((rest, self._bug_report(error)))
        return done

    def _batch_reports(self, batch: Batch, service: str) -> list[tuple[Batch, Report]]:
        """One report, or several: a batch that makes the scanner crash is halved until the cause is alone.

        Otherwise one hostile file would keep all the others from being seen. When both first halves fail as
        well, it is the scanner that is broken, and the search ends; it ends after so many runs in any case.
        """
        report = self._guarded_report(batch, service)
        pending, done = [(batch, report)], []
        runs = 1
        while pending:
            part, report = pending.pop()
            if report.failure not in _CRASHES or len(part.targets) < 2 or runs > _MOST_RUNS_PER_BATCH:
                done.append((part, report))
                continue
            middle = len(part.targets) // 2
            halves = [Batch(side, part.companions) for side in (part.targets[middle:], part.targets[:middle])]
            outcomes = [(half, self._guarded_report(half, service)) for half in halves]
            runs += 2
            if part is batch and all(outcome.failure is not EvidenceReason.NONE for _, outcome in outcomes):
                return [(batch, report)]
            pending += outcomes
        return done

    def _guarded_report(self, batch: Batch, service: str) -> Report:
        try:
            report = self._resident_report(batch, service)
            if report is None:
                with self.stage.run_directory() as directory:
                    report = self._report(batch, service, directory)
        except CancelledError:
            return Report(failure=EvidenceReason.CANCELLED)
        except Exception as error:  # the boundary: one batch must not hide the others
            return self._bug_report(error)
        return _checked(report, batch)

    def _resident_report(self, batch: Batch, service: str) -> Report | None:
        """What a worker has to say; None where there is no worker, or where it says anything to be doubted."""
        if self.pool is None:
            return None
        with self.stage.run_directory() as directory:
            report = self._report(batch, service, directory, self.pool)
        return None if _is_doubtful(report) else report

    def _report(self, batch: Batch, service: str, directory: Path, pool: WorkerPool | None = None) -> Report:
        left_s = None if self.deadline is None else self.deadline - time.monotonic()
        if left_s is not None and left_s < _SHORTEST_RUN_S:
            return Report(failure=EvidenceReason.TIME_BUDGET)
        if self.cancel is not None and self.cancel.cancelled:
            return Report(failure=EvidenceReason.CANCELLED)
        run_dir, cwd, temporary = (directory / name for name in ("run", "cwd", "tmp"))
        for path in (run_dir, cwd, temporary):
            path.mkdir(mode=0o700)
        invocation = self.adapter.invocation(batch, self.tool, run_dir, service)
        _lay_out(invocation, run_dir)
        limits = _within(invocation.limits, left_s)
        completed: Completed | None
        if pool is not None:
            completed = pool.answer(invocation, RunPlaces(directory, cwd, temporary), limits, self.cancel)
            if completed is None:
                return _NO_WORKER
        else:
            # The working directory stays empty: some scanners load code or settings from it.
            completed = run(
                invocation.argv,
                cwd=cwd,
                env=base_environment(temporary, invocation.env),
                limits=limits,
                cancel=self.cancel,
                executable=invocation.executable,
                stdin=invocation.stdin,
            )
        return self._understood(completed, batch, run_dir, left_s is not None and left_s < invocation.limits.timeout_s)

    def _understood(self, completed: Completed, batch: Batch, run_dir: Path, out_of_budget: bool) -> Report:
        if completed.ending is not Ending.EXITED:
            return Report(failure=_ending_reason(completed, out_of_budget), detail=self._last_words(completed))
        report = self.adapter.parse(completed, batch, self.tool, run_dir)
        if report.failure is not EvidenceReason.NONE:
            words = self._last_words(completed)
            return replace(report, detail=clip_detail("; ".join(filter(None, (report.detail, words)))))
        return report

    def _bug_report(self, error: Exception) -> Report:
        return Report(failure=EvidenceReason.SCANNER_FAILED, detail=self.name_bug(error))

    def _last_words(self, completed: Completed) -> str:
        if self.redact is None:
            return ""
        return clip_detail(self.redact(completed.stderr[-2000:].decode("utf-8", "replace"))[-DETAIL_MAX_CHARS:])


def _is_doubtful(report: Report) -> bool:
    """Whether a worker's report could owe something to the worker: a new process then has the last word."""
    if report.failure is not EvidenceReason.NONE:
        return report.failure not in _ENDINGS_TO_BELIEVE
    return report.sentinel is not SentinelState.ALIVE or any(
        item.reason in _DOUBTFUL_REASONS for item in report.targets.values()
    )


def _lay_out(invocation: Invocation, run_dir: Path) -> None:
    for name, content in invocation.files.items():
        place_bytes(run_dir, name, content)
    for name, original in invocation.links.items():
        place_copy(run_dir, name, original)


def _within(limits: Limits, left_s: float | None) -> Limits:
    return limits if left_s is None else replace(limits, timeout_s=min(limits.timeout_s, left_s))


def _ending_reason(completed: Completed, out_of_budget: bool) -> EvidenceReason:
    if completed.ending is Ending.TIMEOUT:
        return EvidenceReason.TIME_BUDGET if out_of_budget else EvidenceReason.SCANNER_TIMEOUT
    return {
        Ending.OUTPUT_TOO_LARGE: EvidenceReason.OUTPUT_TOO_LARGE,
        Ending.CANCELLED: EvidenceReason.CANCELLED,
        Ending.NOT_STARTED: EvidenceReason.SCANNER_MISSING,
    }.get(completed.ending, EvidenceReason.SCANNER_FAILED)


def _bug_words(error: Exception) -> str:
    return f"internal error: {type(error).__name__}"


def _checked(report: Report, batch: Batch) -> Report:
    """Keep what is about the batch's targets; a dead sentinel takes every "applied" back."""
    ours = {file.path for file in batch.targets}
    beside = {file.path for file in batch.companions}
    hits = tuple(hit for hit in report.hits if hit.path in ours)
    strays = sum(hit.path not in ours and hit.path not in beside for hit in report.hits)
    if report.failure is EvidenceReason.NONE and report.sentinel is not SentinelState.ALIVE:
        report = replace(
            report,
            sentinel=SentinelState.MISSED,
            targets={path: _without_sentinel(item) for path, item in report.targets.items()},
        )
    return replace(report, hits=hits, dropped=report.dropped + strays)


def _without_sentinel(item: TargetEvidence) -> TargetEvidence:
    if item.state is not EvidenceState.APPLIED:
        return item
    return replace(item, state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.SENTINEL_MISSED)


def _batch_evidence(scanner: Scanner, file: StagedFile, report: Report) -> TargetEvidence:
    if report.failure is not EvidenceReason.NONE:
        return _not_verified(scanner, file, report.failure, report.detail)
    item = report.targets.get(file.path)
    if item is None:
        return _not_verified(scanner, file, EvidenceReason.NOT_REPORTED, "")
    return replace(item, scanner=scanner, path=file.path, sha256=file.sha256, detail=clip_detail(item.detail))


def _not_verified(scanner: Scanner, file: StagedFile, reason: EvidenceReason, detail: str) -> TargetEvidence:
    return TargetEvidence(scanner, file.path, file.sha256, EvidenceState.NOT_VERIFIED, reason, clip_detail(detail))


def _is_accounted_for(item: TargetEvidence) -> bool:
    return item.state is EvidenceState.APPLIED or item.reason in (
        EvidenceReason.PARTIAL,
        EvidenceReason.PARSE_FAILED,
    )


def _joined_sentinel(states: Sequence[SentinelState]) -> SentinelState:
    if SentinelState.MISSED in states:
        return SentinelState.MISSED
    return SentinelState.ALIVE if SentinelState.ALIVE in states else SentinelState.NOT_RUN
