"""Installing and finding scanners, with a stand-in for pip's downloads: wheels made here, installed by the real pip."""

import base64
import hashlib
import json
import os
import shutil
import stat
import tempfile
import unittest
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from appsecgate.config import Config, load_config
from appsecgate.errors import SetupError
from appsecgate.model import Json, Scanner, SentinelState
from appsecgate.scanners.installed import (
    ask_for_version,
    locate,
    read_marker,
    scanner_home,
    venv_program,
    why_missing,
)
from appsecgate.scanners.pins import INSTALLED_MB, PINS
from appsecgate.setup import diagnose, pip_environment, setup_scanners, write_marker


def make_wheel(folder: Path, scanner: Scanner, version: str | None = None, *, complete: bool = True) -> None:
    """A tiny wheel of a scanner's name, with a console script, or for semgrep an engine that tells its version."""
    name = scanner.replace("-", "_")
    version = version or PINS[scanner]
    files = {f"{name}/__init__.py": "", f"{name}/cli.py": "def main():\n    print('fake')\n"}
    if complete and scanner is Scanner.SEMGREP:
        files["semgrep/bin/semgrep-core"] = f"#!/bin/sh\necho semgrep-core version: {version}\n"
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {scanner}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if complete:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scanner} = {name}.cli:main\n"
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in files.items())
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o100755 if "/bin/" in path else 0o100644) << 16
            wheel.writestr(entry, text)


