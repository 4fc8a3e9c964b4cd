"""Claims that are no edit of one file: settings, scanners that fail, files that change meanwhile, second attempts."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from appsecgate.model import FeedbackVerdict, FixStatus, ReasonCode, Scanner
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.session import Session
from appsecgate.tools.submit_feedback import SubmitFeedbackInput, submit_feedback
from appsecgate.tools.suppress_finding import SuppressFindingInput, suppress_finding
from appsecgate.tools.update_config import UpdateConfigInput, update_config
from appsecgate.verify import VerifyResult, check_claim, verify_claims
from tests.battery.bench import control
from tests.support import ScannerCase, call

CALC = "def calc(text):\n    return eval(text)\n"
SAFE = "import ast\n\n\ndef calc(text):\n    return ast.literal_eval(text)\n"
RULE = {
    "id": "no-danger", "languages": ["python"], "severity": "ERROR", "message": "danger", "pattern": "danger(...)",
}  # fmt: skip


class Claims(ScannerCase):
    scanners = (Scanner.SEMGREP, Scanner.DETECT_SECRETS)

    def first_scan(self, text: str = CALC, **settings: Any) -> Session:
        self.write("calc.py", text)
        session = self.session(**settings)
        run_scan(session, whole_project(session), control())
        return session

    def claim(self, session: Session, rule: str = "python-eval", status: FixStatus = FixStatus.FIXED) -> VerifyResult:
        """The finding of this rule, present or gone, is said to be fixed."""
        with session.store.read() as reader:
            stored = reader.findings(session.project_id, present=None, include_suppressed=True, include_merged=True)
        found = next(item for item in stored if item.finding.rule_id == rule)
        return verify_claims(session, [check_claim(found, status, "")], control())[0][0]

    def assert_refused(self, result: VerifyResult, *codes: ReasonCode) -> None:
        self.assertEqual((result.verified_status, result.verified), (FixStatus.NOT_FIXED, False), result.reason)
        self.assertIn(result.reason_code, codes, result.reason)

    def rules(self, *rules: dict[str, Any]) -> None:
        self.write("rules.json", json.dumps({"rules": rules}))
        self.write(".appsecgate.toml", '[scanners.semgrep]\nrules = ["builtin", "rules.json"]\n')


class AgentsTools(Claims):
    def test_no_tool_of_the_agent_makes_a_verdict_green(self) -> None:
        session = self.first_scan()
        finding_id = self.claim(session).logical_id
        suppress_finding(call(session), SuppressFindingInput(reason="x", finding_id=finding_id))
        suppress_finding(call(session), SuppressFindingInput(reason="x", path="*"))
        for verdict in FeedbackVerdict:
            submit_feedback(call(session), SubmitFeedbackInput(finding_id, verdict, "because"))
            with self.subTest(verdict=verdict):
                self.assert_refused(self.claim(session), ReasonCode.STILL_PRESENT)
        update_config(call(session), UpdateConfigInput({"suppressions": [{"rule": "*", "reason": "x"}]}))
        self.assert_refused(self.claim(session), ReasonCode.STILL_PRESENT)
        with session.store.read() as reader:
            self.assertEqual(reader.coverage(session.project_id).fixed, 0)

    def test_limits_that_an_agent_may_lower_leave_the_file_unproved(self) -> None:
        session = self.first_scan(CALC + "# filler\n" * 80_000)
        update_config(call(session), UpdateConfigInput({"limits.max_file_bytes": 500_000}))
        self.assert_refused(self.claim(session), ReasonCode.NOT_ANALYSED)

    def test_a_claim_of_not_fixed_is_checked_too_and_the_truth_is_stored(self) -> None:
        session = self.first_scan()
        self.write("calc.py", SAFE)
        result = self.claim(session, status=FixStatus.NOT_FIXED)
        self.assertEqual((result.reported_status, result.verified_status), (FixStatus.NOT_FIXED, FixStatus.FIXED))


class Rules(Claims):
    def test_rules_of_the_project_cannot_be_bent(self) -> None:
        narrow = {**RULE, "patterns": [{"pattern": "danger(...)"}, {"pattern-not": "danger(1)"}]}
        del narrow["pattern"]
        excluded = {**RULE, "paths": {"exclude": ["calc.py"]}}
        for title, rules, codes in (
            ("narrowed", [narrow], {ReasonCode.SUPPRESSED_BY_CONFIG}),
            ("excluded path", [excluded], {ReasonCode.SUPPRESSED_BY_CONFIG}),
            ("renamed", [{**RULE, "id": "other"}], {ReasonCode.RULE_MISSING}),
            ("its name taken", [{**RULE, "pattern": "harmless(...)"}, RULE], {ReasonCode.SUPPRESSED_BY_CONFIG}),
        ):
            with self.subTest(title):
                self.rules(RULE)
                session = self.first_scan("danger(1)\n")
                self.rules(*rules)
                self.assert_refused(self.claim(session, "custom.no-danger"), *codes)

    def test_a_rule_file_that_is_gone_or_broken_is_named(self) -> None:
        self.rules(RULE)
        session = self.first_scan("danger(1)\n")
        for title, settings, rules in (
            ("removed from the settings", "", json.dumps({"rules": [RULE]})),
            ("emptied", (self.project / ".appsecgate.toml").read_text(), "{}"),
            ("broken", (self.project / ".appsecgate.toml").read_text(), "{"),
        ):
            with self.subTest(title):
                self.write(".appsecgate.toml", settings)
                self.write("rules.json", rules)
                self.assert_refused(self.claim(session, "custom.no-danger"), ReasonCode.RULE_MISSING)

    def test_another_rule_file_does_not_stand_in_the_way_of_an_honest_fix(self) -> None:
        session = self.first_scan()
        self.rules(RULE)
        self.write("calc.py", SAFE)
        self.assertTrue(self.claim(session).verified)


class Scanners(Claims):
    def test_a_scanner_that_fails_proves_nothing_and_the_finding_stays(self) -> None:
        for title, program, code in (
            ("exits 2", "exit 2", ReasonCode.SCANNER_FAILED),
            ("prints text before its JSON", 'echo "a new version"; exec "{core}" "$@"', ReasonCode.SCANNER_FAILED),
            ("hangs", "sleep 60", ReasonCode.SCANNER_TIMEOUT),
            ("says that all is well", 'echo \'{{"results": [], "errors": [], "paths": {{"scanned": []}}}}\'',
             ReasonCode.SCANNER_FAILED),
        ):  # fmt: skip
            with self.subTest(title):
                core = self._core(program)
                settings: dict[str, Any] = {"scanners.semgrep.command": [str(core)], "scanners.semgrep.timeout_s": 4}
                session = self.first_scan(**settings)
                self.write("calc.py", SAFE)
                core.with_name("broken").write_text("")
                self.assert_refused(self.claim(session), code, ReasonCode.SENTINEL_DEAD)
                with session.store.read() as reader:
                    present = reader.findings(session.project_id)
                self.assertEqual([(item.finding.rule_id, item.present) for item in present], [("python-eval", True)])
                core.with_name("broken").unlink()
                self.assertTrue(self.claim(session).verified, "an honest fix is accepted once the scanner is well")

    def _core(self, broken: str) -> Path:
        """A semgrep-core that is the real one until a file called ``broken`` lies beside it."""
        session = self.session()
        tool = session.installation(Scanner.SEMGREP)
        assert tool is not None
        program = self.tmp / "bin" / "semgrep-core"
        program.parent.mkdir(exist_ok=True)
        do = broken.format(core=tool.command[0])
        program.write_text(
            f'#!/bin/sh\nif [ "$1" != -version ] && [ -e "{program.parent}/broken" ]; then\n{do}\nexit 0\nfi\n'
            f'exec "{tool.command[0]}" "$@"\n'
        )
        program.chmod(0o755)
        os.utime(program)
        return program

    def test_a_scanner_that_is_missing_or_switched_off_is_named(self) -> None:
        self.first_scan()
        self.write("calc.py", SAFE)
        cases: tuple[tuple[dict[str, Any], ReasonCode], ...] = (
            ({"scanners.semgrep.command": ["/nowhere/semgrep-core"]}, ReasonCode.SCANNER_MISSING),
            ({"scanners.enabled": ["detect-secrets"]}, ReasonCode.SCANNER_DISABLED),
        )
        for settings, code in cases:
            with self.subTest(code=code):
                self.assert_refused(self.claim(self.session(**settings)), code)


class Moments(Claims):
    def test_a_file_that_changes_during_the_run_is_not_judged(self) -> None:
        session = self.first_scan()
        self.write("calc.py", SAFE)
        stop = threading.Event()

        def keep_changing() -> None:
            count = 0
            while not stop.is_set():
                count += 1
                self.write("calc.py", f"{SAFE}# {count}\n")
                time.sleep(0.01)

        thread = threading.Thread(target=keep_changing)
        thread.start()
        try:
            result = self.claim(session)
        finally:
            stop.set()
            thread.join()
        self.assert_refused(result, ReasonCode.FILE_CHANGED_DURING_RUN, ReasonCode.NOT_ANALYSED)

    def test_a_fix_verified_twice_is_fixed_twice_and_a_relapse_is_seen(self) -> None:
        session = self.first_scan()
        self.write("calc.py", SAFE)
        self.assertTrue(self.claim(session).verified)
        self.write("more.py", "def other(text):\n    return eval(text)\n")
        self.assertTrue(self.claim(session).verified, "what came later elsewhere is another finding")
        self.write("calc.py", CALC)
        self.assert_refused(self.claim(session), ReasonCode.STILL_PRESENT)
        self.write("calc.py", SAFE)
        result = self.claim(session)
        self.assertEqual((result.verified, result.attempt_num), (True, 4))

    def test_marks_are_in_the_public_view(self) -> None:
        session = self.first_scan(CALC + "\n\nx = 1\n")
        self.write("calc.py", "x = 1\n")
        self.assertIs(self.claim(session).reason_code, ReasonCode.CODE_REMOVED)
        (self.project / "calc.py").unlink()
        self.assertIs(self.claim(session).reason_code, ReasonCode.FILE_DELETED)
        with session.store.read() as reader:
            codes = [attempt.attempt.reason_code for attempt in reader.attempts(session.project_id)]
        self.assertEqual(codes, [ReasonCode.FILE_DELETED, ReasonCode.CODE_REMOVED])

    def test_two_attempts_do_not_wear_the_verdict_down(self) -> None:
        """The code is copied out of sight, a verification is refused, then the original goes."""
        session = self.first_scan("def calc(text):\n    eval(text)\n    return 1\n")
        self.write("hidden.inc", "eval(text)\n")
        self.assert_refused(self.claim(session), ReasonCode.STILL_PRESENT)
        self.write("calc.py", "import runpy\n\n\ndef calc(text):\n    return runpy.run_path('hidden.inc')\n")
        self.assert_refused(self.claim(session), ReasonCode.MOVED)
        run_scan(session, whole_project(session), control())
        self.assert_refused(self.claim(session), ReasonCode.MOVED)


class Twins(Claims):
    def test_a_fix_counts_only_when_every_report_of_the_weakness_is_gone(self) -> None:
        self.rules({**RULE, "pattern": "$CALL(text)", "metadata": {"cwe": ["CWE-95: Eval Injection"]}})
        session = self.first_scan()
        with session.store.read() as reader:
            found = reader.findings(session.project_id, include_merged=True)
        self.assertEqual(len(found), 2)
        self.assertEqual(sum(item.finding.merged_into is not None for item in found), 1)
        self.write("calc.py", "def calc(text):\n    return int(text)\n")
        self.assert_refused(self.claim(session, "python-eval"), ReasonCode.TWIN_PRESENT)
        self.assert_refused(self.claim(session, "custom.no-danger"), ReasonCode.STILL_PRESENT, ReasonCode.CHANGED_STILL_PRESENT)
        self.write("calc.py", "def calc(text):\n    return 1\n")
        for rule in ("python-eval", "custom.no-danger"):
            with self.subTest(rule=rule):
                self.assertTrue(self.claim(session, rule).verified)
