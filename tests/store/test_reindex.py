"""A changed redaction policy reaches everything that is stored, and the old bytes are gone."""

import unittest
from dataclasses import replace

from appsecgate.identity.scopes import ScopeMap, ScopeSpan
from appsecgate.model import FeedbackVerdict, FixStatus, Package
from appsecgate.store.audit import AuditEntry, QueryOutcome
from appsecgate.store.scans import FileShape
from appsecgate.store.suppressions import Suppression
from tests.store.ledger import OTHER, PROJECT, SECRET, LedgerCase, PlainMask, applied, evidence_row, make_finding


class ReindexTest(LedgerCase):
    def setUp(self) -> None:
        super().setUp()
        said = f"said {SECRET} twice {SECRET}"
        finding = make_finding(
            "one", message=said, snippet=said, code=said, metadata={"patch": [said, {"deep": said}], "remediation": said}
        )
        for project in (PROJECT, OTHER):
            with self.store.write() as writer:
                writer.touch_project(project, "alias", "/path")
            self.scan([finding], targets=[applied("app/views.py", detail=said)], project_id=project)
        self.attempt(finding, FixStatus.NOT_FIXED, note=said, reason=said)
        with self.store.write() as writer:
            writer.add_feedback(PROJECT, finding.logical_id, FeedbackVerdict.ROTATED, said, "session")
            writer.add_suppression(PROJECT, Suppression(said, "test", rule_id="x"))
            writer.set_config(PROJECT, {"a": {"reason": said}}, by="session")
            writer.add_audit(PROJECT, AuditEntry("s", said, 1, 1, self.clock.text(), QueryOutcome.OK))
            record = writer.scans(PROJECT)[0].record
            writer._put_evidence(record, [evidence_row(1, 1, self.clock.text(), detail=said)])

    def bytes_with_secret(self) -> list[str]:
        return [path.name for path in self.data.iterdir() if SECRET.encode() in path.read_bytes()]

    def test_no_byte_of_it_is_left(self) -> None:
        self.assertNotEqual(self.bytes_with_secret(), [])
        self.assertGreaterEqual(self.store.reindex(lambda _project: PlainMask()), 18)
        self.assertEqual(self.bytes_with_secret(), [])
        with self.store.read() as reader:
            stored = reader.findings(PROJECT)[0].finding
        self.assertEqual(stored.message, "said [REDACTED:test:00000000] twice [REDACTED:test:00000000]")
        self.assertEqual(stored.metadata["patch"], [stored.message, {"deep": stored.message}])

    def test_a_second_time_changes_nothing(self) -> None:
        self.store.reindex(lambda _project: PlainMask())
        self.assertEqual(self.store.reindex(lambda _project: PlainMask()), 0)

    def test_a_word_that_is_a_secret_in_one_project_is_a_word_in_the_other(self) -> None:
        self.store.reindex(lambda project: PlainMask(SECRET if project == PROJECT else "nothing"))
        with self.store.read() as reader:
            here, there = (reader.findings(project)[0].finding for project in (PROJECT, OTHER))
        self.assertNotIn(SECRET, here.message + here.snippet + here.code + str(here.metadata))
        self.assertEqual(there.message, f"said {SECRET} twice {SECRET}")
        self.assertEqual(there.metadata["patch"], [there.message, {"deep": there.message}])

    def test_names_of_files_are_masked_too_and_what_is_masked_already_stays(self) -> None:
        named = make_finding("two", file_path=f"config/{SECRET}.txt")
        masked = f"config/{PlainMask().name(SECRET)}.txt"
        for path in (named.file_path, masked):
            self.scan([replace(named, file_path=path)], targets=[applied(path)], project_id=PROJECT)
            with self.store.write() as writer:
                writer.put_shapes(PROJECT, [FileShape(path, "0" * 64, b"", "")])
        self.store.reindex(lambda _project: PlainMask())
        self.assertEqual(self.bytes_with_secret(), [])
        with self.store.read() as reader:
            self.assertEqual(reader.findings_by_id(PROJECT, [named.logical_id])[0].finding.file_path, masked)
            self.assertIn(masked, reader.shapes(PROJECT, [masked]))
        self.assertEqual(self.store.reindex(lambda _project: PlainMask()), 0)

    def test_names_out_of_the_code_are_masked_too(self) -> None:
        package = Package("PyPI", f"x-{SECRET}", "1.0", None, ("CVE-1",))
        self.scan([make_finding("three", scope_key=f"{SECRET}.run", resource=f"a.{SECRET}", package=package)], project_id=PROJECT)
        scopes = ScopeMap([ScopeSpan(1, 9, f"{SECRET}.run")], python=True)
        with self.store.write() as writer:
            writer.put_shapes(PROJECT, [FileShape("a.py", "0" * 64, b"", scopes.to_json()), FileShape("b.py", "0" * 64, b"", "")])
        self.store.reindex(lambda _project: PlainMask())
        self.assertEqual(self.bytes_with_secret(), [])
        with self.store.read() as reader:
            kept = ScopeMap.from_json(reader.shapes(PROJECT, ["a.py"])["a.py"].scopes_json)
        self.assertEqual(kept.at(3), "[REDACTED:test:00000000].run")

    def test_ids_stay(self) -> None:
        before = self.rows("SELECT logical_id, fingerprint FROM findings")
        self.store.reindex(lambda _project: PlainMask())
        self.assertEqual(self.rows("SELECT logical_id, fingerprint FROM findings"), before)


if __name__ == "__main__":
    unittest.main()
