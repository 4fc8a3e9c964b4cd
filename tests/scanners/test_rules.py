"""Our own semgrep rules: their form, and what they find in the annotated samples in ``tests/data/rules``."""

import re
import unittest
from pathlib import Path

from appsecgate.errors import ConfigError
from appsecgate.model import EvidenceState, Json, Scanner, SentinelState
from appsecgate.scanners.base import Installation
from appsecgate.scanners.report_json import json_object, json_text, json_texts
from appsecgate.scanners.semgrep import SemgrepAdapter, load_semgrep_samples
from appsecgate.scanners.semgrep_rules import builtin_rules, custom_rules, make_rule_pack, rule_languages
from tests.scanners.installed import require_installed
from tests.scanners.staging import StageCase

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "rules"
MARK = re.compile(r"\b(ruleid|ok): ([\w-]+)")


class RuleFormTest(unittest.TestCase):
    def setUp(self) -> None:
        self.rules = builtin_rules()

    def test_ids_are_unique(self) -> None:
        identifiers = [json_text(rule["id"]) for rule in self.rules if ".part-" not in json_text(rule["id"])]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        self.assertGreater(len(identifiers), 25)

    def test_every_rule_says_what_it_is_about_and_what_to_do(self) -> None:
        for rule in self.rules:
            with self.subTest(rule["id"]):
                metadata = json_object(rule["metadata"])
                self.assertRegex(json_text(rule["id"]), r"^[a-z]+(-[a-z0-9]+)+(\.part-[2-9])?$")
                self.assertIn(rule["severity"], ("ERROR", "WARNING", "INFO"))
                self.assertRegex(json_text(rule["message"]), r"^\S.{15,200}\.$")
                self.assertTrue(json_text(metadata["remediation"]).endswith("."))
                for name in ("confidence", "impact", "likelihood"):
                    self.assertIn(metadata[name], ("LOW", "MEDIUM", "HIGH"))
                for value, pattern in (
                    (metadata["cwe"], r"^CWE-\d+: "),
                    (metadata["owasp"], r"^A\d\d:2021 - "),
                    (metadata["references"], r"^https://"),
                ):
                    self.assertTrue(json_texts(value))
                    for text in json_texts(value):
                        self.assertRegex(text, pattern)

    def test_no_message_quotes_the_code(self) -> None:
        for rule in self.rules:
            self.assertNotRegex(json_text(rule["message"]), r"\$[A-Z]")

    def test_every_language_of_a_rule_has_a_known_bad_sample_with_a_rule_of_ours(self) -> None:
        samples, pack = load_semgrep_samples(), make_rule_pack(self.rules)
        for language in pack.languages():
            with self.subTest(language):
                self.assertTrue(set(samples[language].rules))
                self.assertLessEqual(set(samples[language].rules), pack.identifiers())


class PackTest(unittest.TestCase):
    def test_another_files_rule_never_passes_as_one_of_ours(self) -> None:
        theirs: list[dict[str, Json]] = [
            {"id": "python-eval", "languages": ["py"]},
            {"id": "python-eval", "languages": ["golang", "generic"]},
        ]
        pack = make_rule_pack(builtin_rules(), theirs)
        self.assertLessEqual({"python-eval", "custom.python-eval", "custom.python-eval.2"}, pack.identifiers())
        self.assertTrue(pack.wide_custom())
        self.assertFalse(make_rule_pack(builtin_rules()).wide_custom())
        self.assertEqual(rule_languages(theirs[1]), {"go", "generic"})

    def test_the_digest_follows_the_rules(self) -> None:
        ours = make_rule_pack(builtin_rules())
        self.assertEqual(ours.digest, make_rule_pack(builtin_rules()).digest)
        self.assertNotEqual(ours.digest, make_rule_pack(builtin_rules()[1:]).digest)

    def test_a_rule_file_that_is_none_is_refused_by_name(self) -> None:
        for name, data in (
            ("a.json", b"{"),
            ("a.json", b'{"rules": []}'),
            ("a.json", b"[]"),
            ("a.json", b'{"rules": [{"id": "x"}]}'),
            ("a.json", b'{"rules": [{"id": "has blanks", "languages": ["python"]}]}'),
            ("a.json", b'{"rules": [{"id": "' + (b"ghp_" + b"a8Kd93jfLQ0sXmN27Tz" + b"Vb5Rw1yUe6Hc4Gp7d") + b'", "languages": ["c"]}]}'),
            ("a.json", b"x" * (17 << 20)),
            ("a.yaml", b"rules: []"),
        ):
            with self.subTest(data[:30]), self.assertRaisesRegex(ConfigError, re.escape(name)):
                custom_rules(name, data, None)


class RealRulesTest(StageCase):
    tool: Installation

    @classmethod
    def setUpClass(cls) -> None:
        cls.tool = require_installed(Scanner.SEMGREP)

    def test_each_rule_finds_what_its_samples_mark_and_nothing_else(self) -> None:
        pack = make_rule_pack(builtin_rules())
        files = {path.name: path.read_bytes() for path in sorted(SAMPLES.iterdir()) if path.is_file()}
        run = self.scan(SemgrepAdapter(pack), self.tool, files)
        self.assertIs(run.sentinel, SentinelState.ALIVE)
        self.assertEqual({item.state for item in run.targets}, {EvidenceState.APPLIED})
        wanted: set[tuple[str, str, int]] = set()
        quiet: set[tuple[str, str, int]] = set()
        for name, data in files.items():
            for number, line in enumerate(data.decode().split("\n"), 1):
                for kind, rule in MARK.findall(line):
                    (wanted if kind == "ruleid" else quiet).add((name, rule, number + 1))
        found = {(hit.path, hit.rule_id, hit.line_start) for hit in run.hits}
        self.assertEqual(sorted(found), sorted(wanted))
        self.assertFalse(found & quiet)
        self.assertEqual({rule for _, rule, _ in wanted}, pack.identifiers())

    def test_every_known_bad_sample_is_reported_by_the_rules_that_it_names(self) -> None:
        adapter = SemgrepAdapter(make_rule_pack(builtin_rules()))
        for analyzer, sample in load_semgrep_samples().items():
            if not sample.rules or analyzer == "regex":
                continue
            with self.subTest(analyzer):
                name = f"known{Path(sample.file_name).suffix}"
                run = self.scan(adapter, self.tool, {name: sample.text})
                self.assertLessEqual(set(sample.rules), {hit.rule_id for hit in run.hits})

    def test_yaml_rule_files_are_read_by_semgreps_own_environment(self) -> None:
        text = b"rules:\n- id: theirs\n  languages: [python]\n  severity: INFO\n  message: |\n    a\n    b\n  pattern: f($X)\n"
        rules = custom_rules("theirs.yaml", text, self.tool)
        self.assertEqual(
            rules,
            [{"id": "theirs", "languages": ["python"], "severity": "INFO", "message": "a\nb\n", "pattern": "f($X)"}],
        )
        for broken in (b"rules: [", b"- 1", b"\xff\xfe", b"rules: !!python/object:os.system x"):
            with self.subTest(broken), self.assertRaises(ConfigError):
                custom_rules("theirs.yaml", broken, self.tool)
