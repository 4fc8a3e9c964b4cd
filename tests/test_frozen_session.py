"""One scan, one configuration: what other calls set meanwhile is for the next; and a bug in a scan leaves a trace."""

import contextlib
import io
import threading
import time
import unittest

from appsecgate.bugs import MAX_BUG_CHARS, MAX_SCAN_BUGS
from appsecgate.model import EvidenceReason, Scanner
from appsecgate.process import CancelToken
from appsecgate.scan.execute import run_shares
from appsecgate.scan.plan import Share
from appsecgate.scan.result import ScanKind, ScanRequest
from appsecgate.scan.run import run_scan
from appsecgate.scanners.base import StagedFile
from appsecgate.scanners.secrets import SecretsAdapter
from appsecgate.scanners.stage import Stage
from appsecgate.session import Control, Session
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from appsecgate.tools.update_config import UpdateConfigInput, update_config
from appsecgate.workspace import source_from_bytes
from tests.support import AWS_KEY, TempCase, call, options

RULES = '{"rules": [{"id": "own", "languages": ["python"], "severity": "ERROR", "message": "m", "pattern": "f()"}]}'


class BrokenAdapter(SecretsAdapter):
    """An adapter with a bug whose message quotes the project."""

    def ruleset_hash(self) -> str:
        raise LookupError(f"not in the table: {AWS_KEY}" + " very long" * 2_000)


def control() -> Control:
    return Control(CancelToken(), time.monotonic() + 60)


class FrozenSessionCase(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.session = Session(options(self.project, self.data))
        self.addCleanup(self.session.close)
        self.write("app.py", "x = 1\n")


class FrozenSessionTest(FrozenSessionCase):
    def test_what_is_set_meanwhile_is_for_the_next(self) -> None:
        self.write("rules.json", RULES)
        frozen = self.session.frozen()
        before = (frozen.config.hash, frozen.adapter(Scanner.SEMGREP).ruleset_hash())
        patch = UpdateConfigInput({"scanners.semgrep.rules": ["builtin", "rules.json"], "limits.max_files": 5000})
        update_config(call(self.session), patch)
        frozen.refresh()
        self.assertEqual((frozen.config.hash, frozen.adapter(Scanner.SEMGREP).ruleset_hash()), before)
        self.assertIs(frozen.frozen(), frozen)
        after = self.session.frozen()
        self.assertEqual(after.config.limits.max_files, 5000)
        self.assertNotEqual(after.adapter(Scanner.SEMGREP).ruleset_hash(), before[1])

    def test_the_scanners_are_made_once_for_all_scans_under_one_configuration(self) -> None:
        self.assertIs(self.session.frozen().adapters, self.session.frozen().adapters)

    def test_each_scans_evidence_names_the_configuration_that_it_was_done_under(self) -> None:
        self.write("rules.json", RULES)
        ended = threading.Event()

        def keep_changing() -> None:
            rules: list[list[str]] = [["builtin", "rules.json"], ["builtin"]]
            while not ended.is_set():
                rules.reverse()
                update_config(call(self.session), UpdateConfigInput({"scanners.semgrep.rules": [*rules[0]]}))

        changing = threading.Thread(target=keep_changing)
        changing.start()
        try:
            for _ in range(40):
                run_scan(self.session, ScanRequest(ScanKind.FILE, ("app.py",)), control())
        finally:
            ended.set()
            changing.join()
        with self.session.store.read() as reader:
            scans = reader.scans(self.session.project_id, 100)
        done_under = {
            (scan.record.config_hash, row.ruleset_hash)
            for scan in scans
            for row in scan.evidence
            if row.scanner is Scanner.SEMGREP
        }
        self.assertLessEqual(len(done_under), len({config for config, _ in done_under}), done_under)

    def test_the_walk_over_the_project_heeds_the_configuration_that_its_evidence_names(self) -> None:
        self.write("other.py", "y = 1\n")
        (self.data / "config.toml").write_text("limits.max_files = 1\n")
        scanned = scan_project(call(self.session), ScanProjectInput())
        self.assertIn(EvidenceReason.TOO_MANY_FILES, {row.reason for row in scanned.missing})


class ScanBugTest(FrozenSessionCase):
    def broken_scan(self) -> tuple[str, str]:
        """What stderr got, and what the evidence says of the file."""
        said = io.StringIO()
        with Stage() as stage, contextlib.redirect_stderr(said):
            file: StagedFile = stage.add(source_from_bytes("app.py", b"x = 1\n"))
            share = Share(BrokenAdapter(), None, (file,), ())
            (brought,) = run_shares(self.session, [share], stage, control())
        (row,) = brought.targets
        self.assertEqual(row.reason, EvidenceReason.SCANNER_FAILED)
        return said.getvalue(), row.detail

    def test_its_traceback_is_on_stderr_under_the_reference_that_the_evidence_names(self) -> None:
        said, detail = self.broken_scan()
        self.assertRegex(detail, r"^internal error: LookupError, reference [0-9a-f]{8} in stderr$")
        self.assertIn(detail.split()[4], said)
        self.assertNotIn(AWS_KEY, said + detail)
        self.assertLess(len(said), MAX_BUG_CHARS + 200)

    def test_the_place_in_our_code_is_named(self) -> None:
        error = LookupError("short")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                raise error
            except LookupError as caught:
                self.session.note_bug(caught)
        self.assertIn("test_the_place_in_our_code_is_named", said.getvalue())

    def test_there_is_a_bound_on_how_much_is_said(self) -> None:
        words = [self.broken_scan()[0] for _ in range(MAX_SCAN_BUGS + 2)]
        self.assertEqual([bool(text) for text in words], [True] * MAX_SCAN_BUGS + [False] * 2)


if __name__ == "__main__":
    unittest.main()
