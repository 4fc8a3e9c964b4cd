"""Claims that hang on what arrived elsewhere, in a project that was scanned as a whole and has no git."""

import shutil
import time
from unittest import mock

from appsecgate import verify_traces
from appsecgate.model import ReasonCode
from tests.battery.test_claims import CALC, SAFE, Claims

CALLER = "from helper import helper\n\n\ndef calc(text):\n    return helper(text)\n"
OTHER = "def helper(x):\n    return eval(str(x), {})\n"


class Arrivals(Claims):
    def test_the_same_weakness_in_a_file_that_no_scan_listed_is_moved(self) -> None:
        session = self.first_scan()
        self.write("calc.py", CALLER)
        self.write("helper.py", OTHER)
        for _ in range(2):  # the rescan itself must not make it look old
            result = self.claim(session)
            self.assert_refused(result, ReasonCode.MOVED)
            self.assertIn("The same weakness is new at helper.py:2", result.reason)
        self.write("helper.py", "helper = int\n")
        self.assertTrue(self.claim(session).verified)

    def test_a_directory_that_was_prepared_elsewhere_is_searched_in_all_its_files(self) -> None:
        outside = self.tmp / "prepared"
        outside.mkdir()
        (outside / "helper.py").write_text(CALC)
        time.sleep(2.5)
        session = self.first_scan()
        shutil.move(outside, session.workspace.root / "lib")
        self.write("calc.py", "from lib.helper import calc\n")
        result = self.claim(session)
        self.assert_refused(result, ReasonCode.MOVED)
        self.assertIn("lib/helper.py:2", result.reason)

    def test_more_arrived_files_than_are_scanned_prove_nothing(self) -> None:
        session = self.first_scan()
        self.write("calc.py", SAFE)
        for number in range(4):
            self.write(f"new_{number}.py", f"number = {number}\n")
        with mock.patch.object(verify_traces, "MAX_SCANNED", 3):
            self.assert_refused(self.claim(session), ReasonCode.NOT_ANALYSED)
        self.assertTrue(self.claim(session).verified)

    def test_a_finding_of_a_kind_that_the_edit_brings_in_is_named(self) -> None:
        session = self.first_scan("import pickle\n\n\ndef load(data):\n    return pickle.loads(data)\n")
        self.write("calc.py", "import yaml\n\n\ndef load(data):\n    return yaml.load(data, Loader=yaml.Loader)\n")
        result = self.claim(session, "python-unsafe-deserialization")
        self.assertTrue(result.verified, result.reason)
        self.assertRegex(result.reason, r"but the edit brings in python-yaml-\S+ at line 5: see new_findings")
