"""A batch scans every file once and starts every scanner once, counted by programs that stand in for them."""

import sys
from collections import Counter
from pathlib import Path

from appsecgate.model import Scanner
from appsecgate.scan.run import run_scan, whole_project
from appsecgate.tools.verify_fix import VerifyFixInput
from appsecgate.tools.verify_fix_batch import VerifyFixBatchInput, verify_fix_batch
from tests.battery.bench import control
from tests.battery.iac_entries import TERRAFORM
from tests.battery.sca_entries import REQUIREMENTS
from tests.scanners.installed import find_installed
from tests.support import AWS_KEY, OSV_EXAMPLES, PACKAGE, ScannerCase, call, run_cli

CALLS = "import subprocess\n\n\n" + "\n\n".join(
    f"def run{n}(cmd):\n    subprocess.run(cmd + '{n}', shell=True)\n" for n in range(4)
)
WRAPPER = """#!/bin/sh
for word in "$@"; do printf '%s ' "$word" >> "{log}"; done
printf '\\n' >> "{log}"
exec "{real}" "$@"
"""


class CountedBatch(ScannerCase):
    def stand_in(self, scanner: Scanner) -> tuple[str, Path]:
        """A program that writes down its arguments and then becomes the real one, and its log."""
        real = find_installed(scanner)
        assert real is not None
        log = self.tmp / f"{scanner}.log"
        log.write_text("")
        folder = self.tmp / scanner / "bin"
        folder.mkdir(parents=True)
        program = folder / ("semgrep-core" if scanner is Scanner.SEMGREP else "python3")
        target = real.command[0] if scanner is Scanner.SEMGREP else str(real.python)
        program.write_text(WRAPPER.format(log=log, real=target))
        program.chmod(0o755)
        if scanner is Scanner.SEMGREP:
            return str(program), log
        command = folder / scanner
        command.write_text(f"#!{program}\n")
        command.chmod(0o755)
        return str(command), log

    def test_twenty_findings_in_seven_files_start_each_scanner_once(self) -> None:
        if sys.platform == "win32":
            self.skipTest("the stand-ins are shell scripts")
        status, _, err = run_cli(PACKAGE, self.data, "advisories", "import", str(OSV_EXAMPLES))
        self.assertEqual(status, 0, err)
        for name in ("a.py", "b.py", "c.py", "d.py"):
            self.write(name, CALLS.replace("cmd", f"cmd_{name[0]}"))
        self.write("settings.py", f'key = connect("{AWS_KEY}")\n')
        self.write("main.tf", TERRAFORM.replace("@", "x"))
        self.write("requirements.txt", REQUIREMENTS)
        stand_ins = {scanner: self.stand_in(scanner) for scanner in Scanner}
        session = self.session(**{f"scanners.{scanner}.command": [stand_ins[scanner][0]] for scanner in Scanner})
        found = run_scan(session, whole_project(session), control()).findings
        rules = ("python-subprocess-shell", "aws-access-key", "CKV_AWS_24", "CKV_AWS_20", "CVE-2018-18074")
        claimed = [one for one in found if one.rule_id in rules]
        self.assertEqual((len(claimed), len({one.file_path for one in claimed})), (20, 7))
        for path in {one.file_path for one in claimed}:
            self.write(path, "# looked at\n" + (self.project / path).read_text())
        for _, log in stand_ins.values():
            log.write_text("")
        attempts = tuple(VerifyFixInput(one.logical_id, "fixed", None) for one in claimed)  # type: ignore[arg-type]
        answer = verify_fix_batch(call(session), VerifyFixBatchInput(attempts))
        self.assertEqual(Counter(str(one.reason_code) for one in answer.results), {"still_present": 20})
        self.assertEqual(set(answer.file_rescans), {one.file_path for one in claimed})
        self.assertEqual(len(set(answer.file_rescans.values())), 1)
        for scanner, (_, log) in stand_ins.items():
            with self.subTest(scanner=scanner):
                starts = [line for line in log.read_text().splitlines() if " -c " not in line and "version" not in line]
                self.assertEqual(len(starts), 1, starts)
        with session.store.read() as reader:
            seen = Counter((t.scanner, t.path) for t in reader.targets(session.project_id, answer.results[0].scan_id or ""))
        self.assertEqual(set(seen.values()), {1}, "each scanner has one word on each file")
