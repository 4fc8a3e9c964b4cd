import json
import tempfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from appsecgate.model import EvidenceReason, EvidenceState, Hit, Json, Scanner, SentinelState, Severity
from appsecgate.process import Completed, Ending
from appsecgate.scanners.base import Batch, Installation
from appsecgate.scanners.pip_audit import PipAuditAdapter
from appsecgate.scanners.runner import ScannerRun, run_adapter
from appsecgate.store.advisory_import import import_advisories
from appsecgate.store.advisory_index import AdvisoryIndex
from tests.scanners.advisories import NOW, small_copy
from tests.scanners.installed import require_installed
from tests.scanners.staging import StageCase, evidence_of

SAMPLE = "appsecgate-known-bad-sample"
NOBODY = Installation(Scanner.PIP_AUDIT, "0", ("pip-audit",))
LOCKS = Path(__file__).resolve().parent.parent / "data" / "locks"


class PipAuditCase(StageCase):
    """Adapters over the small copy, with a clock that a test may move."""

    def setUp(self) -> None:
        super().setUp()
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.data = Path(holder.name)
        self.index = small_copy(self.data)
        self.addCleanup(self.index.close)
        self.now = NOW

    def adapter(self, index: AdvisoryIndex | None = None) -> PipAuditAdapter:
        return PipAuditAdapter(index or self.index, clock=lambda: self.now)

    def batch(self, files: Mapping[str, str]) -> Batch:
        """Every file is a target, as in the scan of a whole project."""
        return Batch(tuple(self.put(path, text) for path, text in files.items()))


def report(**packages: Mapping[str, Json]) -> bytes:
    """A report as pip-audit writes it; the sample is found unless it is given."""
    found: dict[str, Json] = {
        SAMPLE: {"version": "1.0", "vulns": [{"id": "APPSECGATE-SENTINEL-1", "aliases": [], "fix_versions": ["1.1"]}]},
        **{name.replace("_", "-"): dict(entry) for name, entry in packages.items()},
    }
    dependencies = [{"name": name, **entry} for name, entry in found.items() if isinstance(entry, dict)]
    return json.dumps({"dependencies": dependencies, "fixes": []}).encode()


def completed(stdout: bytes, exit_code: int = 1) -> Completed:
    return Completed((), Ending.EXITED, exit_code, stdout, b"", 1)


