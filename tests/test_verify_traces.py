"""Looking for where flagged code went ends with the call's time, and then proves nothing."""

import time
import unittest

from appsecgate.model import Scanner
from appsecgate.process import CancelToken
from appsecgate.session import Control
from appsecgate.verify_traces import Traces, find_traces, read_moments
from tests.store.ledger import make_finding
from tests.tools.test_standing import StandingCase


class FindTracesTest(StandingCase):
    def traces(self, seconds: float) -> Traces:
        self.write("app/views.py", "x = 1\n")
        finding = make_finding("one")
        self.look_at("app/views.py", Scanner.SEMGREP, findings=(finding,))
        self.write("other.py", "y = 1\n")
        project_id = self.session.project_id
        with self.session.store.read() as reader:
            stored = reader.finding(project_id, finding.logical_id)
            assert stored is not None
            moments = {finding.logical_id: read_moments(reader, project_id, stored)}
        control = Control(CancelToken(), time.monotonic() + seconds)
        return find_traces(self.session, [stored], moments, control)

    def test_with_time_the_whole_tree_is_looked_through(self) -> None:
        self.assertTrue(self.traces(60).complete)

    def test_without_time_it_is_not_said_to_be(self) -> None:
        self.assertFalse(self.traces(0).complete)


if __name__ == "__main__":
    unittest.main()
