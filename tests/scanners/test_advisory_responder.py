import http.client
import json
import socket
import tempfile
import unittest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from appsecgate.scanners.advisory_responder import AdvisoryResponder
from appsecgate.store.advisory_index import AdvisoryIndex
from tests.advisories.samples import osv_record
from tests.scanners.advisories import small_copy

QUESTION = {"package": {"name": "shortbread", "ecosystem": "PyPI"}, "version": "1.0"}


def ask(url: str, question: object, *, path: str | None = None, method: str = "POST") -> tuple[int, Any]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    body = question if isinstance(question, bytes) else json.dumps(question).encode()
    connection.request(method, path or parts.path, body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, json.loads(content) if content.startswith(b"{") else content


class Responder(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.index = small_copy(Path(holder.name))
        self.addCleanup(self.index.close)

    def test_an_affected_version_gets_one_record_per_flaw_in_the_form_that_pip_audit_reads(self) -> None:
        with AdvisoryResponder(self.index) as url:
            status, answer = ask(url, QUESTION)
        self.assertEqual(status, 200)
        self.assertEqual([flaw["id"] for flaw in answer["vulns"]], ["CVE-2026-10001", "PYSEC-2026-2"])
        (affected,) = answer["vulns"][0]["affected"]
        self.assertEqual(affected["package"], {"name": "shortbread", "ecosystem": "PyPI"})
        (only,) = affected["ranges"]
        self.assertEqual((only["type"], only["events"][1:]), ("ECOSYSTEM", [{"fixed": "1.4.2"}, {"fixed": "2.1.0"}]))
        for flaw in answer["vulns"]:
            self.assertIsInstance(flaw["aliases"], list)
            self.assertNotIn("published", flaw)

    def test_names_are_normalised_and_unaffected_or_unknown_packages_get_an_empty_answer(self) -> None:
        with AdvisoryResponder(self.index) as url:
            for name, version, want in (
                ("Short_Bread", "1.0", 0),
                ("SHORTBREAD", "1.0", 2),
                ("shortbread", "2.2", 0),
                ("nothing", "1", 0),
            ):
                with self.subTest(name=name, version=version):
                    status, answer = ask(url, {"package": {"name": name, "ecosystem": "PyPI"}, "version": version})
                    self.assertEqual((status, len(answer.get("vulns", []))), (200, want))

    def test_without_a_usable_copy_every_answer_is_an_error(self) -> None:
        with tempfile.TemporaryDirectory() as empty, AdvisoryResponder(AdvisoryIndex(Path(empty))) as url:
            self.assertEqual(ask(url, QUESTION)[0], 503)

    def test_samples_are_answered_beside_the_copy(self) -> None:
        sample = osv_record("SAMPLE-1", {"introduced": "0"}, name="the-sample")
        with AdvisoryResponder(self.index, [sample]) as url:
            _, answer = ask(url, {"package": {"name": "the-sample", "ecosystem": "PyPI"}, "version": "1"})
        self.assertEqual([flaw["id"] for flaw in answer["vulns"]], ["SAMPLE-1"])

    def test_other_questions_are_refused(self) -> None:
        with AdvisoryResponder(self.index) as url:
            for question, status in (
                (b"{", 400), (b"[" * 10_000, 400), (b"[]", 400), ({}, 400), ({**QUESTION, "version": 1}, 400),
                ({"package": {"name": "x", "ecosystem": "npm"}, "version": "1"}, 400), (b" " * 20_000, 413),
            ):  # fmt: skip
                with self.subTest(question=question):
                    self.assertEqual(ask(url, question)[0], status)
            self.assertEqual(ask(url, QUESTION, path="/v1/query")[0], 404)
            self.assertEqual(ask(url, QUESTION, method="GET")[0], 501)

    def test_it_listens_on_loopback_alone_and_only_while_it_is_needed(self) -> None:
        with AdvisoryResponder(self.index) as url, AdvisoryResponder(self.index) as other:
            parts = urlsplit(url)
            self.assertEqual(parts.hostname, "127.0.0.1")
            self.assertNotEqual(url, other)
        with self.assertRaises(OSError):
            socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=2)

    def test_many_questions_on_one_connection_are_quick(self) -> None:
        """With Nagle's algorithm or an unbuffered head each would cost 40 ms."""
        with AdvisoryResponder(self.index) as url:
            parts = urlsplit(url)
            connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
            for _ in range(50):
                connection.request("POST", parts.path, json.dumps(QUESTION).encode())
                response = connection.getresponse()
                self.assertEqual((response.status, response.version), (200, 11))
                response.read()
            connection.close()