BREAD: Mapping[str, Json] = {
    "version": "1.0",
    "vulns": [
        {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-10001", "GHSA-aaaa-bbbb-cccc"], "fix_versions": []},
        {"id": "PYSEC-2026-2", "aliases": [], "fix_versions": []},
    ],
}


class Reading(PipAuditCase):
    """What is made of pip-audit's words, without pip-audit."""

    def read(self, text: str, stdout: bytes, exit_code: int = 1) -> tuple[list[Hit], EvidenceReason, str]:
        batch = self.batch({"requirements.txt": text})
        found = self.adapter().parse(completed(stdout, exit_code), batch, NOBODY, self.data)
        evidence = found.targets.get("requirements.txt")
        return (
            list(found.hits),
            evidence.reason if evidence else found.failure,
            evidence.detail if evidence else found.detail,
        )

    def test_aliases_are_one_finding_under_the_canonical_name_at_the_line_of_the_pin(self) -> None:
        hits, reason, _ = self.read("# shop\nshortbread==1.0\n", report(shortbread=BREAD))
        self.assertIs(reason, EvidenceReason.NONE)
        self.assertEqual([(hit.rule_id, hit.line_start) for hit in hits], [("CVE-2026-10001", 2), ("PYSEC-2026-2", 2)])
        first = hits[0]
        assert first.package is not None
        self.assertEqual(first.severity, Severity.CRITICAL)
        self.assertEqual(first.package.advisory_ids, ("CVE-2026-10001", "GHSA-aaaa-bbbb-cccc", "PYSEC-2026-1"))
        self.assertEqual((first.package.ecosystem, first.package.name), ("pypi", "shortbread"))
        self.assertEqual((first.package.installed_version, first.package.fixed_version), ("1.0", "1.4.2"))
        self.assertEqual((first.metadata["safe_version"], first.metadata["major_jump"]), ("2.2", True))
        self.assertIn("https://example.org/shortbread-1", first.references)

    def test_a_pin_that_the_report_leaves_out_or_skips_is_not_clean(self) -> None:
        skipped = {"skip_reason": "Dependency not found on PyPI and could not be audited: shortbread (2.2)"}
        for stdout in (report(), report(shortbread=skipped), report(shortbread={"version": "9.9", "vulns": []})):
            with self.subTest(stdout=stdout):
                hits, reason, detail = self.read("shortbread==2.2\n", stdout, 0)
                self.assertEqual((hits, reason), ([], EvidenceReason.NOT_REPORTED))
                self.assertIn("shortbread 2.2", detail)

    def test_an_advisory_that_the_report_lacks_is_not_clean(self) -> None:
        hits, reason, _ = self.read("shortbread==1.0\n", report(shortbread={"version": "1.0", "vulns": []}))
        self.assertEqual((hits, reason), ([], EvidenceReason.NOT_REPORTED))

    def test_a_silent_sample_is_a_dead_sentinel(self) -> None:
        for entry in (
            {"version": "1.0", "vulns": []},
            {"skip_reason": "x"},
            {"version": "2.0", "vulns": [{"id": "APPSECGATE-SENTINEL-1"}]},
        ):
            stdout = json.dumps({"dependencies": [{"name": SAMPLE, **entry}]}).encode()
            found = self.adapter().parse(completed(stdout), self.batch({"requirements.txt": ""}), NOBODY, self.data)
            self.assertIs(found.sentinel, SentinelState.MISSED)

    def test_what_is_no_report_is_a_failure_whatever_the_exit_code(self) -> None:
        for stdout in (
            b"",
            b"No known vulnerabilities found",
            b"[]",
            b"{}",
            b'{"dependencies": 3}',
            b"\xff\xfe",
            b"[" * 100_000,
        ):
            for exit_code in (0, 1, 2):
                with self.subTest(stdout=stdout[:20], exit_code=exit_code):
                    self.assertEqual(
                        self.read("shortbread==1.0", stdout, exit_code)[:2], ([], EvidenceReason.SCANNER_FAILED)
                    )
        self.assertIs(self.read("shortbread==1.0", report(shortbread=BREAD), 3)[1], EvidenceReason.SCANNER_FAILED)

    def test_hostile_shapes_inside_a_report_break_nothing(self) -> None:
        odd: list[Json] = [
            3,
            None,
            {},
            {"name": 3, "version": [], "vulns": [1]},
            {"name": "x", "version": "1", "vulns": [{"id": {}, "aliases": "a"}]},
        ]
        stdout = json.dumps({"dependencies": odd}).encode()
        self.assertIs(self.read("shortbread==1.0", stdout)[1], EvidenceReason.NOT_REPORTED)

    def test_each_requirement_that_cannot_be_audited_is_named_with_its_line(self) -> None:
        text = "shortbread==2.2\nflask>=1\n-e git+https://user:secret@host/x.git\nacme-internal==1.0\nodd-ranges==1.0\n-r nope.txt\n"
        stdout = report(
            shortbread={"version": "2.2", "vulns": []},
            acme_internal={"version": "1.0", "vulns": []},
            odd_ranges={"version": "1.0", "vulns": []},
        )
        batch = self.batch({"requirements.txt": text})
        found = self.adapter().parse(completed(stdout), batch, NOBODY, self.data)
        evidence = found.targets["requirements.txt"]
        self.assertEqual((evidence.state, evidence.reason), (EvidenceState.NOT_VERIFIED, EvidenceReason.FILE_MISSING))
        for words in (
            "line 2: flask is not pinned",
            "line 3: x is installed",
            "line 4: acme-internal",
            "line 5: odd-ranges",
            "line 6: includes nope.txt",
        ):
            self.assertIn(words, evidence.detail)
        self.assertNotIn("secret", evidence.detail)
        self.assertEqual(
            found.packages["requirements.txt"],
            {"": False, "acme-internal": False, "flask": False, "odd-ranges": False, "shortbread": True, "x": False},
        )

    def test_an_old_copy_still_finds_but_proves_nothing(self) -> None:
        self.now = NOW + timedelta(days=400)
        hits, reason, detail = self.read("shortbread==1.0\n", report(shortbread=BREAD))
        self.assertEqual((len(hits), reason), (2, EvidenceReason.ADVISORIES_STALE))
        self.assertIn("409 days old (2026-01-10)", detail)
        self.assertEqual(self.adapter().unready(), (EvidenceReason.NONE, ""))

    def test_a_file_without_requirements_is_clean_and_says_so(self) -> None:
        hits, reason, detail = self.read("# nothing\n", report(), 1)
        self.assertEqual((hits, reason, detail), ([], EvidenceReason.NONE, "it declares no dependencies"))


class Asking(PipAuditCase):
    """What pip-audit is asked, without pip-audit."""

    def lock(self, text: str) -> str:
        invocation = self.adapter().invocation(
            self.batch({"requirements.txt": text}), NOBODY, Path("/run"), "http://127.0.0.1:1/x"
        )
        return invocation.files["audit/pylock.toml"].decode()

    def test_only_exact_pins_are_handed_over_and_the_sample_comes_last(self) -> None:
        text = 'a==1.0 ; python_version<"3"\nA == 2.0\nb>=1\nc @ file:///x\nd==2004d\n-e ./e\na==1.0\n'
        names = [line for line in self.lock(text).split("\n") if line.startswith(("name", "version"))]
        want = [
            'name = "a"',
            'version = "1.0"',
            'name = "a"',
            'version = "2.0"',
            f'name = "{SAMPLE}"',
            'version = "1.0"',
        ]
        self.assertEqual(names, want)

    def test_nothing_of_the_project_can_become_part_of_the_lock_but_names_and_versions(self) -> None:
        lock = self.lock('a==1.0\n"x==1\n[[packages]]\nname = "evil"\nb==1.0"\nc==1.0\\"\n')
        self.assertNotIn("evil", lock)
        self.assertEqual(lock.count("[[packages]]"), 2)

    def test_pip_is_never_asked_to_do_anything(self) -> None:
        argv = (
            self.adapter()
            .invocation(self.batch({"requirements.txt": ""}), NOBODY, Path("/run"), "http://127.0.0.1:1/x")
            .argv
        )
        for flag in ("-r", "--fix", "--path", "-l"):
            self.assertNotIn(flag, argv)
        self.assertEqual(argv[-2:], ("--locked", "/run/audit"))

    def test_the_ruleset_hash_follows_the_copy_and_its_age(self) -> None:
        first = self.adapter().ruleset_hash()
        self.assertEqual(first, self.adapter().ruleset_hash())
        self.now = NOW + timedelta(days=400)
        self.assertNotEqual(first, self.adapter().ruleset_hash())
        self.assertTrue(self.adapter().has_rule("CVE-2026-10001"))
        self.assertFalse(self.adapter().has_rule("CVE-2026-10004"))

    def test_without_a_copy_the_adapter_is_not_ready_and_says_what_to_do(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            adapter = self.adapter(AdvisoryIndex(Path(empty)))
            reason, detail = adapter.unready()
            self.assertIs(reason, EvidenceReason.NO_ADVISORIES)
            self.assertIn("advisories import PATH", detail)
            self.assertFalse(adapter.has_rule("CVE-2026-10001"))

    def test_manifests_of_every_kind_are_accepted_and_nothing_else(self) -> None:
        for path, want in (
            ("requirements.txt", True), ("requirements-dev.txt", True), ("requirements/base.txt", True), ("constraints.txt", True),
            ("requirements.in", True), ("pyproject.toml", True), ("poetry.lock", True), ("uv.lock", True), ("pdm.lock", True),
            ("Pipfile", True), ("Pipfile.lock", True), ("pylock.toml", True), ("pylock.dev.toml", True), ("setup.cfg", True),
            ("notes.txt", False), ("main.py", False), ("package-lock.json", False), ("Cargo.lock", False),
        ):  # fmt: skip
            with self.subTest(path=path):
                staged = self.put(path, "")
                reason = self.adapter().accepts(path, staged.language, staged.kinds)
                self.assertIs(reason is EvidenceReason.NONE, want)


class RealPipAudit(PipAuditCase):
    tool: Installation

    @classmethod
    def setUpClass(cls) -> None:
        cls.tool = require_installed(Scanner.PIP_AUDIT)

    def audit(
        self, files: Mapping[str, str | bytes], targets: tuple[str, ...] = (), adapter: PipAuditAdapter | None = None
    ) -> ScannerRun:
        staged = {path: self.put(path, text) for path, text in files.items()}
        chosen = [staged[path] for path in targets or files]
        beside = [file for path, file in staged.items() if targets and path not in targets]
        return run_adapter(adapter or self.adapter(), self.tool, chosen, beside, stage=self.stage)

    def test_a_vulnerable_pin_is_found_and_a_fixed_one_is_clean(self) -> None:
        run = self.audit(
            {
                "requirements.txt": 'shortbread==1.0 ; python_version < "3"\ngingerbread==2.0\nscone==1.0\n',
                "requirements-ok.txt": "shortbread==2.2\nclick==8.0\n",
            }
        )
        self.assertIs(run.sentinel, SentinelState.ALIVE)
        found = [(hit.path, hit.line_start, hit.rule_id, hit.severity) for hit in run.hits]
        self.assertEqual(
            found,
            [
                ("requirements.txt", 1, "CVE-2026-10001", Severity.CRITICAL),
                ("requirements.txt", 1, "PYSEC-2026-2", Severity.HIGH),
                ("requirements.txt", 2, "GHSA-dddd-eeee-ffff", Severity.LOW),
                ("requirements.txt", 3, "CVE-2026-10005", Severity.MEDIUM),
            ],
        )
        self.assertEqual({item.state for item in run.targets}, {EvidenceState.APPLIED})

    def test_one_private_package_hides_no_other(self) -> None:
        run = self.audit({"requirements.txt": "acme-internal==1.0\nshortbread==1.0\n"})
        self.assertEqual(len(run.hits), 2)
        evidence = evidence_of(run, "requirements.txt")
        self.assertEqual(
            (evidence.state, evidence.reason), (EvidenceState.NOT_VERIFIED, EvidenceReason.UNKNOWN_PACKAGE)
        )
        self.assertIn("acme-internal", evidence.detail)

    def test_odd_encodings_and_line_ends_are_read(self) -> None:
        text = "# café\r\nshortbread==1.0\r\n"
        for data in (
            text.encode(),
            text.encode("utf-8-sig"),
            text.encode("utf-16"),
            text.encode("latin-1"),
            text.replace("\r\n", "\r").encode(),
        ):
            with self.subTest(data=data[:12]):
                run = self.audit({"requirements.txt": data})
                self.assertEqual([hit.line_start for hit in run.hits], [2, 2])

    def test_an_included_file_is_audited_with_its_includer(self) -> None:
        run = self.audit({"requirements.txt": "-r base.in\n", "base.in": "shortbread==1.0\n"}, ("requirements.txt",))
        self.assertEqual(
            [(hit.path, hit.line_start, hit.metadata["pinned_in"]) for hit in run.hits],
            [("requirements.txt", 1, "base.in:1")] * 2,
        )

    def test_locks_of_the_real_tools_give_the_findings_of_equivalent_requirements(self) -> None:
        records = self.data / "more"
        records.mkdir()
        osv = {
            "id": "A-1",
            "modified": "2026-01-10T00:00:00Z",
            "affected": [{"package": {"ecosystem": "PyPI", "name": "jinja2"}, "versions": ["2.10"]}],
        }
        (records / "A-1.json").write_text(json.dumps(osv))
        import_advisories(records, self.data, self.now)
        locks: dict[str, str | bytes] = {path.name: path.read_bytes() for path in sorted(LOCKS.iterdir())}
        run = self.audit(locks)
        self.assertEqual({(hit.path, hit.rule_id) for hit in run.hits}, {(name, "A-1") for name in locks})

    def test_hostile_requirements_run_nothing(self) -> None:
        marker = self.data / "marker"
        code = f"open({str(marker)!r}, 'w')\n"
        text = f"-e ./pkg\n./pkg\npkg @ file://{self.data}/pkg\n-r pip.py\n--index-url file://{self.data}\n--config-settings=x\nshortbread==1.0\n"
        run = self.audit(
            {"requirements.txt": text, "pkg/setup.py": code, "pip.py": code, "setup.py": code, "pip_audit.py": code},
            ("requirements.txt", "setup.py"),
        )
        self.assertFalse(marker.exists())
        self.assertEqual(len(run.hits), 2)
        self.assertIs(evidence_of(run, "requirements.txt").state, EvidenceState.NOT_VERIFIED)

    def test_without_a_copy_nothing_is_clean(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            run = self.audit(
                {"requirements.txt": "shortbread==2.2\n"}, adapter=self.adapter(AdvisoryIndex(Path(empty)))
            )
        self.assertEqual([item.reason for item in run.targets], [EvidenceReason.NO_ADVISORIES])

    def test_a_copy_that_vanishes_during_the_run_makes_it_fail(self) -> None:
        adapter = self.adapter()
        staged = self.put("requirements.txt", "shortbread==2.2\n")

        class Vanishing(PipAuditAdapter):
            def unready(inner) -> tuple[EvidenceReason, str]:  # noqa: N805
                answer = super().unready()
                (self.data / "advisories.db").unlink()
                return answer

        vanishing = Vanishing(self.index, clock=lambda: self.now)
        run = run_adapter(vanishing, self.tool, [staged], stage=self.stage)
        self.assertNotIn(EvidenceState.APPLIED, {item.state for item in run.targets})
        self.assertIs(adapter.unready()[0], EvidenceReason.NO_ADVISORIES)