def _digest(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class SetupCase(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.data_dir = self.root / "data"
        self.wheels = self.root / "wheels"
        self.wheels.mkdir()
        self.lines: list[str] = []

    def config(self, settings: Mapping[str, Json] | None = None) -> Config:
        return load_config(cli=settings or {}, environ={}, data_dir=self.data_dir, project_file=None, stored={})

    def install(self, *scanners: Scanner, reinstall: bool = False) -> list[bool]:
        done = setup_scanners(
            self.data_dir,
            environ=os.environ,
            report=self.lines.append,
            scanners=scanners,
            wheelhouse=self.wheels,
            reinstall=reinstall,
        )
        return [installed.fresh for installed in done]

    def pretend(self, scanner: Scanner, *, marker: bool = True) -> Path:
        """An environment with the parts that are looked at, made by hand."""
        home = scanner_home(scanner, self.data_dir)
        program = venv_program(home, scanner)
        if scanner is Scanner.SEMGREP:
            program = home / "lib/python3.11/site-packages/semgrep/bin/semgrep-core"
        for path in (program, venv_program(home, "python")):
            self.script(path, "exit 0")
        if marker:
            write_marker(scanner, home)
        return home

    def script(self, path: Path, body: str, first: str = "#!/bin/sh") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{first}\n{body}\n")
        path.chmod(0o755)
        return path


@unittest.skipUnless(os.environ.get("APPSECGATE_TEST_FULL") == "1", "several environments are built: slow")
@unittest.skipIf(os.name == "nt", "the stand-ins are shell scripts")
class InstallTest(SetupCase):
    def test_the_real_pip_installs_from_a_folder_and_a_second_run_does_nothing(self) -> None:
        make_wheel(self.wheels, Scanner.SEMGREP)
        make_wheel(self.wheels, Scanner.DETECT_SECRETS)
        both = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)
        self.assertEqual(self.install(*both), [True, True])
        self.assertEqual(len(self.lines), 4)
        self.assertRegex(self.lines[0], r"^\[1/2\] semgrep 1\.[0-9.]+: installing, about \d+ MB")
        marker = read_marker(scanner_home(Scanner.SEMGREP, self.data_dir))
        assert marker is not None
        self.assertEqual((marker["scanner"], marker["version"]), ("semgrep", PINS[Scanner.SEMGREP]))
        self.assertEqual(stat.S_IMODE(self.data_dir.stat().st_mode), 0o700)
        found = locate(Scanner.SEMGREP, self.config(), self.data_dir)
        assert found is not None
        self.assertEqual(Path(found.command[0]).name, "semgrep-core")
        self.assertEqual(ask_for_version((*found.command, "-version")), PINS[Scanner.SEMGREP])
        began = [path.stat().st_mtime_ns for path in sorted((self.data_dir / "scanners").iterdir())]
        self.assertEqual(self.install(*both), [False, False])
        self.assertEqual([path.stat().st_mtime_ns for path in sorted((self.data_dir / "scanners").iterdir())], began)
        self._an_unfinished_one_is_built_anew(Scanner.DETECT_SECRETS)

    def _an_unfinished_one_is_built_anew(self, scanner: Scanner) -> None:
        home = scanner_home(scanner, self.data_dir)
        (home / ".complete").unlink()
        (home / "leftover").write_text("x")
        self.assertIsNone(locate(scanner, self.config(), self.data_dir))
        self.assertEqual(self.install(scanner), [True])
        self.assertFalse((home / "leftover").exists())
        self.assertEqual(self.install(scanner, reinstall=True), [True])

    def test_what_fails_is_named_with_what_to_do_and_hides_nothing(self) -> None:
        make_wheel(self.wheels, Scanner.PIP_AUDIT)
        make_wheel(self.wheels, Scanner.CHECKOV, complete=False)
        with self.assertRaises(SetupError) as caught:
            self.install(Scanner.DETECT_SECRETS, Scanner.CHECKOV, Scanner.PIP_AUDIT)
        message = str(caught.exception)
        self.assertIn("detect-secrets: python ended with 1: ERROR", message)
        self.assertIn("checkov: pip ended well, yet", message)
        self.assertIn("--wheelhouse", caught.exception.hint)
        self.assertIn(f"semgrep=={PINS[Scanner.SEMGREP]}", caught.exception.hint)
        self.assertIsNotNone(locate(Scanner.PIP_AUDIT, self.config(), self.data_dir))
        self.assertIsNone(locate(Scanner.CHECKOV, self.config(), self.data_dir))


@unittest.skipIf(os.name == "nt", "the stand-ins are shell scripts")
class RefusalTest(SetupCase):
    def test_a_folder_of_wheels_that_is_not_there_is_refused_before_anything_happens(self) -> None:
        self.wheels.rmdir()
        with self.assertRaisesRegex(SetupError, "No such folder of wheels"):
            self.install(Scanner.SEMGREP)
        self.assertFalse(self.data_dir.exists())

    def test_a_data_directory_that_is_a_file_is_refused(self) -> None:
        self.data_dir.write_text("")
        with self.assertRaises(SetupError) as caught:
            self.install(Scanner.SEMGREP)
        self.assertIn("--data-dir", caught.exception.hint)

    def test_two_setups_at_once_do_not_build_the_same_thing(self) -> None:
        import fcntl

        (self.data_dir / "scanners").mkdir(parents=True)
        with (self.data_dir / "scanners/.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with self.assertRaisesRegex(SetupError, "Another setup"):
                self.install(Scanner.SEMGREP)
        self.pretend(Scanner.SEMGREP)
        self.assertEqual(self.install(Scanner.SEMGREP), [False])

    def test_pip_gets_the_way_to_the_index_and_nothing_else(self) -> None:
        environ = {
            "PIP_INDEX_URL": "https://index.example/simple",
            "PIP_TARGET": "/elsewhere",
            "https_proxy": "http://proxy.example",
            "SSL_CERT_FILE": "/ca.pem",
            "PYTHONPATH": "/evil",
            "AWS_SECRET_ACCESS_KEY": "x",
            "HOME": "/home/x",
        }
        env = pip_environment(environ, self.root)
        self.assertEqual(env["PIP_INDEX_URL"], "https://index.example/simple")
        self.assertEqual((env["https_proxy"], env["SSL_CERT_FILE"]), ("http://proxy.example", "/ca.pem"))
        self.assertEqual((env["HOME"], env["PIP_USER"]), ("/home/x", "0"))
        for name in ("PIP_TARGET", "PYTHONPATH", "AWS_SECRET_ACCESS_KEY"):
            self.assertNotIn(name, env)


@unittest.skipIf(os.name == "nt", "the stand-ins are shell scripts")
class LocateTest(SetupCase):
    def test_an_environment_counts_only_with_marker_program_and_interpreter(self) -> None:
        for scanner in Scanner:
            home = self.pretend(scanner)
            found = locate(scanner, self.config(), self.data_dir)
            assert found is not None
            self.assertEqual((found.scanner, found.version, found.home), (scanner, PINS[scanner], home))
            for part in (".complete", venv_program(home, "python"), Path(found.command[0])):
                with self.subTest(scanner=scanner, part=str(part)):
                    kept = self.root / "kept"
                    shutil.move(home / part, kept)
                    self.assertIsNone(locate(scanner, self.config(), self.data_dir))
                    self.assertTrue(why_missing(scanner, self.config(), self.data_dir))
                    shutil.move(kept, home / part)

    def test_a_broken_marker_is_no_marker(self) -> None:
        home = self.pretend(Scanner.CHECKOV)
        for content in (b"", b"[]", b"{", b"\xff", b"[" * 10):
            with self.subTest(content=content):
                (home / ".complete").write_bytes(content)
                self.assertIsNone(locate(Scanner.CHECKOV, self.config(), self.data_dir))

    def test_the_humans_own_command_comes_first(self) -> None:
        self.pretend(Scanner.CHECKOV)
        own = self.script(self.root / "own/bin/checkov", "echo 3.9.9")
        found = locate(Scanner.CHECKOV, self.config({"scanners.checkov.command": [str(own), "-x"]}), self.data_dir)
        assert found is not None
        self.assertEqual((found.command, found.version, found.python), ((str(own), "-x"), "3.9.9", None))

    def test_a_link_to_a_console_script_leads_to_its_environment(self) -> None:
        python = self.script(self.root / "venv/bin/python3", "echo 2.0.1")
        script = self.script(self.root / "venv/bin/pip-audit", "", first=f"#!{python}")
        link = self.root / "link"
        link.symlink_to(script)
        found = locate(Scanner.PIP_AUDIT, self.config({"scanners.pip-audit.command": str(link)}), self.data_dir)
        assert found is not None
        self.assertEqual((found.python, found.home, found.version), (python, self.root / "venv", "2.0.1"))

    def test_semgrep_is_replaced_by_the_engine_beside_it(self) -> None:
        python = self.script(self.root / "venv/bin/python3", "")
        script = self.script(self.root / "venv/bin/semgrep", "exit 1", first=f"#!{python}")
        config = self.config({"scanners.semgrep.command": str(script)})
        self.assertIsNone(locate(Scanner.SEMGREP, config, self.data_dir))
        core = self.script(
            self.root / "venv/lib/python3.12/site-packages/semgrep/bin/semgrep-core", "echo version: 1.2.3"
        )
        found = locate(Scanner.SEMGREP, config, self.data_dir)
        assert found is not None
        self.assertEqual((found.command, found.version), ((str(core),), "1.2.3"))

    def test_a_command_that_cannot_work_is_missing_not_an_error(self) -> None:
        silent = self.script(self.root / "silent", "exit 0")
        failing = self.script(self.root / "failing", "echo 1.2.3; exit 3")
        plain = self.root / "plain"
        plain.write_text("no program")
        for path in (silent, failing, plain, self.root, self.root / "nowhere"):
            with self.subTest(path=path.name):
                config = self.config({"scanners.checkov.command": str(path)})
                self.assertIsNone(locate(Scanner.CHECKOV, config, self.data_dir))
                self.assertIn(str(path), why_missing(Scanner.CHECKOV, config, self.data_dir))


@unittest.skipIf(os.name == "nt", "the stand-ins are shell scripts")
class DoctorTest(SetupCase):
    def diagnose(
        self, settings: Mapping[str, Json] | None = None, dead: Sequence[Scanner] = (), advisories: str = ""
    ) -> dict[Scanner, tuple[str, str]]:
        def probe(scanner: Scanner) -> SentinelState:
            return SentinelState.MISSED if scanner in dead else SentinelState.ALIVE

        rows = diagnose(self.config(settings), self.data_dir, probe, advisories=advisories)
        self.assertEqual([row.scanner for row in rows], list(Scanner))
        return {row.scanner: (row.problem, row.mend) for row in rows}

    def test_each_trouble_has_its_words_and_its_mending_command(self) -> None:
        for scanner in (Scanner.SEMGREP, Scanner.DETECT_SECRETS, Scanner.PIP_AUDIT):
            self.pretend(scanner)
        rows = self.diagnose(
            {"scanners.enabled": ["detect-secrets", "pip-audit", "checkov"]},
            dead=[Scanner.DETECT_SECRETS],
            advisories="no advisories were imported",
        )
        self.assertEqual(rows[Scanner.SEMGREP], ("switched off in scanners.enabled", ""))
        self.assertIn("--only detect-secrets --reinstall", rows[Scanner.DETECT_SECRETS][1])
        self.assertEqual(rows[Scanner.PIP_AUDIT][0], "no advisories were imported")
        self.assertIn("not installed", rows[Scanner.CHECKOV][0])
        self.assertEqual(rows[Scanner.CHECKOV][1], "python -P -m appsecgate setup --only checkov")

    def test_where_all_is_well_nothing_is_to_be_done(self) -> None:
        for scanner in Scanner:
            self.pretend(scanner)
        self.assertEqual(set(self.diagnose().values()), {("", "")})

    def test_another_version_works_and_is_said(self) -> None:
        own = self.script(self.root / "checkov", "echo 3.0.0")
        rows = self.diagnose({"scanners.checkov.command": str(own)})
        self.assertEqual(rows[Scanner.CHECKOV], (f"not the version that is tested with this program, {PINS[Scanner.CHECKOV]}", ""))


class PinsTest(unittest.TestCase):
    def test_every_scanner_has_one_exact_version_and_a_size(self) -> None:
        for scanner in Scanner:
            with self.subTest(scanner):
                self.assertRegex(PINS[scanner], r"\A\d+(\.\d+)+\Z")
                self.assertGreater(INSTALLED_MB[scanner], 0)

    def test_the_versions_are_named_nowhere_else_in_the_package(self) -> None:
        package = Path(__file__).resolve().parent.parent / "appsecgate"
        for path in package.rglob("*.py"):
            if path.name not in ("pins.py", "embedded.py"):
                for version in PINS.values():
                    with self.subTest(path=path.name, version=version):
                        self.assertNotIn(json.dumps(version), path.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
