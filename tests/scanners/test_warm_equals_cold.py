"""Resident workers say what new processes say, on several hundred files of all kinds, also while they are killed."""

import os
import random
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from appsecgate.model import EvidenceReason, Scanner
from appsecgate.process import CancelToken, Completed, Limits
from appsecgate.resident import StayLimits
from appsecgate.scanners.base import Adapter, Invocation, StagedFile
from appsecgate.scanners.checkov import CheckovAdapter
from appsecgate.scanners.pip_audit import PipAuditAdapter
from appsecgate.scanners.pool import WorkerPool
from appsecgate.scanners.runner import ScannerRun, run_adapter
from appsecgate.scanners.secrets import SecretsAdapter
from appsecgate.scanners.semgrep import SemgrepAdapter
from appsecgate.scanners.semgrep_rules import builtin_rules, make_rule_pack
from appsecgate.scanners.zygote import RunPlaces
from tests.scanners.advisories import NOW, small_copy
from tests.scanners.installed import require_installed
from tests.scanners.mixed_files import mixed_files
from tests.scanners.staging import StageCase

FILES = 560 if os.environ.get("APPSECGATE_TEST_FULL") == "1" else 130
CHUNK = 40
PATIENT = StayLimits(start_s=120, answer_s=20)


class CountingPool(WorkerPool):
    """Counts the answers, so that a pool that never answers does not pass for one that answers well."""

    def __init__(self, stay: StayLimits = PATIENT) -> None:
        super().__init__(stay)
        self.asked = self.answered = 0

    def answer(
        self, plan: Invocation, places: RunPlaces, limits: Limits, cancel: CancelToken | None = None
    ) -> Completed | None:
        completed = super().answer(plan, places, limits, cancel)
        self.asked += 1
        self.answered += completed is not None
        return completed

    def pids(self) -> list[int]:
        residents = [home._resident for home in list(self._homes.values())]
        residents += [waiting._resident for waiting in list(self._rack._waiting.values())]
        return [resident.child.pid for resident in residents if resident is not None]


def plain(run: ScannerRun) -> dict[str, Any]:
    """All that a run says but times; hits in an order of their own, since checkov's is that of its sets."""
    same = replace(run, started_at="", duration_ms=0)
    return {
        **{name: getattr(same, name) for name in ScannerRun.__dataclass_fields__ if name not in ("hits", "targets")},
        "hits": sorted(repr(astuple(hit)) for hit in run.hits),
        "targets": {item.path: item for item in run.targets},
    }


class WarmCase(StageCase):
    scanners: tuple[Scanner, ...] = tuple(Scanner)

    @classmethod
    def setUpClass(cls) -> None:
        for scanner in cls.scanners:
            require_installed(scanner)

    def setUp(self) -> None:
        super().setUp()
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        index = small_copy(Path(holder.name))
        self.addCleanup(index.close)
        self.pool = CountingPool()
        self.addCleanup(self.pool.close)
        self.adapters: tuple[Adapter, ...] = (
            SemgrepAdapter(make_rule_pack(builtin_rules())),
            SecretsAdapter(),
            PipAuditAdapter(index, clock=lambda: NOW),
            CheckovAdapter(),
        )

    def accepted(self, adapter: Adapter, files: Sequence[StagedFile]) -> list[StagedFile]:
        return [f for f in files if adapter.accepts(f.path, f.language, f.kinds) is EvidenceReason.NONE]

    def chunks(self, adapter: Adapter, files: Sequence[StagedFile]) -> Iterator[list[StagedFile]]:
        """A few at a time, and of one language for semgrep, whose waiting processes have the rules of one."""
        wanted = self.accepted(adapter, files)
        if adapter.name is Scanner.SEMGREP:
            wanted.sort(key=lambda file: file.language)
        start = 0
        for position, file in enumerate(wanted):
            other = adapter.name is Scanner.SEMGREP and file.language != wanted[start].language
            if other or position - start == CHUNK:
                yield wanted[start:position]
                start = position
        yield wanted[start:]

    def run_one(self, adapter: Adapter, targets: Sequence[StagedFile], pool: WorkerPool | None) -> ScannerRun:
        return run_adapter(adapter, require_installed(adapter.name), targets, stage=self.stage, pool=pool)


class WarmEqualsColdTest(WarmCase):
    def test_warm_results_equal_cold_results(self) -> None:
        corpus = mixed_files(FILES)
        self.assertGreaterEqual(len(corpus), FILES * 9 // 10)
        files = [self.put(path, content) for path, content in corpus.items()]
        hits = 0
        for adapter in self.adapters:
            before = self.pool.answered
            for chunk in self.chunks(adapter, files):
                with self.subTest(adapter=adapter.name, first=chunk[0].path):
                    cold = self.run_one(adapter, chunk, None)
                    hits += len(cold.hits)
                    for _ in range(2 if adapter.name is Scanner.SEMGREP else 1):  # the first has nobody waiting
                        self.assertEqual(plain(self.run_one(adapter, chunk, self.pool)), plain(cold))
            with self.subTest(adapter=adapter.name):
                self.assertGreater(self.pool.answered, before)
        self.assertGreater(hits, FILES // 5)
        self.assertGreater(self.pool.answered, self.pool.asked // 3)


class KilledWorkersTest(WarmCase):
    def test_killing_workers_between_and_during_requests_changes_no_result(self) -> None:
        files = [self.put(path, content) for path, content in mixed_files(40).items()]
        dice = random.Random(1)
        over = threading.Event()

        def kill_some() -> None:
            while not over.wait(dice.uniform(0.02, 0.4)):
                for pid in self.pool.pids():
                    if dice.random() < 0.5:
                        os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_some)
        expected = {a.name: plain(self.run_one(a, self.accepted(a, files), None)) for a in self.adapters}
        killer.start()
        try:
            for adapter in self.adapters:
                for number in range(6 if adapter.name is Scanner.DETECT_SECRETS else 3):
                    with self.subTest(adapter=adapter.name, number=number):
                        run = self.run_one(adapter, self.accepted(adapter, files), self.pool)
                        self.assertEqual(plain(run), expected[adapter.name])
        finally:
            over.set()
            killer.join()
