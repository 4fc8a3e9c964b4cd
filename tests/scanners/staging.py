"""What the scanner tests share: staged files from text, fake cores, and the real scanners over a few files."""

import sys
import tempfile
import unittest
from collections.abc import Mapping
from pathlib import Path

from appsecgate.model import EvidenceReason, Hit, Scanner, TargetEvidence
from appsecgate.scanners.base import Adapter, Installation, StagedFile
from appsecgate.scanners.runner import ScannerRun, run_adapter
from appsecgate.scanners.stage import Stage
from appsecgate.workspace import source_from_bytes

FAKE_CORE = Path(__file__).resolve().parent.parent / "fakes" / "scanner_core.py"


class StageCase(unittest.TestCase):
    """A test with a stage of its own."""

    def setUp(self) -> None:
        self.stage = Stage()
        self.stage.__enter__()
        self.addCleanup(self.stage.__exit__, None, None, None)

    def put(self, path: str, text: str | bytes) -> StagedFile:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        return self.stage.add(source_from_bytes(path, data))

    def scan(self, adapter: Adapter, tool: Installation, files: Mapping[str, str | bytes]) -> ScannerRun:
        """Run over those of the files that the adapter accepts."""
        staged = [self.put(path, text) for path, text in files.items()]
        wanted = [
            file for file in staged if adapter.accepts(file.path, file.language, file.kinds) is EvidenceReason.NONE
        ]
        return run_adapter(adapter, tool, wanted, stage=self.stage)

    def cut(self, hit: Hit) -> str:
        """The characters that a hit points at."""
        source = self.stage.source(hit.path)
        return source.slice(hit.line_start, hit.col_start, hit.line_end, hit.col_end)


class FakeCoreCase(StageCase):
    """A test with fake cores: real executables in a temporary directory."""

    def setUp(self) -> None:
        super().setUp()
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-fake-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)

    def fake_core(self, behaviour: str) -> Installation:
        program = self.directory / f"core-{behaviour}"
        program.write_text(f"#!{sys.executable}\n{FAKE_CORE.read_text(encoding='utf-8')}", encoding="utf-8")
        program.chmod(0o700)
        return Installation(Scanner.SEMGREP, "0", (str(program),))


def evidence_of(run: ScannerRun, path: str) -> TargetEvidence:
    return next(item for item in run.targets if item.path == path)


def places(run: ScannerRun) -> list[tuple[str, str, int]]:
    return sorted((hit.path, hit.rule_id, hit.line_start) for hit in run.hits)
