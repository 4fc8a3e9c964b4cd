"""What did not run never looks clean: the table of silent zeros, and the surroundings that bring them about."""

import contextlib
import os
import resource
import subprocess
import time
from collections.abc import Iterable, Mapping
from typing import Any

from appsecgate.model import EvidenceReason, EvidenceState, Scanner, ScanVerdict, TargetEvidence
from appsecgate.scan.intake import StagingReader
from appsecgate.scan.result import ScanResult
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.scanners.manifests import parse_manifest, resolve_manifests
from appsecgate.scanners.stage import Stage
from appsecgate.session import Session
from appsecgate.store.advisory_import import import_advisories
from appsecgate.tools.scan_diff import ScanDiffInput, scan_diff
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from appsecgate.tools.scanned import control_of
from appsecgate.views import view_missing
from appsecgate.workspace import LeftOut, Workspace
from tests.evidence.silent_inputs import ALL, MODULES, Silent
from tests.evidence.surroundings import ADVISORIES_ARE_FRESH, modes, scan, unprivileged
from tests.support import OSV_EXAMPLES, ScannerCase, TempCase, call, options


class SilentZeroTable(ScannerCase):
    def test_every_input_is_found_or_named_with_its_reason(self) -> None:
        self.assertGreaterEqual(len(ALL), 50)
        self.assertEqual({entry.scanner for entry in ALL}, set(Scanner))
        for entry in ALL:
            self.write(entry.path, entry.content)
            for path, content in entry.beside:
                if content.startswith("-> "):
                    (self.project / path).symlink_to(content[3:])
                else:
                    self.write(path, content)
        import_advisories(OSV_EXAMPLES, self.data, ADVISORIES_ARE_FRESH)
        session = self.opened(Session(options(self.project, self.data), clock=lambda: ADVISORIES_ARE_FRESH))
        result = scan(session)
        missing = view_missing(result.evidence, result.targets, complete=False)
        named = {(item.scanner, item.reason): item for item in missing}
        for entry in ALL:
            with self.subTest(entry.what, path=entry.path):
                target = self._told(entry, result)
                if entry.reason is not None:
                    self.assertTrue(named[entry.scanner, target.reason].mend)

    def _told(self, entry: Silent, result: ScanResult) -> TargetEvidence:
        target = result.target(entry.scanner, entry.path)
        assert target is not None, "no evidence at all"
        found = [f for f in result.findings if f.scanner is entry.scanner and f.file_path == entry.path]
        if entry in MODULES:
            found = [f for f in found if f.rule_id == "CKV_AWS_20"]
        if entry.reason is None:
            self.assertGreaterEqual(len(found), entry.found, target)
            self.assertEqual(target.state, EvidenceState.APPLIED, target)
        else:
            self.assertEqual(target.state, EvidenceState.NOT_VERIFIED, target)
            self.assertIn(target.reason, (entry.reason, *entry.also), target)
        return target


Answer = tuple[ScanVerdict, set[tuple[Scanner, EvidenceReason]]]


