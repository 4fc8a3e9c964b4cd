"""The battery: fakes accepted 0, honest edits accepted all, every reason the right one."""

from appsecgate.model import FixStatus
from tests.battery.bench import FILES_ONLY, PLAIN, SCAN_BETWEEN, all_entries, bench, grouped
from tests.battery.entry import Entry
from tests.support import ScannerCase


class Battery(ScannerCase):
    def test_every_edit_is_judged_right_with_the_right_reason(self) -> None:
        entries = all_entries()
        self.assertGreaterEqual(len(entries), 60)
        self.assertGreaterEqual(sum(entry.status is FixStatus.FIXED for entry in entries), 20)
        self._judge(entries, PLAIN)

    def _judge(self, entries: list[Entry], mode: str) -> None:
        with bench(self.tmp) as run:
            for outcome in run.run(entries, mode=mode):
                with self.subTest(entry=outcome.entry.name, mode=mode):
                    if mode == PLAIN:
                        self.assertEqual(outcome.problem, "")
                    else:
                        self.assertIsNotNone(outcome.result)
                        assert outcome.result is not None
                        self.assertIs(outcome.result.verified_status, outcome.entry.status, outcome.result.reason)

    def test_a_scan_between_edit_and_claim_changes_no_verdict(self) -> None:
        entries = [entry for entry in all_entries() if entry.scanner in ("semgrep", "detect-secrets")]
        spelled = ("Python", "JavaScript", "Bash")  # a spelling of its own is judged alike in all languages
        kept = [
            entry
            for entry in entries
            if entry.dialect not in ("TypeScript", "Java", "Go", "C") and (entry.case != "V14" or entry.dialect in spelled)
        ]
        self._judge(kept, SCAN_BETWEEN)

    def test_no_fake_is_accepted_where_nothing_but_the_file_was_known(self) -> None:
        entries = [entry for entry in all_entries() if entry.dialect == "Python"]
        self._judge([entry for entry in entries if entry.status is FixStatus.NOT_FIXED], FILES_ONLY)

    def test_entries_that_could_be_taken_for_one_another_are_kept_apart(self) -> None:
        for group in grouped(all_entries()):
            movers = [entry.dialect for entry in group if entry.moves]
            self.assertEqual(len(set(movers)), len(movers))
