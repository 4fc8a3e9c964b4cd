"""Dependencies, from end to end: offline audits against an independent check, locks, bad copies, hostile files, fixes."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from appsecgate.model import EvidenceReason, EvidenceState, FixStatus, ReasonCode, Scanner
from appsecgate.session import Session
from appsecgate.store.advisory_import import import_advisories
from appsecgate.store.advisory_index import ADVISORY_FILE, AdvisoryIndex
from appsecgate.tools.get_fix_context import GetFixContextInput, get_fix_context
from appsecgate.tools.scan_file import ScanFileInput, scan_file
from appsecgate.tools.scan_project import ScanProjectInput, scan_project
from appsecgate.tools.verify_fix import VerifyFixInput, verify_fix
from tests.advisories.samples import OSV_DIRECTORY
from tests.evidence.test_offline_readonly import TRY_NETWORK, require_bubblewrap
from tests.scanners.installed import require_installed
from tests.support import OSV_EXAMPLES, PACKAGE, ROOT, ScannerCase, call, options

FULL = os.environ.get("APPSECGATE_TEST_ADVISORIES", "")
LOCKS = ROOT / "tests" / "data" / "locks"
ORACLE = ROOT / "tests" / "data" / "osv_oracle.py"
NAMED = (("django", "3.2.0"), ("requests", "2.19.0"), ("pyyaml", "5.1"))


def full_database() -> list[Path]:
    if not FULL:
        print("\nSKIPPED, NOT TESTED: no full advisory database (set APPSECGATE_TEST_ADVISORIES)", file=sys.stderr)
        raise unittest.SkipTest("APPSECGATE_TEST_ADVISORIES is not set")
    return [Path(FULL)]


class DependencyCase(ScannerCase):
    scanners = (Scanner.PIP_AUDIT,)

    def setUp(self) -> None:
        super().setUp()
        self.sources: Sequence[Path] = [OSV_EXAMPLES, OSV_DIRECTORY]

    def import_copy(self) -> None:
        if len(self.sources) == 1:
            import_advisories(self.sources[0], self.data, datetime.now(UTC))
            return
        joined = self.tmp / "joined"
        joined.mkdir(exist_ok=True)
        for source in self.sources:
            for path in source.glob("*.json"):
                shutil.copy(path, joined)
        import_advisories(joined, self.data, datetime.now(UTC))

    def independent(self, pins: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
        python = require_installed(Scanner.PIP_AUDIT).python
        question = {"sources": [str(source) for source in self.sources], "pins": pins}
        done = subprocess.run(
            [str(python), "-I", str(ORACLE)], input=json.dumps(question), capture_output=True, text=True, check=True
        )
        answers: list[dict[str, Any]] = json.loads(done.stdout)
        return answers

    def open(self, **settings: Any) -> Session:
        return self.session(**{"scanners.enabled": ["pip-audit"], **settings})


class OfflineAudit(DependencyCase):
    """In a network namespace without a link, over the command line."""

    def setUp(self) -> None:
        super().setUp()
        self.bwrap = require_bubblewrap()

    def isolated(self, *command: str) -> subprocess.CompletedProcess[str]:
        kept = {
            "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "APPSECGATE_DATA_DIR": str(self.data),
            "APPSECGATE_LIMITS_ADVISORIES_MAX_AGE_DAYS": "3650",
        }  # fmt: skip
        variables = [word for name, value in kept.items() for word in ("--setenv", name, value)]
        sandbox = [self.bwrap, "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--clearenv", *variables]
        return subprocess.run(
            [*sandbox, *command], capture_output=True, text=True, cwd=self.project, check=False, timeout=300
        )

    def audited(self, pins: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        """(package, version) → the rules of its findings, for requirements.txt with these pins."""
        self.write("requirements.txt", "".join(f"{name}=={version}\n" for name, version in pins))
        scanned = self.isolated(*PACKAGE, "scan", str(self.project), "--format", "json")
        self.assertIn(scanned.returncode, (0, 3), scanned.stderr)
        (evidence,) = [row for row in json.loads(scanned.stdout)["evidence"] if row["scanner"] == "pip-audit"]
        self.assertEqual((evidence["state"], evidence["reason"]), ("applied", ""))
        sql = (
            "SELECT package, installed_version, rule_id FROM v_findings WHERE category = 'sca'"
            " AND status NOT IN ('fixed', 'gone') ORDER BY rule_id LIMIT 10000"
        )
        answer = self.isolated(*PACKAGE, "query", sql, "--json", "--project", str(self.project))
        found: dict[tuple[str, str], list[str]] = {}
        for package, version, rule in json.loads(answer.stdout)["rows"]:
            found.setdefault((package, version), []).append(rule)
        return found

    def compare(self, pins: Sequence[tuple[str, str]]) -> int:
        """The number of findings, each of which both sides know."""
        self.import_copy()
        self.assertEqual(self.isolated(sys.executable, "-c", TRY_NETWORK).returncode, 0, "there is a network")
        want = self.independent(pins)
        found = self.audited(pins)
        for pin, answer in zip(pins, want, strict=True):
            with self.subTest(pin=pin):
                self.assertEqual(sorted(found.get(pin, [])), sorted(answer["flaws"]))
        fixed = [(name, answer["safe"]) for (name, _), answer in zip(pins, want, strict=True) if answer["safe"]]
        self.assertTrue(fixed)
        self.assertEqual(self.audited(fixed), {}, "a version at the fix is reported")
        return sum(map(len, found.values()))

    def test_a_small_copy_gives_what_an_independent_check_finds(self) -> None:
        pins = (*NAMED[1:], ("shortbread", "1.0"), ("gingerbread", "2.0"), ("scone", "1.0"))
        self.assertGreaterEqual(self.compare(pins), 9)

    def test_the_full_database_gives_what_an_independent_check_finds(self) -> None:
        self.sources = full_database()
        self.assertGreaterEqual(self.compare(NAMED), 25)

    def test_a_hundred_pins_over_the_full_database(self) -> None:
        self.sources = full_database()
        with zipfile.ZipFile(FULL) as archive:
            documents = [json.loads(archive.read(name)) for name in sorted(archive.namelist())]
        pins: dict[str, str] = {}
        for document in documents:
            for entry in document["affected"]:
                plain = [version for version in entry.get("versions", []) if version.replace(".", "").isdigit()]
                if plain and len(pins) < 100:
                    pins.setdefault(entry["package"]["name"].lower().replace("_", "-").replace(".", "-"), plain[len(plain) // 2])
        pins = {name: ".".join(str(int(part)) for part in version.split(".")) for name, version in pins.items()}
        self.assertGreater(self.compare(list(pins.items())), 150)


class LockFiles(DependencyCase):
    def test_each_kind_of_lock_gives_the_findings_of_the_equivalent_requirements(self) -> None:
        self.import_copy()
        for path in sorted(LOCKS.iterdir()):
            self.write(f"{path.name}.d/{path.name}", path.read_bytes())
        session = self.open()
        found: dict[str, set[tuple[str, str, str]]] = {}
        scan_project(call(session), ScanProjectInput())
        with session.store.read() as reader:
            for stored in reader.findings(session.project_id):
                package = stored.finding.package
                assert package is not None
                found.setdefault(Path(stored.finding.file_path).name, set()).add(
                    (stored.finding.rule_id, package.name, package.installed_version)
                )
        want = found.pop("requirements.txt")
        self.assertGreaterEqual(len(want), 2)
        self.assertEqual(found, dict.fromkeys((path.name for path in LOCKS.iterdir() if path.suffix != ".txt"), want))


class BadCopies(DependencyCase):
    def verdict(self, text: str = "shortbread==2.2\n", days: int = 0) -> tuple[str, str]:
        """(verdict, or what pip-audit's evidence says; its reason) of a scan so many days after 2026-01-20."""
        self.write("requirements.txt", text)
        later = datetime(2026, 1, 20, tzinfo=UTC) + timedelta(days=days)
        session = self.opened(
            Session(options(self.project, self.data, {"scanners.enabled": ["pip-audit"]}), clock=lambda: later)
        )
        result = scan_file(call(session), ScanFileInput("requirements.txt"))
        (row,) = [row for row in result.evidence if row.scanner is Scanner.PIP_AUDIT]
        session.close()
        # the other scanners are switched off, so that the verdict as a whole is never clean
        return str(row.state) if row.state is EvidenceState.APPLIED else str(result.verdict), str(row.reason)

    def test_a_good_copy_is_clean_and_says_so(self) -> None:
        import_advisories(OSV_DIRECTORY, self.data, datetime.now(UTC))
        self.assertEqual(self.verdict(), ("applied", ""))

    def test_each_bad_copy_has_its_reason_and_none_is_clean(self) -> None:
        def nothing() -> None:
            (self.data / ADVISORY_FILE).unlink(missing_ok=True)

        def good() -> None:
            import_advisories(OSV_DIRECTORY, self.data, datetime.now(UTC))

        def emptied() -> None:
            good()
            connection = sqlite3.connect(self.data / ADVISORY_FILE)
            connection.executescript(
                "DELETE FROM record; DELETE FROM package; UPDATE meta SET value = '0' WHERE key = 'records'"
            )
            connection.close()

        def damaged() -> None:
            good()
            (self.data / ADVISORY_FILE).write_bytes(b"SQLite format 3\0" + os.urandom(4096))

        def cut() -> None:
            good()
            path = self.data / ADVISORY_FILE
            path.write_bytes(path.read_bytes()[:5000])

        for name, prepare, text, days, reason in (
            ("none", nothing, "shortbread==2.2\n", 0, "no_advisories"),
            ("empty", emptied, "shortbread==2.2\n", 0, "no_advisories"),
            ("damaged", damaged, "shortbread==2.2\n", 0, "no_advisories"),
            ("cut short", cut, "shortbread==2.2\n", 0, "no_advisories"),
            ("400 days old", good, "shortbread==2.2\n", 400, "advisories_stale"),
            ("odd ranges", good, "odd-ranges==1.0\n", 0, "partial"),
        ):
            with self.subTest(name):
                prepare()
                self.assertEqual(self.verdict(text, days), ("incomplete", reason))

    def test_a_corrupt_zip_and_a_bomb_leave_no_copy_and_nothing_is_clean(self) -> None:
        corrupt, bomb = self.tmp / "corrupt.zip", self.tmp / "bomb.zip"
        corrupt.write_bytes(b"PK\3\4" + os.urandom(500))
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.json", b'{"PyPI":' + b" " * (64 << 20) + b"1}")
        for source in (corrupt, bomb):
            with self.subTest(source.name):
                done = subprocess.run(
                    [*PACKAGE, "advisories", "import", str(source), "--data-dir", str(self.data)],
                    cwd=ROOT, capture_output=True, text=True, check=False,
                )  # fmt: skip
                self.assertEqual((done.returncode, AdvisoryIndex(self.data).status().usable), (3, False), done.stderr)
                self.assertEqual(self.verdict(), ("incomplete", "no_advisories"))