class SilentZeroSurroundings(TempCase):
    """Where it is not the file's content that keeps a scanner from looking. Hardly any scanner is started here."""

    def answer(self, settings: Mapping[str, Any] | None = None) -> Answer:
        with contextlib.closing(Session(options(self.project, self.data, settings))) as session:
            result = scan(session)
        missing = view_missing(result.evidence, result.targets, complete=result.complete)
        self.assertEqual(result.complete, not missing, "what is incomplete says what is missing")
        self.assertTrue(all(item.mend for item in missing))
        return result.verdict, {(item.scanner, item.reason) for item in missing}

    def reason(self, result: ScanResult, path: str) -> EvidenceReason:
        target = result.target(Scanner.SEMGREP, path)
        assert target is not None
        return target.reason

    def assert_missing(self, answer: Answer, scanners: Iterable[Scanner], reason: EvidenceReason) -> None:
        verdict, missing = answer
        self.assertEqual(verdict, ScanVerdict.INCOMPLETE)
        for scanner in scanners:
            self.assertIn((scanner, reason), missing)

    def test_nothing_at_all_is_not_clean(self) -> None:
        self.assert_missing(self.answer(), Scanner, EvidenceReason.NOT_APPLICABLE)

    def test_pictures_alone_are_not_clean(self) -> None:
        self.write("a.png", b"\x89PNG\r\n\x1a\n" + bytes(64))
        self.assert_missing(self.answer(), Scanner, EvidenceReason.NOT_APPLICABLE)

    def test_without_a_scanner_every_file_of_its_business_is_named(self) -> None:
        self.write("a.py", "x = 1\n")
        self.write("requirements.txt", "requests==2.31.0\n")
        self.write("Dockerfile", "FROM scratch\n")
        answer = self.answer()
        self.assert_missing(answer, Scanner, EvidenceReason.SCANNER_MISSING)

    def test_a_scanner_that_was_switched_off_is_named(self) -> None:
        self.write("a.py", "x = 1\n")
        answer = self.answer({"scanners.enabled": ["detect-secrets"]})
        self.assert_missing(answer, [Scanner.SEMGREP], EvidenceReason.SCANNER_DISABLED)

    def test_a_larger_file_is_named(self) -> None:
        self.write("big.py", "x = 1\n" * 1000)
        answer = self.answer({"limits.max_file_bytes": 1000})
        self.assert_missing(answer, [Scanner.SEMGREP, Scanner.DETECT_SECRETS], EvidenceReason.TOO_LARGE)

    def test_more_files_than_are_taken_are_named_for_every_scanner(self) -> None:
        for number in range(9):
            self.write(f"{number}.png", b"\0\1")
        self.assert_missing(self.answer({"limits.max_files": 5}), Scanner, EvidenceReason.TOO_MANY_FILES)

    def test_a_tree_that_is_too_deep_is_named_for_every_scanner(self) -> None:
        self.write(f"{'d/' * 80}a.py", "x = 1\n")
        self.assert_missing(self.answer(), Scanner, EvidenceReason.TOO_MANY_FILES)

    def test_links_out_of_the_project_are_named_and_not_followed(self) -> None:
        outside = self.tmp / "outside"
        outside.mkdir()
        (outside / "evil.py").write_text("eval(input())\n")
        (self.project / "linked.py").symlink_to(outside / "evil.py")
        self.assert_missing(
            self.answer(), [Scanner.SEMGREP, Scanner.DETECT_SECRETS], EvidenceReason.OUTSIDE_PROJECT
        )
        (self.project / "linked.py").unlink()
        (self.project / "src").symlink_to(outside)
        self.assert_missing(self.answer(), Scanner, EvidenceReason.OUTSIDE_PROJECT)

    def test_a_pipe_under_the_name_of_a_source_file_is_named(self) -> None:
        os.mkfifo(self.project / "app.py")
        self.assert_missing(self.answer(), [Scanner.SEMGREP], EvidenceReason.NOT_REGULAR)

    def test_what_cannot_be_read_is_named(self) -> None:
        self.write("secret/a.py", "x = 1\n")
        self.write("b.py", "x = 1\n")
        with unprivileged(self.tmp), modes(0, self.project / "secret", self.project / "b.py"):
            answer = self.answer()
        self.assert_missing(answer, Scanner, EvidenceReason.UNREADABLE)

    def test_other_peoples_directories_are_named_and_do_not_count(self) -> None:
        """A decision: no JavaScript project would ever be clean otherwise. Named in a call, they are scanned."""
        self.write("node_modules/a/index.js", "eval(location.hash)\n")
        with contextlib.closing(Session(options(self.project, self.data))) as session:
            result = scan(session)
            self.assertIn(("node_modules", EvidenceReason.VENDORED), {(t.path, t.reason) for t in result.targets})
            self.assertEqual(result.verdict, ScanVerdict.INCOMPLETE, "nothing else is here, so nobody looked at anything")
            result = scan(session, "node_modules")
            self.assertEqual(self.reason(result, "node_modules/a/index.js"), EvidenceReason.SCANNER_MISSING)

    def test_dependencies_of_other_ecosystems_are_named_and_not_counted_as_none(self) -> None:
        self.write("package.json", '{"dependencies": {"left-pad": "1"}}\n')
        with contextlib.closing(Session(options(self.project, self.data))) as session:
            shown = scan_project(call(session), ScanProjectInput())
        self.assertIn(("package.json", EvidenceReason.UNSUPPORTED_FORMAT), {(v.path, v.reason) for v in shown.left_out})
        self.assertIsNone(shown.summary.by_category["sca"])

    def test_archives_are_named(self) -> None:
        self.write("vendor.tar.gz", b"\x1f\x8b" + bytes(64))
        with contextlib.closing(Session(options(self.project, self.data))) as session:
            shown = scan_project(call(session), ScanProjectInput())
        self.assertIn(("vendor.tar.gz", EvidenceReason.UNSUPPORTED_FORMAT), {(v.path, v.reason) for v in shown.left_out})
        self.assertEqual(shown.verdict, ScanVerdict.INCOMPLETE)

    def test_a_file_that_vanished_is_named(self) -> None:
        self.write("a.py", "x = 1\n")
        with contextlib.closing(Session(options(self.project, self.data))) as session:
            request = whole_project(session)
            (self.project / "a.py").unlink()
            result = run_scan(session, request, control_of(call(session)))
        self.assertEqual(self.reason(result, "a.py"), EvidenceReason.FILE_MISSING)
        self.assertEqual(result.verdict, ScanVerdict.INCOMPLETE)

    def test_what_the_temporary_directory_cannot_take_is_named(self) -> None:
        self.write("a.py", "x = 1\n" * 10)
        workspace = Workspace.open(self.project, key=None)
        with Stage() as stage:
            full = StagingReader(workspace, stage, max_file_bytes=1000, max_staged_bytes=10).staged("a.py")
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
            try:
                refused = StagingReader(workspace, stage, max_file_bytes=1000).staged("a.py")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        for found, reason in ((full, EvidenceReason.TOO_LARGE), (refused, EvidenceReason.UNREADABLE)):
            assert isinstance(found, LeftOut)
            self.assertEqual(found.reason, reason)

    def test_no_time_is_no_proof(self) -> None:
        self.write("a.py", "x = 1\n")
        with contextlib.closing(Session(options(self.project, self.data))) as session:
            result = run_scan(session, whole_project(session), control_of(call(session, seconds=0)))
        self.assertEqual(self.reason(result, "a.py"), EvidenceReason.TIME_BUDGET)

    def test_what_is_staged_and_in_no_file_is_named(self) -> None:
        def git(*words: str) -> None:
            identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
            subprocess.run(["git", *identity, *words], cwd=self.project, check=True, capture_output=True)

        self.write("a.txt", "x\n")
        git("init", "-q")
        git("add", "-A")
        git("commit", "-qm", "c")
        with contextlib.closing(Session(options(self.project, self.data))) as session:
            self.assertEqual(scan_diff(call(session), ScanDiffInput()).verdict, ScanVerdict.CLEAN)
            self.write("a.txt", "evil\n")
            git("add", "-A")
            self.write("a.txt", "x\n")
            self.assertEqual(scan_diff(call(session), ScanDiffInput()).verdict, ScanVerdict.INCOMPLETE)
            (self.project / "a.txt").unlink()
            self.assertEqual(scan_diff(call(session), ScanDiffInput()).verdict, ScanVerdict.INCOMPLETE)
            git("reset", "-q", "--hard")
            self.write("inner/a.txt", "x\n")
            git("init", "-q", "inner")
            shown = scan_diff(call(session), ScanDiffInput())
            self.assertEqual({item.reason for item in shown.missing}, {EvidenceReason.PARTIAL})

    def test_links_to_where_no_scan_goes_are_named(self) -> None:
        self.write("node_modules/a.py", "eval(input())\n")
        (self.project / "main.py").symlink_to("node_modules/a.py")
        (self.project / "src").symlink_to("node_modules")
        self.assert_missing(self.answer(), Scanner, EvidenceReason.OUTSIDE_PROJECT)

    def test_files_that_would_keep_a_parser_busy_are_refused(self) -> None:
        begun = time.monotonic()
        long_key = "a" + ".a" * 200_000 + " = 1\n"
        for text, words in ((long_key, "parts"), ("#" * (3 << 20), "characters")):
            (problem,) = parse_manifest("pyproject.toml", text).requirements
            self.assertEqual(problem.problem, EvidenceReason.PARSE_FAILED)
            self.assertIn(words, problem.detail)
        names = [f"r{number}.txt" for number in range(200)]
        web = dict.fromkeys(names, "".join(f"-r {name}\n" for name in names))
        for requirements in resolve_manifests(names, web).values():
            self.assertIn(EvidenceReason.PARTIAL, {item.problem for item in requirements})
        self.assertLess(time.monotonic() - begun, 20)
