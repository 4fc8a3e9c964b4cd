"""The subcommands about the ledger: status, export, doctor's integrity check, reindex, purge."""

import json
import sqlite3
import sys
import unittest

from appsecgate.errors import EXIT_DONE, EXIT_INCOMPLETE, EXIT_INTERNAL, EXIT_USAGE
from tests.support import PACKAGE, TempCase, run_cli


class LedgerCommandsTest(TempCase):
    def setUp(self) -> None:
        super().setUp()
        self.data.mkdir(mode=0o700)
        self.write("app.py", "print(1)\n")

    def run_command(self, *arguments: str) -> tuple[int, str]:
        status, out, err = run_cli(PACKAGE, self.data, *arguments, "--project", str(self.project))
        return status, out + err

    def database(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.data / "appsecgate.db")
        self.addCleanup(connection.close)
        return connection

    def test_status_says_what_nobody_has_looked_at(self) -> None:
        status, text = self.run_command("status")
        self.assertEqual(status, EXIT_DONE)
        for words in ("Open: 0.", "1 never_analysed", "app.py", "Nothing was scanned yet.", "scan_file("):
            with self.subTest(words):
                self.assertIn(words, text)

    def test_status_is_the_history_without_arguments(self) -> None:
        answers = [json.loads(self.run_command(*words)[1]) for words in (("status", "--json"), ("get-scan-history",))]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0]["standing"]["unchecked_by_reason"], {"never_analysed": 1})

    def test_both_formats_are_written_by_export(self) -> None:
        for form in ("ndjson", "parquet"):
            with self.subTest(form):
                status, text = self.run_command("export", form, "--format", form, "--json")
                self.assertEqual(status, EXIT_DONE, text)
                names = json.loads(text)["files"]
                self.assertIn(f"v_findings.{form}", names)
                self.assertEqual({file.name for file in (self.data / "exports" / form).iterdir()}, set(names))
        self.assertEqual(self.run_command("export", "parquet", "--format", "parquet")[0], EXIT_USAGE)

    def test_doctor_looks_into_the_database(self) -> None:
        status, text = self.run_command("doctor")
        self.assertEqual(status, EXIT_INCOMPLETE)
        self.assertIn("Database: sound", text)
        database = self.database()
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(
            "INSERT INTO suppressions (project_id, reason, origin, created_at, rule_id) VALUES ('p', ' ', 'o', 'c', 'r')"
        )
        database.commit()
        status, text = self.run_command("doctor")
        self.assertEqual(status, EXIT_INTERNAL)
        self.assertIn("Database: damaged", text)
        self.assertIn("suppressions", text)
        self.assertTrue(json.loads(self.run_command("doctor", "--json")[1])["database_problems"])

    def test_an_export_goes_where_a_person_says(self) -> None:
        elsewhere = self.tmp / "elsewhere"
        for position, arguments in enumerate((("--export-dir", str(elsewhere), "export"), ("export", "--export-dir", str(elsewhere)))):
            with self.subTest(arguments):
                status, text = self.run_command(*arguments, f"s{position}")
                self.assertEqual(status, EXIT_DONE, text)
                self.assertTrue((elsewhere / f"s{position}" / "manifest.json").is_file())
        self.assertEqual(self.run_command("export", str(elsewhere / "s2"))[0], EXIT_USAGE)

    def test_arguments_are_held_to_the_tools_limits(self) -> None:
        for number in ("0", "-1", "101"):
            with self.subTest(number):
                self.assertEqual(self.run_command("history", "--limit", number)[0], EXIT_USAGE)

    def test_a_terminal_without_unicode_ends_no_command(self) -> None:
        status, out, err = run_cli(
            PACKAGE, self.data, "status", "--project", str(self.project), PYTHONIOENCODING="ascii"
        )
        self.assertEqual((status, err), (EXIT_DONE, ""))
        self.assertIn("----", out)

    def test_a_bug_has_an_exit_status_of_its_own(self) -> None:
        """Python's own, 1, would be read as findings."""
        program = "import sys\nfrom appsecgate import cli, cli_scan\ncli_scan.scan_project = None\nsys.exit(cli.main(sys.argv[1:], None))"
        token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
        for words in (["scan"], ["serve", "--project", token]):
            with self.subTest(words):
                status, out, err = run_cli((sys.executable, "-c", program), self.data, *words, cwd=self.project)
                self.assertEqual((status, out), (EXIT_INTERNAL, ""))
                self.assertIn("TypeError", err)
                self.assertNotIn(token, err)

    def test_purge_asks_first_and_then_leaves_nothing(self) -> None:
        self.run_command("status")
        count = "SELECT count(*) FROM projects"
        self.assertEqual(self.run_command("purge")[0], EXIT_USAGE)
        self.assertEqual(self.database().execute(count).fetchone(), (1,))
        self.assertEqual(self.run_command("purge", "--yes")[0], EXIT_DONE)
        self.assertEqual(self.database().execute(count).fetchone(), (0,))

    def test_reindex_masks_what_is_stored_and_says_how_much(self) -> None:
        self.run_command("status")
        token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
        database = self.database()
        database.execute(
            "INSERT INTO suppressions (project_id, reason, origin, created_at, rule_id) VALUES ('p', ?, 'o', 'c', 'r')",
            (f"see {token}",),
        )
        database.commit()
        self.assertEqual(self.run_command("reindex")[0], EXIT_USAGE)
        status, text = self.run_command("reindex", "--redaction")
        self.assertEqual((status, text.strip()), (EXIT_DONE, "1 stored texts masked anew."))
        reason = self.database().execute("SELECT reason FROM suppressions").fetchone()[0]
        self.assertRegex(reason, r"^see \[REDACTED:")


if __name__ == "__main__":
    unittest.main()
