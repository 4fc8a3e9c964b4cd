"""Scans, evidence, which bytes were looked at, what needs no second look."""

import unittest
from dataclasses import replace

from appsecgate.errors import StorageError
from appsecgate.model import EvidenceReason, EvidenceState, FixStatus, Scanner, SentinelState
from appsecgate.redact.redactor import SecretMark
from appsecgate.store.scans import FileShape
from tests.store.ledger import OTHER, PROJECT, LedgerCase, applied, evidence_row, make_finding

PATH = "app/views.py"
INPUT = applied(PATH).input_hash


class EvidenceTest(LedgerCase):
    def test_scans_come_latest_first_with_their_evidence(self) -> None:
        for _ in range(3):
            self.scan([make_finding("one")])
            self.clock.forward(minutes=1)
        with self.store.read() as reader:
            scans = reader.scans(PROJECT, limit=2)
            self.assertEqual(reader.scans(OTHER), [])
        self.assertEqual([scan.record.scan_id for scan in scans], ["scan-3", "scan-2"])
        self.assertEqual(scans[1].evidence[0].findings, 1)

    def test_evidence_comes_out_as_it_went_in(self) -> None:
        rows = [
            evidence_row(2, 1, self.clock.text()),
            evidence_row(
                1, 0, self.clock.text(), state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.SENTINEL_MISSED,
                sentinel=SentinelState.MISSED, scanner=Scanner.CHECKOV, detail="d" * 300,
            ),
        ]  # fmt: skip
        self.scan()
        with self.store.write() as writer:
            record = writer.scans(PROJECT)[0].record
            writer.add_scan(replace(record, scan_id="other"), findings=[], evidence=rows, targets=[])
        with self.store.read() as reader:
            self.assertEqual(reader.evidence(PROJECT, "other"), rows)
        self.assertEqual(
            self.rows("SELECT state, reason, targets, sentinel FROM v_scan_evidence WHERE scan_id = 'other'"),
            [("applied", "", 2, "alive"), ("not_verified", "sentinel_missed", 1, "missed")],
        )

    def test_a_scan_id_is_used_once(self) -> None:
        self.scan()
        self._scans = 0
        with self.assertRaises(StorageError):
            self.scan()

    def test_anyone_can_ask_which_bytes_were_looked_at(self) -> None:
        first = applied(PATH)
        second = applied(PATH, sha256="b" * 64, state=EvidenceState.NOT_VERIFIED, reason=EvidenceReason.PARSE_FAILED,
                         detail="line 3")  # fmt: skip
        self.scan(targets=[first, applied(PATH, Scanner.DETECT_SECRETS), applied("other.py")])
        self.clock.forward(minutes=1)
        self.scan(targets=[second])
        self.clock.forward(minutes=1)
        self.scan(targets=[replace(first, reason=EvidenceReason.CACHED)])
        with self.store.read() as reader:
            found = reader.target_evidence(PROJECT, PATH, first.sha256)
            failed = reader.target_evidence(PROJECT, PATH, "b" * 64)
            self.assertEqual(reader.target_evidence(OTHER, PATH, first.sha256), [])
            self.assertEqual(len(reader.targets(PROJECT, "scan-1")), 3)
        self.assertEqual(
            [(target.scan_id, str(target.evidence.scanner), str(target.evidence.reason)) for target in found],
            [("scan-3", "semgrep", "cached"), ("scan-1", "detect-secrets", ""), ("scan-1", "semgrep", "")],
        )
        self.assertEqual(failed[0].evidence, replace(second, input_hash=""))