class HostileFiles(DependencyCase):
    def setUp(self) -> None:
        super().setUp()
        import_advisories(OSV_DIRECTORY, self.data, datetime.now(UTC))

    def test_no_code_of_the_project_runs(self) -> None:
        marker = self.tmp / "marker"
        code = f"open({str(marker)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='x')\n"
        self.write(
            "requirements.txt",
            f"./pkg\n-e ./pkg\n-e .\npkg @ file://{self.project}/pkg\n--find-links ./pkg\n-i file://{self.project}\n"
            "--config-settings=x=y\n; import os\n$(touch marker)==1.0\n`touch marker`==1.0\n"
            "shortbread==1.0;__import__('os').system('touch marker')\nshortbread==$(touch marker)\n../x==1\n-r setup.py\n"
            "-c |touch marker\n--requirement \0\nshortbread[$(touch marker)]==1.0\n",
        )
        for path in ("setup.py", "pkg/setup.py", "pip.py", "pip_audit.py", "packaging.py", "json.py", "sitecustomize.py"):
            self.write(path, code)
        self.write("pyproject.toml", '[build-system]\nrequires=["setuptools"]\nbuild-backend="evil"\nbackend-path=["."]\n')
        self.write("evil.py", code)
        session = self.open()
        result = scan_project(call(session), ScanProjectInput())
        self.assertFalse(marker.exists())
        self.assertEqual(list(self.project.rglob("marker")), [])
        self.assertNotEqual(str(result.verdict), "clean")

    def test_names_and_versions_that_are_none_stop_no_other_finding(self) -> None:
        odd = ['"quo\\"te"', '"line\\nbreak"', '"emoji \U0001f600"', '"\\u0000"', '"-r x"', '"ſhortbread"', '"' + "a" * 5000 + '"']
        lock = "".join(f"[[package]]\nname = {name}\nversion = \"1.0\"\n" for name in odd if "\\u0000" not in name)
        lock += '[[package]]\nname = "shortbread"\nversion = "1.0"\n[[package]]\nname = "x"\nversion = "1.0\\n[[packages]]"\n'
        self.write("poetry.lock", lock)
        entries: Mapping[str, object] = {**{json.loads(name): {"version": "==1.0"} for name in odd[:-1]}, "shortbread": {"version": "==1.0"}}
        self.write("Pipfile.lock", json.dumps({"default": entries}))
        self.write("requirements.txt", "shortbread==1.0\nshortbread==\uff11.\uff10\nｓhortbread==1.0\nx==1.0\\n\n'shortbread'==1\n")
        session = self.open()
        scan_project(call(session), ScanProjectInput())
        with session.store.read() as reader:
            found = {(stored.finding.file_path, stored.finding.rule_id) for stored in reader.findings(session.project_id)}
        for path in ("poetry.lock", "Pipfile.lock", "requirements.txt"):
            self.assertIn((path, "CVE-2026-10001"), found)

    def test_links_out_of_the_project_are_not_followed_and_named(self) -> None:
        outside = self.tmp / "outside.txt"
        outside.write_text("shortbread==1.0\n")
        (self.project / "linked.txt").symlink_to(outside)
        (self.project / "folder").symlink_to(self.tmp)
        (self.project / "inner").symlink_to("nowhere")
        for line in ("-r linked.txt", "-r folder/outside.txt", "-r ../outside.txt", f"-r {outside}", "-c linked.txt", "-r folder/../x.txt"):
            with self.subTest(line=line):
                self.write("requirements.txt", f"{line}\nshortbread\n")
                self.write("x.txt", "click==8.0\n")
                result = scan_file(call(self.open()), ScanFileInput("requirements.txt"))
                self.assertEqual((str(result.verdict), list(result.findings)), ("incomplete", []))

    def test_very_long_files_end_in_bounded_time(self) -> None:
        many = "".join(f"package-{number}==1.{number}\n" for number in range(5_000))
        lock = "version = 1\n" + "".join(
            f'[[package]]\nname = "package-{number}"\nversion = "1.{number}"\n' for number in range(20_000)
        )
        for path, text in (("requirements.txt", many + "shortbread==1.0\n"), ("uv.lock", lock)):
            with self.subTest(path=path):
                self.write(path, text)
                began = time.monotonic()
                result = scan_file(call(self.open()), ScanFileInput(path))
                took = time.monotonic() - began
                print(f"{path}: {took:.1f} s, {result.verdict}", file=sys.stderr)
                self.assertLess(took, 150, "many times what it takes on a busy machine")
                self.assertNotEqual(str(result.verdict), "clean")


