"""``advisories update`` against servers on this machine, with and without TLS."""

import http.server
import io
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time
import unittest
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from appsecgate.advisory_download import download_advisories
from appsecgate.errors import AdvisoryError, ConfigError, UnwritableError
from appsecgate.settings import SETTING_BY_KEY, ConfigOrigin, check_setting
from appsecgate.store.advisory_index import AdvisoryIndex
from tests.advisories.samples import osv_json
from tests.support import PACKAGE, ROOT, TempCase, clean_environment

NOW = datetime(2026, 1, 20, tzinfo=UTC)


def dump(*ids: str) -> bytes:
    """A zip with a record about ``pkg`` for each id."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for record_id in ids:
            record = osv_json(record_id, {"introduced": "0"}, {"fixed": "2.0"})
            archive.writestr(f"{record_id}.json", json.dumps(record))
    return held.getvalue()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        owner: _Owner = self.server.owner  # type: ignore[attr-defined]
        owner.asked.append(self.path)
        owner.pages[self.path](self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


Page = Callable[[http.server.BaseHTTPRequestHandler], None]


class _Owner:
    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: list[str] = []


def page(body: bytes, *, length: int | None = -1, status: int = 200, location: str = "") -> Page:
    """``length``: what the head promises; -1 the truth, None nothing."""

    def send(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        if length is not None:
            handler.send_header("Content-Length", str(len(body) if length < 0 else length))
        if location:
            handler.send_header("Location", location)
        handler.end_headers()
        handler.wfile.write(body)

    return send


class DownloadCase(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.owner = _Owner()
        self.lines: list[str] = []
        self.base = self.serve()

    def serve(self, context: ssl.SSLContext | None = None) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.owner = self.owner  # type: ignore[attr-defined]
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"{'https' if context else 'http'}://127.0.0.1:{server.server_address[1]}"

    def download(self, path: str = "/all.zip", *, max_bytes: int = 1_000_000, limit_s: float = 20) -> list[str]:
        """The ids that the new copy holds about ``pkg``."""
        download_advisories(
            self.base + path, self.data, NOW, self.lines.append,
            plain_loopback=True, max_bytes=max_bytes, limit_s=limit_s,
        )  # fmt: skip
        return self.held()

    def held(self) -> list[str]:
        index = AdvisoryIndex(self.data, clock=lambda: NOW)
        try:
            return [advisory.id for advisory in index.lookup("pkg", "1.0").advisories]
        finally:
            index.close()


class Download(DownloadCase):
    def test_a_dump_is_fetched_imported_and_reported(self) -> None:
        self.owner.pages["/all.zip"] = page(dump("PYSEC-1-1", "PYSEC-1-2"))
        self.assertEqual(self.download(), ["PYSEC-1-1", "PYSEC-1-2"])
        self.assertIn("Downloading http://127.0.0.1", self.lines[0])
        self.assertIn("received", self.lines[-1])
        self.assertEqual([path.name for path in self.data.iterdir()], ["advisories.db"])

    def test_what_fails_on_the_way_leaves_the_old_copy_and_nothing_else(self) -> None:
        good = dump("PYSEC-1-1")
        self.owner.pages["/all.zip"] = page(good)
        self.download()
        endless = page(b"x" * 2_000_000, length=None)
        for name, sent, word in (
            ("missing", page(b"", status=404), "404"),
            ("server error", page(b"", status=500), "500"),
            ("empty", page(b""), "what was sent is neither a directory nor a readable zip"),
            ("a page of text", page(b"<html>sign in</html>"), "readable zip"),
            ("no records", page(dump()), "no usable record"),
            ("cut", page(good[:-40], length=len(good)), "broke off"),
            ("cut without a length", page(good[:-40], length=None), "readable zip"),
            ("too large by its head", page(b"", length=10**9), "more than the 1 MB"),
            ("too large by its body", endless, "more than the 1 MB"),
            ("odd length", page(good, length=10**30), "broke off|more than|failed"),
            ("to a file", page(b"", status=302, location="file:///etc/passwd"), "https:// address|302"),
            ("to plain http elsewhere", page(b"", status=302, location="http://example.invalid/x"), "https:// address"),
            ("in a circle", page(b"", status=302, location="/bad.zip"), "30"),
            ("no answer at all", lambda handler: handler.connection.close(), "failed"),
        ):
            with self.subTest(name):
                self.owner.pages["/bad.zip"] = sent
                with self.assertRaisesRegex(AdvisoryError, word):
                    self.download("/bad.zip")
                self.assertEqual(self.held(), ["PYSEC-1-1"])
                self.assertEqual([path.name for path in self.data.iterdir()], ["advisories.db"])

    def test_a_redirection_under_the_same_rule_is_followed(self) -> None:
        self.owner.pages |= {"/old": page(b"", status=302, location="/all.zip"), "/all.zip": page(dump("PYSEC-1-1"))}
        self.assertEqual(self.download("/old"), ["PYSEC-1-1"])

    def test_a_trickle_is_ended(self) -> None:
        def trickle(handler: http.server.BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            for _ in range(100):
                handler.wfile.write(b"x")
                time.sleep(0.05)

        self.owner.pages["/slow"] = trickle
        began = time.monotonic()
        with self.assertRaisesRegex(AdvisoryError, "too long"):
            self.download("/slow", limit_s=0.3)
        self.assertLess(time.monotonic() - began, 4)

    def test_only_tls_is_spoken_and_no_credentials_are_carried_or_shown(self) -> None:
        for url in (
            self.base + "/all.zip",
            "http://example.invalid/all.zip",
            "ftp://example.invalid/all.zip",
            "file:///etc/passwd",
            "data:application/zip,x",
            "https://user:hunter2@example.invalid/all.zip",
            "https:///all.zip",
            "https://[::1/all.zip",
            "all.zip",
            "",
        ):
            with self.subTest(url=url):
                with self.assertRaisesRegex(AdvisoryError, "https:// address") as caught:
                    download_advisories(url, self.data, NOW, self.lines.append)
                self.assertNotIn("hunter2", str(caught.exception))
        with self.assertRaisesRegex(AdvisoryError, "https:// address"):
            download_advisories("http://example.invalid/x", self.data, NOW, self.lines.append, plain_loopback=True)
        self.assertEqual((self.owner.asked, self.lines), ([], []))

    def test_a_data_directory_that_refuses_the_file_is_named_before_anything_is_asked(self) -> None:
        self.data.write_text("a file")
        with self.assertRaises(UnwritableError):
            self.download()
        self.assertEqual(self.owner.asked, [])


class TrustedDownload(DownloadCase):
    def certificate(self) -> Path:
        """A certificate for 127.0.0.1 with its key, made now."""
        if shutil.which("openssl") is None:
            print("\nSKIPPED, NOT TESTED: TLS of advisories update (no openssl)", file=sys.stderr)
            raise unittest.SkipTest("no openssl")
        pem = self.tmp / "pair.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "keyUsage=digitalSignature,keyCertSign",
             "-keyout", str(self.tmp / "key.pem"), "-out", str(self.tmp / "cert.pem")],
            check=True, capture_output=True,
        )  # fmt: skip
        pem.write_bytes((self.tmp / "key.pem").read_bytes() + (self.tmp / "cert.pem").read_bytes())
        return pem

    def test_a_certificate_must_be_trusted(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate())
        self.base = self.serve(context)
        self.owner.pages["/all.zip"] = page(dump("PYSEC-1-1"))
        with self.assertRaisesRegex(AdvisoryError, "certificate"):
            download_advisories(self.base + "/all.zip", self.data, NOW, self.lines.append)
        self.assertEqual(self.owner.asked, [])
        with mock.patch.dict(os.environ, {"SSL_CERT_FILE": str(self.tmp / "cert.pem")}):
            download_advisories(self.base + "/all.zip", self.data, NOW, self.lines.append)
        self.assertEqual(self.held(), ["PYSEC-1-1"])


class Keys(unittest.TestCase):
    """``advisories.url`` and ``advisories.public_packages``."""

    def test_each_value_is_checked_and_only_a_person_may_set_it(self) -> None:
        url, packages = "advisories.url", "advisories.public_packages"
        for key, value, kept in (
            (url, "https://mirror.example:8443/osv/all.zip", "https://mirror.example:8443/osv/all.zip"),
            (url, "http://mirror.example/all.zip", None),
            (url, "https://me:word@mirror.example/all.zip", None),
            (url, "file:///etc/passwd", None),
            (url, 3, None),
            (packages, ["Acme_Tools", "acme.tools", "b"], ["acme-tools", "b"]),
            (packages, [], []),
            (packages, ["*"], None),
            (packages, ["a b"], None),
            (packages, ["x"] * 6_000, None),
            (packages, "acme", None),
        ):
            with self.subTest(key=key, value=str(value)[:60]):
                spec = SETTING_BY_KEY[key]
                if kept is None:
                    with self.assertRaisesRegex(ConfigError, key):
                        check_setting(spec, value, ConfigOrigin.HUMAN_FILE)
                else:
                    self.assertEqual(check_setting(spec, value, ConfigOrigin.HUMAN_FILE), kept)
                for origin in (ConfigOrigin.AGENT, ConfigOrigin.REPOSITORY):
                    with self.assertRaisesRegex(ConfigError, "may not set"):
                        check_setting(spec, value, origin)


class CommandLine(DownloadCase):
    def run_command(self, *arguments: str, **environ: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [*PACKAGE, *arguments, "--data-dir", str(self.data)], stdin=subprocess.DEVNULL, capture_output=True,
            cwd=self.tmp, env=clean_environment(self.data, **environ), timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_update_takes_its_address_from_the_option_else_from_the_humans_configuration(self) -> None:
        self.owner.pages["/all.zip"] = page(dump("PYSEC-1-1"))
        status, out, err = self.run_command(
            "advisories", "update", "--url", self.base + "/all.zip", APPSECGATE_TEST_PLAIN_LOOPBACK="1"
        )
        self.assertEqual((status, out.startswith("1 advisories about 1 packages")), (0, True), err)
        self.data.joinpath("config.toml").write_text('[advisories]\nurl = "https://127.0.0.1:9/none.zip"\n')
        status, out, err = self.run_command("advisories", "update")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("https://127.0.0.1:9/none.zip: the download failed", err)
        self.assertIn("advisories import FILE", err)
        self.assertEqual(self.held(), ["PYSEC-1-1"])

    def test_without_the_tests_variable_plain_http_is_refused_on_loopback_too(self) -> None:
        status, _, err = self.run_command("advisories", "update", "--url", self.base + "/all.zip")
        self.assertEqual((status, self.owner.asked), (3, []))
        self.assertIn("https:// address", err)

    def test_a_project_and_an_agent_cannot_name_the_address(self) -> None:
        self.write(".appsecgate.toml", f'[advisories]\nurl = "{self.base}/all.zip"\n')
        code = (
            "import sys\n"
            "from appsecgate.config import load_config, validate_patch\n"
            "from pathlib import Path\n"
            f"text = Path({str(self.project)!r}, '.appsecgate.toml').read_bytes()\n"
            "config = load_config(cli={}, environ={}, data_dir=Path('/none'), project_file=text, stored={})\n"
            "print(config.advisories_url, config.problems)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        self.assertIn("osv-vulnerabilities.storage.googleapis.com", done.stdout)
        self.assertIn("may not set advisories.url", done.stdout)

    def test_setup_takes_a_dump_from_a_file_too(self) -> None:
        path = self.tmp / "dump.zip"
        path.write_bytes(dump("PYSEC-1-1"))
        status, _, err = self.run_command(
            "setup", "--advisories", str(path), "--only", "pip-audit", "--wheelhouse", str(self.tmp / "none")
        )
        self.assertEqual(status, 3, err)
        self.assertEqual(self.held(), ["PYSEC-1-1"])

    def test_serving_and_scanning_never_load_what_could_download(self) -> None:
        self.write("requirements.txt", "pkg==1.0\n")
        code = (
            "import sys\n"
            "from appsecgate.__main__ import run_program\n"
            "run_program()\n"
            "print(sorted({'urllib.request', 'ftplib', 'smtplib'} & set(sys.modules)), file=sys.stderr)\n"
        )
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "scan_file", "arguments": {"path": "requirements.txt"}}}  # fmt: skip
        for arguments, stdin in (
            (["scan", str(self.project)], ""),
            (["serve", "--project", str(self.project)], json.dumps(hello) + "\n" + json.dumps(asked) + "\n"),
        ):
            with self.subTest(arguments[0]):
                done = subprocess.run(
                    [sys.executable, "-c", code, *arguments], input=stdin, capture_output=True, text=True,
                    cwd=ROOT, env=clean_environment(self.data), timeout=120, check=False,
                )  # fmt: skip
                self.assertIn("[]", done.stderr, done.stderr)
