"""Whatever a scanner does, every target ends with exactly one evidence."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from appsecgate.model import EvidenceReason, EvidenceState, Scanner, SentinelState
from appsecgate.process import CancelToken, Completed, Limits
from appsecgate.scanners.base import Batch, Installation, Invocation, Report, StagedFile
from appsecgate.scanners.runner import ScannerRun, run_adapter
from appsecgate.scanners.semgrep import SemgrepAdapter
from appsecgate.scanners.semgrep_rules import builtin_rules, make_rule_pack
from tests.scanners.staging import FakeCoreCase, evidence_of, places

BAD = "eval(x)\n"


class TightAdapter(SemgrepAdapter):
    """The semgrep adapter with limits that a test can wait for."""

    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        plan = super().invocation(batch, tool, run_dir, service)
        return replace(plan, limits=Limits(timeout_s=20, max_output_bytes=4 << 20))


class HastyAdapter(SemgrepAdapter):
    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        return replace(super().invocation(batch, tool, run_dir, service), limits=Limits(timeout_s=1))


class BuggyAdapter(SemgrepAdapter):
    def parse(self, completed: Completed, batch: Batch, tool: Installation, run_dir: Path) -> Report:
        raise KeyError("sk_" + "live_secret")


class LostAdapter(SemgrepAdapter):
    def batches(self, targets: Sequence[StagedFile], companions: Sequence[StagedFile]) -> Sequence[Batch]:
        return [Batch(tuple(targets[1:]))]


class EscapingAdapter(SemgrepAdapter):
    def invocation(self, batch: Batch, tool: Installation, run_dir: Path, service: str) -> Invocation:
        return replace(super().invocation(batch, tool, run_dir, service), files={"../../outside": b""})


class RunnerTest(FakeCoreCase):
    def setUp(self) -> None:
        super().setUp()
        self.pack = make_rule_pack(builtin_rules())
        self.files = [self.put("src/a.py", BAD), self.put("src/b.py", "x = 1\n")]

    def run_core(self, behaviour: str, adapter: SemgrepAdapter | None = None) -> ScannerRun:
        adapter = adapter or TightAdapter(self.pack)
        return run_adapter(adapter, self.fake_core(behaviour), self.files, stage=self.stage)

    def test_an_honest_scanner_is_believed(self) -> None:
        run = self.run_core("honest")
        self.assertEqual(places(run), [("src/a.py", "python-eval", 1)])
        self.assertEqual({item.state for item in run.targets}, {EvidenceState.APPLIED})
        self.assertEqual((run.sentinel, run.targets_seen, run.dropped), (SentinelState.ALIVE, 2, 0))
        self.assertRegex(run.started_at, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_no_broken_run_looks_clean(self) -> None:
        cases = {
            "flood-stdout": EvidenceReason.OUTPUT_TOO_LARGE,
            "million": EvidenceReason.OUTPUT_TOO_LARGE,
            "crash-mid-report": EvidenceReason.SCANNER_FAILED,
            "exit-2": EvidenceReason.SCANNER_FAILED,
            "garbage-first": EvidenceReason.SCANNER_FAILED,
            "too-deep": EvidenceReason.SCANNER_FAILED,
            "empty-report": EvidenceReason.NOT_REPORTED,
            "blind": EvidenceReason.SENTINEL_MISSED,
            "wrong-types": EvidenceReason.SCANNER_FAILED,
        }
        for behaviour, reason in cases.items():
            with self.subTest(behaviour):
                run = self.run_core(behaviour)
                self.assertEqual([item.path for item in run.targets], ["src/a.py", "src/b.py"])
                for item in run.targets:
                    self.assertEqual((item.state, item.reason), (EvidenceState.NOT_VERIFIED, reason))
                    self.assertEqual(item.sha256, next(f.sha256 for f in self.files if f.path == item.path))

    def test_a_hanging_scanner_is_ended_in_time(self) -> None:
        begun = time.monotonic()
        run = self.run_core("hang", HastyAdapter(self.pack))
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.SCANNER_TIMEOUT})

    def test_the_calls_own_deadline_has_a_reason_of_its_own(self) -> None:
        for left_s in (-1.0, 1.0):
            with self.subTest(left_s=left_s):
                run = run_adapter(
                    TightAdapter(self.pack),
                    self.fake_core("hang"),
                    self.files,
                    stage=self.stage,
                    deadline=time.monotonic() + left_s,
                )
                self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.TIME_BUDGET})

    def test_a_cancelled_run_says_so(self) -> None:
        cancel = CancelToken()
        cancel.cancel()
        run = run_adapter(
            TightAdapter(self.pack), self.fake_core("honest"), self.files, stage=self.stage, cancel=cancel
        )
        self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.CANCELLED})

    def test_a_missing_scanner_says_so(self) -> None:
        tool = Installation(Scanner.SEMGREP, "0", (str(self.directory / "nothing"),))
        run = run_adapter(TightAdapter(self.pack), tool, self.files, stage=self.stage)
        self.assertEqual({item.reason for item in run.targets}, {EvidenceReason.SCANNER_MISSING})

    def test_noise_on_stderr_and_children_left_behind_do_no_harm(self) -> None:
        for behaviour in ("flood-stderr", "fork-survivor"):
            with self.subTest(behaviour):
                self.assertEqual(places(self.run_core(behaviour)), [("src/a.py", "python-eval", 1)])

    def test_hits_about_unknown_files_and_rules_are_dropped_and_counted(self) -> None:
        run = self.run_core("other-file")
        self.assertEqual((places(run), run.dropped), ([("src/a.py", "python-eval", 1)], 2))

    def test_a_target_that_the_report_leaves_out_is_named(self) -> None:
        run = self.run_core("forgetful")
        self.assertIs(evidence_of(run, "src/a.py").reason, EvidenceReason.NOT_REPORTED)
        self.assertIs(evidence_of(run, "src/b.py").state, EvidenceState.APPLIED)

    def test_hits_are_kept_although_the_sentinel_is_dead(self) -> None:
        run = self.run_core("blind")
        self.assertEqual(places(run), [("src/a.py", "python-eval", 1)])
        self.assertIs(run.sentinel, SentinelState.MISSED)

    def test_one_file_that_crashes_the_scanner_does_not_hide_the_others(self) -> None:
        files = {f"f{number}.py": BAD for number in range(20)} | {"bad.py": "CRASH\n"}
        run = self.scan(TightAdapter(self.pack), self.fake_core("crash-on-mark"), files)
        self.assertEqual(len(run.hits), 20)
        self.assertIs(evidence_of(run, "bad.py").reason, EvidenceReason.SCANNER_FAILED)
        self.assertEqual(sum(item.state is EvidenceState.APPLIED for item in run.targets), 20)

    def test_a_bug_in_an_adapter_is_evidence_and_quotes_nothing(self) -> None:
        run = self.run_core("honest", BuggyAdapter(self.pack))
        for item in run.targets:
            self.assertIs(item.reason, EvidenceReason.SCANNER_FAILED)
            self.assertEqual(item.detail, "internal error: KeyError")

    def test_a_target_that_the_adapter_forgets_is_named(self) -> None:
        run = self.run_core("honest", LostAdapter(self.pack))
        self.assertIs(evidence_of(run, "src/a.py").reason, EvidenceReason.NOT_REPORTED)
        self.assertIs(evidence_of(run, "src/b.py").state, EvidenceState.APPLIED)

    def test_no_file_of_a_run_leaves_its_directory(self) -> None:
        run = self.run_core("honest", EscapingAdapter(self.pack))
        self.assertEqual({item.detail for item in run.targets}, {"internal error: ValueError"})
        self.assertFalse((self.stage.root / "outside").exists())

    def test_nothing_to_do_starts_nothing(self) -> None:
        run = run_adapter(TightAdapter(self.pack), self.fake_core("hang"), [], stage=self.stage)
        self.assertEqual((run.targets, run.hits, run.sentinel), ((), (), SentinelState.NOT_RUN))

    def test_the_scanners_own_words_pass_through_the_redactor_or_stay_away(self) -> None:
        tool = self.fake_core("crash-mid-report")
        silent = run_adapter(TightAdapter(self.pack), tool, self.files, stage=self.stage)
        told = run_adapter(
            TightAdapter(self.pack), tool, self.files, stage=self.stage, redact=lambda text: f"<{len(text)}>"
        )
        self.assertRegex(silent.targets[0].detail, r"^no JSON report \(exit status -11\)$")
        self.assertRegex(told.targets[0].detail, r"; <\d+>$")

    def test_run_directories_are_gone_afterwards(self) -> None:
        self.run_core("honest")
        self.assertEqual([path.name for path in self.stage.root.iterdir()], ["files"])