class SettledTest(LedgerCase):
    """A wrong "needs no second look" would hide findings."""

    def settled(self, path: str = PATH) -> str:
        with self.store.read() as reader:
            return reader.settled_inputs(PROJECT, [path]).get((Scanner.SEMGREP, path), "")

    def test_complete_evidence_settles_a_file(self) -> None:
        self.assertEqual(self.settled(), "")
        self.scan(targets=[applied(PATH)])
        self.assertEqual(self.settled(), INPUT)
        with self.store.read() as reader:
            self.assertEqual(reader.settled_inputs(OTHER, [PATH]), {})
            self.assertEqual(
                reader.checked_files(PROJECT),
                {(Scanner.SEMGREP, PATH): (applied(PATH).sha256, EvidenceState.APPLIED)},
            )

    def test_a_cached_answer_points_at_the_scan_that_looked(self) -> None:
        self.scan(targets=[applied(PATH)])
        self.scan(targets=[applied(PATH, reason=EvidenceReason.CACHED)])
        self.assertEqual(self.settled(), INPUT)
        self.assertEqual(self.rows("SELECT scan_id FROM target_states"), [("scan-1",)])

    def test_trouble_unsettles_a_file(self) -> None:
        for reason in (EvidenceReason.SCANNER_TIMEOUT, EvidenceReason.PARTIAL, EvidenceReason.FILE_CHANGED):
            self.scan(targets=[applied(PATH)])
            self.scan(targets=[applied(PATH, state=EvidenceState.NOT_VERIFIED, reason=reason)])
            with self.subTest(reason):
                self.assertEqual(self.settled(), "")

    def test_a_deleted_file_that_comes_back_is_looked_at_again(self) -> None:
        one = make_finding("one")
        self.scan([one])
        self.scan(gone=[one.logical_id], targets=[])
        self.assertEqual(self.settled(), "")

    def test_a_renamed_file_whose_old_name_comes_back_is_looked_at_again(self) -> None:
        one = make_finding("one")
        self.scan([one])
        self.scan([replace(one, file_path="new.py")])
        self.assertEqual(self.settled(), "")
        self.assertNotEqual(self.settled("new.py"), "")

    def test_a_fix_that_a_scan_saw_keeps_the_file_settled(self) -> None:
        one = make_finding("one")
        self.scan([one])
        self.scan(gone=[one.logical_id], targets=[applied(PATH)])
        self.attempt(one, FixStatus.FIXED)
        self.assertEqual(self.settled(), INPUT)

    def test_a_fix_that_no_scan_saw_unsettles_the_file(self) -> None:
        one = make_finding("one")
        self.scan([one])
        self.attempt(one, FixStatus.FIXED)
        self.assertEqual((self.settled(), self.status(one)), ("", "fixed"))


class FilesTest(LedgerCase):
    def test_shapes_are_kept_replaced_and_dropped(self) -> None:
        with self.store.write() as writer:
            writer.put_shapes(PROJECT, [FileShape("a", "1", b"12345678", "[1]"), FileShape("caf\udce9", "2", b"", "")])
        with self.store.write() as writer:
            writer.put_shapes(PROJECT, [FileShape("a", "3", b"", "[2]")])
        with self.store.read() as reader:
            found = reader.shapes(PROJECT, ["a", "caf\udce9", "nothing"])
            self.assertEqual(reader.shapes(OTHER, ["a"]), {})
        self.assertEqual(
            found, {"a": FileShape("a", "3", b"", "[2]"), "caf\udce9": FileShape("caf\udce9", "2", b"", "")}
        )
        with self.store.write() as writer:
            writer.put_shapes(PROJECT, [], dropped=["a"])
            self.assertEqual(writer.shapes(PROJECT, ["a"]), {})

    def test_a_file_that_no_longer_parses_keeps_its_last_good_scopes(self) -> None:
        with self.store.write() as writer:
            writer.put_shapes(PROJECT, [FileShape("a", "1", b"old", "[1]")])
            writer.put_shapes(PROJECT, [FileShape("a", "2", b"new", "")])
            self.assertEqual(writer.shapes(PROJECT, ["a"])["a"], FileShape("a", "2", b"new", "[1]"))

    def test_marks_of_secrets_are_a_set(self) -> None:
        mark = SecretMark("aws", 20, "01234567")
        with self.store.write() as writer:
            writer.add_secret_marks(PROJECT, [mark, mark, SecretMark("aws", 21, "01234567")])
            writer.add_secret_marks(PROJECT, [mark])
        with self.store.read() as reader:
            self.assertEqual(reader.secret_marks(PROJECT), (mark, SecretMark("aws", 21, "01234567")))
            self.assertEqual(reader.secret_marks(OTHER), ())


if __name__ == "__main__":
    unittest.main()
