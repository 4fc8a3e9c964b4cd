"""A batch that claims one finding twice is refused whole."""

import unittest

from appsecgate.errors import ArgumentError
from appsecgate.model import FixStatus, Scanner
from appsecgate.tools.verify_fix import VerifyFixInput
from appsecgate.tools.verify_fix_batch import VerifyFixBatchInput, verify_fix_batch
from tests.store.ledger import make_finding
from tests.support import call
from tests.tools.test_standing import StandingCase


class VerifyFixBatchTest(StandingCase):
    def test_one_finding_twice_is_refused_whole_however_it_is_named(self) -> None:
        self.write("app/views.py", "x = 1\n")
        finding = make_finding("one")
        self.look_at("app/views.py", Scanner.SEMGREP, findings=(finding,))
        for first, second in (
            (finding.logical_id, finding.logical_id),
            (finding.logical_id, finding.fingerprint),
            ("unknown", "unknown"),
        ):
            attempts = (VerifyFixInput(first, FixStatus.WONT_FIX, "a reason"), VerifyFixInput(second, FixStatus.WONT_FIX))
            with self.subTest(first=first, second=second), self.assertRaisesRegex(ArgumentError, "nothing was done"):
                verify_fix_batch(call(self.session), VerifyFixBatchInput(attempts))
        self.assertEqual(self.history().attempts, 0)


if __name__ == "__main__":
    unittest.main()