class Fixing(DependencyCase):
    def setUp(self) -> None:
        super().setUp()
        import_advisories(OSV_DIRECTORY, self.data, datetime.now(UTC))

    def finding(self, session: Session, path: str, rule: str = "CVE-2026-10001") -> str:
        result = scan_file(call(session), ScanFileInput(path))
        return next(item.logical_id for item in result.findings if item.rule_id == rule)

    def test_a_pack_names_the_versions_the_jump_and_every_file_to_change(self) -> None:
        self.write("pyproject.toml", '[project]\nname = "x"\ndependencies = [\n  "shortbread>=1",\n]\n')
        self.write("uv.lock", 'version = 1\n[[package]]\nname = "shortbread"\nversion = "1.0"\n')
        self.write("poetry.lock", '[[package]]\nname = "other"\nversion = "1.0"\n')
        self.write("base.txt", "shortbread==1.0\n")
        self.write("requirements.txt", "-r base.txt\n")
        self.write("requirements.in", "shortbread\n")
        session = self.open()
        for path, files, pins in (
            ("pyproject.toml", ("pyproject.toml", "uv.lock"), ("uv.lock:4",)),
            ("uv.lock", ("pyproject.toml", "uv.lock"), ("uv.lock:4",)),
            (
                "requirements.txt",
                ("base.txt", "pyproject.toml", "requirements.in", "requirements.txt", "uv.lock"),
                ("base.txt:1", "uv.lock:4"),
            ),
        ):
            with self.subTest(path=path):
                pack = get_fix_context(call(session), GetFixContextInput(self.finding(session, path)))
                assert pack.sca is not None
                self.assertEqual((pack.sca.manifest_files, pack.sca.pinned_in), (files, pins))
                self.assertEqual((pack.sca.package, pack.sca.installed_version), ("shortbread", "1.0"))
                self.assertEqual((pack.sca.fixed_version, pack.sca.safe_version, pack.sca.major_jump), ("1.4.2", "2.2", True))

    def test_only_a_version_outside_the_range_is_a_fix(self) -> None:
        fixed, unpinned, present = (FixStatus.FIXED, None), (FixStatus.NOT_FIXED, ReasonCode.UNPINNED), (FixStatus.NOT_FIXED, None)
        for after, (status, code) in (
            ("shortbread==2.2\n", fixed),
            ("ShortBread == 2.2 ; python_version > '3'\n", fixed),
            ("click==8.0\n", fixed),
            ("shortbread==1.1\n", present),
            ("shortbread===1.0.0\n", present),
            ("shortbread==1.0+safe\n", present),
            ("shortbread==1.0.post1\n", present),
            ("shortbread==2.2\nshortbread==1.0 ; python_version < '3'\n", present),
            ("--pre -r base.txt\n", present),
            ("# nothing\x0cshortbread==1.0\n", present),
            ("shortbread>=2.2\n", unpinned),
            ("shortbread\n-c bounds.txt\n", unpinned),
            ("shortbread @ https://host.example/x.zip\n", unpinned),
            ("git+https://host.example/harmless.git\n", unpinned),
            ("-e ./vendored\n", unpinned),
            ("https://host.example/harmless-1.0.tar.gz\n", unpinned),
            ("click==8.0\n-r missing.txt\n", (FixStatus.NOT_FIXED, None)),
            ("${PACKAGE}==1.0\n", unpinned),
            ("# coding: utf-7\n# +AAo-shortbread==1.0\n", (FixStatus.NOT_FIXED, None)),
        ):
            with self.subTest(after=after):
                self.write("base.txt", "shortbread==1.0\n")
                self.write("bounds.txt", "shortbread==2.2 ; python_version < '3'\n")
                self.write("requirements.txt", "shortbread==1.0\n")
                session = self.open()
                finding = self.finding(session, "requirements.txt")
                self.write("requirements.txt", after)
                result = verify_fix(call(session), VerifyFixInput(finding, FixStatus.FIXED))
                self.assertIs(result.verified_status, status, result)
                if code is not None:
                    self.assertIs(result.reason_code, code, result)
                session.close()

    def test_a_pin_that_went_out_of_an_included_file_into_something_unknown_is_not_fixed(self) -> None:
        self.write("base.txt", "shortbread==1.0\n")
        self.write("requirements.txt", "-r base.txt\n")
        session = self.open()
        finding = self.finding(session, "requirements.txt")
        self.write("base.txt", "git+https://host.example/harmless.git\n")
        result = verify_fix(call(session), VerifyFixInput(finding, FixStatus.FIXED))
        self.assertEqual((result.verified_status, result.reason_code), (FixStatus.NOT_FIXED, ReasonCode.UNPINNED))

    def test_a_lock_edited_by_hand_is_no_fix_where_the_range_forbids_it(self) -> None:
        self.write("pyproject.toml", '[project]\nname = "x"\ndependencies = [\n  "shortbread>=1,<2",\n]\n')
        lock = 'version = 1\n[[package]]\nname = "shortbread"\nversion = "{}"\n'
        self.write("uv.lock", lock.format("1.0"))
        session = self.open()
        finding = self.finding(session, "pyproject.toml")
        self.write("uv.lock", lock.format("2.2"))
        result = verify_fix(call(session), VerifyFixInput(finding, FixStatus.FIXED))
        self.assertEqual((result.verified_status, result.reason_code), (FixStatus.NOT_FIXED, ReasonCode.UNPINNED))
        self.write("pyproject.toml", '[project]\nname = "x"\ndependencies = [\n  "shortbread>=2.2",\n]\n')
        result = verify_fix(call(session), VerifyFixInput(finding, FixStatus.FIXED))
        self.assertIs(result.verified_status, FixStatus.FIXED, result)

    def test_a_pin_that_moves_to_another_manifest_is_not_fixed(self) -> None:
        self.write("requirements.txt", "shortbread==1.0\n")
        self.write("requirements-dev.txt", "click==8.0\n")
        session = self.open()
        finding = self.finding(session, "requirements.txt")
        self.write("requirements.txt", "click==8.0\n")
        self.write("requirements-dev.txt", "shortbread==1.0\n")
        result = verify_fix(call(session), VerifyFixInput(finding, FixStatus.FIXED))
        self.assertEqual((result.verified_status, result.reason_code), (FixStatus.NOT_FIXED, ReasonCode.MOVED))

    def test_a_package_that_a_person_vouches_for_is_clean_and_one_that_an_agent_names_is_not(self) -> None:
        self.write("requirements.txt", "acme-Internal.Tools==1.0\n")
        person, project = self.data / "config.toml", self.project / ".appsecgate.toml"
        text = '[advisories]\npublic_packages = ["acme_internal_tools"]\nurl = "https://host.example/x.zip"\n'
        for place, reason in ((None, True), (person, False), (project, True)):
            with self.subTest(place=place):
                if place is not None:
                    place.write_text(text)
                session = self.open(**{"limits.advisories_max_age_days": 3650})
                result = scan_file(call(session), ScanFileInput("requirements.txt"))
                missing = {row.reason for row in result.missing}
                self.assertEqual(EvidenceReason.UNKNOWN_PACKAGE in missing, reason)
                if place is not None:
                    place.unlink()
