"""The database of the first released schema, with rows in every table, as an SQL text.

``python3 -m tests.store.first_schema`` writes ``tests/data/schema_v1.sql`` anew. Only before the first release: from
then on that file is what people have on their machines.
"""

from pathlib import Path

from appsecgate.model import Category, FeedbackVerdict, FixStatus, Package, Scanner
from appsecgate.redact.redactor import SecretMark
from appsecgate.store.audit import AuditEntry, QueryOutcome
from appsecgate.store.migrations import SCHEMA_VERSION
from appsecgate.store.retention import apply_retention
from appsecgate.store.scans import FileShape
from appsecgate.store.suppressions import Suppression
from tests.store.ledger import OTHER, PROJECT, LedgerCase, hex_id, make_finding

FIRST_SCHEMA = Path(__file__).resolve().parents[1] / "data" / "schema_v1.sql"


class FirstSchema(LedgerCase):
    """Not a test: a ledger that is filled and written down."""

    def runTest(self) -> None:  # noqa: N802 -- unittest's name for it
        self.fill_findings()
        self.fill_the_rest()
        connection = self.raw()
        lines = [*connection.iterdump(), f"PRAGMA user_version = {SCHEMA_VERSION};"]
        FIRST_SCHEMA.write_text("\n".join(lines) + "\n", "utf-8")

    def fill_findings(self) -> None:
        """One finding for each way that a life can take."""
        names = ["open", "shown", "fixed", "failed", "accepted", "false alarm", "idle", "gone", "hidden", "ünï 😀"]
        findings = {name: make_finding(name, file_path=f"src/{name}.py") for name in names}
        findings["sca"] = make_finding(
            "sca", category=Category.SCA, scanner=Scanner.PIP_AUDIT, rule_id="CVE-2026-1",
            package=Package("PyPI", "jinja2", "2.0", "2.1", ("CVE-2026-1", "GHSA-1")),
        )  # fmt: skip
        findings["twin"] = make_finding("twin", rule_id="other", merged_into=findings["open"].logical_id)
        self.scan(list(findings.values()))
        self.show(findings["idle"], findings["fixed"])
        self.attempt(findings["fixed"], FixStatus.FIXED)
        self.clock.forward(days=100)
        self.scan(
            [findings[name] for name in names if name not in ("gone", "fixed")], gone=[findings["gone"].logical_id]
        )
        with self.store.write() as writer:
            apply_retention(writer, PROJECT, self.clock.text())
        self.show(findings["shown"], findings["failed"])
        self.attempt(findings["failed"], FixStatus.NOT_FIXED)
        self.attempt(findings["accepted"], FixStatus.WONT_FIX)
        with self.store.write() as writer:
            alarm = findings["false alarm"]
            writer.add_feedback(PROJECT, alarm.logical_id, FeedbackVerdict.FALSE_POSITIVE, "a test", "session")
            writer.add_suppression(PROJECT, Suppression("a fixture", "tool", logical_id=findings["hidden"].logical_id))
            writer.apply_suppressions(PROJECT, [])

    def fill_the_rest(self) -> None:
        """What is not about one finding."""
        now = self.clock.text()
        self.scan([make_finding("theirs")], project_id=OTHER)
        with self.store.write() as writer:
            writer.touch_project(OTHER, "alias-b", "/somewhere/b")
            for sha256 in (hex_id("src/gone.py", 64), "2" * 64):  # as the scan that found something saw it, and later
                writer.put_shapes(PROJECT, [FileShape("src/gone.py", sha256, bytes(16), '{"scopes":[]}', "1*2")])
            writer.add_secret_marks(PROJECT, [SecretMark("aws", 20, "0123abcd")])
            writer.set_config(PROJECT, {"project.alias": "a name"}, by="test")
            writer.add_audit(PROJECT, AuditEntry("s", "SELECT 1", 3, 1, now, QueryOutcome.OK))


if __name__ == "__main__":
    case = FirstSchema()
    result = case.run()
    if result is None or not result.wasSuccessful():
        raise SystemExit("\n".join(text for _, text in result.errors) if result else "nothing was run")
