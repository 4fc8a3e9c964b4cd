"""The detect-secrets adapter and its worker: what the command line stays silent about is found."""

import json
import re
import subprocess
import time
from pathlib import Path

from appsecgate.embedded import read_embedded
from appsecgate.model import EvidenceReason, EvidenceState, Hit, Scanner, SentinelState, Severity
from appsecgate.process import Completed, Ending
from appsecgate.scanners.base import Batch, Installation
from appsecgate.scanners.runner import ScannerRun
from appsecgate.scanners.secrets import SecretsAdapter, secret_rule_id, secret_samples
from tests.scanners.installed import require_installed
from tests.scanners.staging import StageCase, evidence_of

AWS = "AKIA" + "QWERTYUI" + "OPASDFGH"
AWS_2 = "AKIA" + "ZXCVBNM2" + "LKJHGFDS"
GITHUB = "ghp_" + "a1B2c3D4e5F6" * 3
GITHUB_2 = "ghp_" + "Z9y8X7w6V5u4" * 3
STRIPE = "sk_" + "live_" + "a1B2c3D4" * 3
WORD = "hunter2" + "hunter3"
HEX = "9f86d081" + "884c7d65" + "9a2feaa0" + "c55ad015"
BASE64 = "q7Zt1XkP" + "w9LmB3vR" + "y6NcD2sH" + "f8GjK4eU"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + ".c2lnbmF0dXJlLWhlcmU"
DASHES = "-" * 5
KEY_START, KEY_STOP = f"{DASHES}BEGIN RSA {'PRIVATE'} KEY{DASHES}", f"{DASHES}END RSA {'PRIVATE'} KEY{DASHES}"


class SecretsPlanTest(StageCase):
    def test_every_text_file_is_its_business(self) -> None:
        adapter = SecretsAdapter()
        binary = bytes(range(256)) * 4
        for path, data, reason in (
            ("a.py", b"x", EvidenceReason.NONE),
            ("unknown", b"x", EvidenceReason.NONE),
            ("swagger/package-lock.json", b"{}", EvidenceReason.NONE),
            ("pic.svg", b"<svg/>", EvidenceReason.NONE),
            ("logo.png", binary, EvidenceReason.NOT_APPLICABLE),
            ("program", binary, EvidenceReason.NOT_APPLICABLE),
            ("app.py", binary, EvidenceReason.BINARY),
        ):
            with self.subTest(path):
                file = self.put(path, data)
                self.assertIs(adapter.accepts(file.path, file.language, file.kinds), reason)

    def test_rule_ids_are_slugs_of_types_that_it_knows(self) -> None:
        adapter = SecretsAdapter()
        self.assertEqual(secret_rule_id("AWS Access Key"), "aws-access-key")
        for kind in ("Private Key", "Secret Keyword", "Hex High Entropy String", "NPM tokens"):
            self.assertTrue(adapter.has_rule(secret_rule_id(kind)))
        self.assertFalse(adapter.has_rule("public-ip-ipv4"))
        self.assertRegex(adapter.ruleset_hash(), r"^[0-9a-f]{16}$")

    def test_answers_that_are_none_are_failures(self) -> None:
        adapter = SecretsAdapter()
        tool = Installation(Scanner.DETECT_SECRETS, "0", ("x",))
        file = self.put("a.py", "x")
        for stdout, code, failure in (
            (b"", 0, EvidenceReason.SCANNER_FAILED),
            (b"warning\n{}", 0, EvidenceReason.SCANNER_FAILED),
            (b'{"files": {"0": {"state": "done", "hits": []}}}', 1, EvidenceReason.SCANNER_FAILED),
            (b'{"files": {"0": {"state": "done", "hits": []}}}', None, EvidenceReason.SCANNER_FAILED),
            (b'{"files": {"0": {"state": "done", "hits": [[1], {}, ["AWS", "x", {}, 1, [], 3]]}}}', 0, ""),
            (b'{"files": {"0": 3}}', 0, ""),
        ):
            with self.subTest(stdout=stdout, code=code):
                completed = Completed((), Ending.EXITED, code, stdout, b"", 1)
                report = adapter.parse(completed, Batch((file,)), tool, Path("/r"))
                self.assertEqual(report.failure, failure)
                if not failure:
                    self.assertIs(report.sentinel, SentinelState.MISSED)

    def test_no_source_of_ours_holds_a_whole_secret(self) -> None:
        for text, _ in secret_samples().values():
            for line in text.split("\n"):
                value = line.split('"')[-2] if '"' in line else line.rpartition(" ")[2]
                if value:
                    self.assertNotIn(value, read_embedded("workers/secrets.py"))
                    self.assertNotIn(value, Path(__file__).read_text(encoding="utf-8"))


class RealSecretsTest(StageCase):
    tool: Installation

    @classmethod
    def setUpClass(cls) -> None:
        cls.tool = require_installed(Scanner.DETECT_SECRETS)

    def find(self, files: dict[str, str | bytes]) -> ScannerRun:
        run = self.scan(SecretsAdapter(), self.tool, files)
        self.assertIs(run.sentinel, SentinelState.ALIVE, run.detail)
        return run

    def found(self, files: dict[str, str | bytes]) -> list[tuple[str, int, str, str]]:
        return [(hit.path, hit.line_start, hit.rule_id, self.cut(hit)) for hit in self.find(files).hits]

    def test_names_encodings_and_places_that_keep_detect_secrets_silent_do_not_matter(self) -> None:
        line = f'x = "{AWS}"\n'
        files: dict[str, str | bytes] = {
            "a.py": line,
            "latin.py": ("# é\n" + line).encode("latin-1"),
            "utf16.py": line.encode("utf-16"),
            "bom.py": "\ufeff" + line,
            "style.css": line,
            "go.sum": line,
            "pic.svg": line,
            "app.js.map": line,
            "yarn.lock": line,
            "package-lock.json": line,
            "swagger/api.json": line,
            ".git-credentials": line,
            "-C;$(id)\n": line,
            "\udcff.txt": line,
            "comment.yaml": f"a: b\n# {AWS}\n",
            "header.txt": f"[x]\n# {AWS}\n; {AWS}\n",
            "cr.txt": f"a\r{AWS}\r",
        }
        run = self.find(files)
        self.assertEqual({hit.path for hit in run.hits if hit.rule_id == "aws-access-key"}, set(files))
        for item in run.targets:
            self.assertIs(item.state, EvidenceState.APPLIED, item)
        self.assertEqual({self.cut(hit) for hit in run.hits}, {AWS})

    def test_each_secret_on_a_line_is_a_hit_of_its_own(self) -> None:
        for first, second, rule in (
            (AWS, AWS_2, "aws-access-key"),
            (GITHUB, GITHUB_2, "github-token"),
            (HEX, HEX[::-1], "hex-high-entropy-string"),
            (AWS, AWS, "aws-access-key"),
        ):
            with self.subTest(rule):
                hits = self.found({"a.py": f'x = ["{first}", "{second}"]\n'})
                self.assertEqual(hits, [("a.py", 1, rule, first), ("a.py", 1, rule, second)])
        hits = self.found({"a.py": f'password = "{WORD}"; db_password = "{WORD}x"\n'})
        self.assertEqual([text for *_, text in hits], [WORD, WORD + "x"])

    def test_a_secret_in_parts_is_a_hit_from_its_first_part_to_its_last(self) -> None:
        for name, text in {
            "plus.js": f'x = "{AWS[:4]}" + "{AWS[4:]}";\n',
            "lines.py": f'x = ("{AWS[:4]}"  # one\n  "{AWS[4:9]}"\n  f"{AWS[9:]}")\n',
            "dots.php": f"<?php $x = '{AWS[:4]}' .\n  '{AWS[4:]}';\n",
            "escape.py": f'x = "\\x41{AWS[1:]}"\n',
            "continued.yaml": f'x: "{AWS[:9]}\\\n  {AWS[9:]}"\n',
            "words.sh": f"X={AWS[:9]}'{AWS[9:]}'\n",
            "token.go": f'var x = "{GITHUB[:3]}" +\n\t"{GITHUB[3:]}"\n',
            "key.py": f'x = "{KEY_START[:14]}" "{KEY_START[14:]}" + body\n',
        }.items():
            with self.subTest(name):
                [hit] = self.find({name: "a = 1\n" + text}).hits
                self.assertEqual((hit.line_start, hit.line_end), (2, text.count("\n") + 1))
                self.assertIn(hit.rule_id, ("aws-access-key", "github-token", "private-key"))
                joined = re.sub(r"""["'`]?(?:[\s.+\\]|# one)*f?["'`]|\\\s+""", "", self.cut(hit)).replace("\\x41", "A")
                self.assertIn(joined, (AWS, GITHUB, KEY_START.strip("-")))

    def test_literals_beside_one_another_are_no_secret_by_chance(self) -> None:
        text = 'x = ["AKIA", "QWERTYUIOPASDFGH"]\ny = "a" + b + "c"\nz = "abc" "def"\n<a b="ghp_" c="d">\n'
        self.assertEqual(self.found({"a.py": text, "a.html": text}), [])

    def test_one_secret_in_two_places_is_two_hits(self) -> None:
        hits = self.found({"a.py": f'x = "{GITHUB}"\ny = "{GITHUB}"\n'})
        self.assertEqual([line for _, line, _, _ in hits], [1, 2])

    def test_detectors_on_the_same_characters_are_one_hit_of_the_most_specific(self) -> None:
        for text, rule, others in (
            (f'api_key = "{GITHUB}"\n', "github-token", ["Secret Keyword"]),
            (f'secret = "{HEX}"\n', "secret-keyword", ["Hex High Entropy String"]),
            (f'value = "{HEX}"\n', "hex-high-entropy-string", None),
        ):
            with self.subTest(rule):
                run = self.find({"a.py": text})
                self.assertEqual([hit.rule_id for hit in run.hits], [rule])
                self.assertEqual(run.hits[0].metadata.get("also_detected_by"), others)

    def test_severities(self) -> None:
        run = self.find({"a.py": f'a = "{AWS}"\nb = "{STRIPE}"\nc = "{BASE64}"\nd = "{KEY_START}"\n'})
        self.assertEqual(
            {hit.rule_id: hit.severity for hit in run.hits},
            {
                "aws-access-key": Severity.CRITICAL,
                "stripe-access-key": Severity.HIGH,
                "base64-high-entropy-string": Severity.MEDIUM,
                "private-key": Severity.CRITICAL,
            },
        )

    def test_a_private_key_reaches_from_its_first_dash_to_its_last(self) -> None:
        pem = f"{KEY_START}\nMIIEabc\ndef=\n{KEY_STOP}"
        for path, text, wanted in (
            ("key.pem", f"a\n{pem}\nb\n", pem),
            ("a.py", 'k = "' + pem.replace("\n", "\\n") + '"\n', pem.replace("\n", "\\n")),
            ("cut.pem", f"{KEY_START}\nMIIE\n", KEY_START[:-5]),
        ):
            with self.subTest(path):
                self.assertEqual([text for *_, text in self.found({path: text})], [wanted])
        self.assertEqual(self.found({"notes.md": "It begins with BEGIN PRIVATE KEY, of course.\n"}), [])

    def test_a_token_is_taken_whole(self) -> None:
        self.assertEqual([text for *_, text in self.found({"a.ts": f'const t = "{JWT}";\n'})], [JWT])

    def test_values_without_quotes_are_seen_where_the_format_has_none(self) -> None:
        for path, text, rule, value in (
            ("a.yaml", f"a: 1\ntoken: {BASE64}\n", "base64-high-entropy-string", BASE64),
            ("many.yaml", f"a: 1\n---\nb: [\n---\ntoken: {BASE64}\n", "base64-high-entropy-string", BASE64),
            ("a.yml", f"password: {WORD}\n", "secret-keyword", WORD),
            ("a.ini", f"[db]\npassword = {WORD}\n", "secret-keyword", WORD),
            (".env", f"DB_PASSWORD={WORD}\nX='y'\nsecret=\"\"\n", "secret-keyword", WORD),
            ("run.sh", f"ls -l\nexport API_KEY={WORD}\n", "secret-keyword", WORD),
            ("Dockerfile", f"FROM x\nENV API_KEY={WORD}\nRUN ls\n", "secret-keyword", WORD),
        ):
            with self.subTest(path):
                self.assertIn((rule, value), [hit[2:] for hit in self.found({path: text})])

    def test_code_beside_a_password_does_not_hide_it(self) -> None:
        for text in (
            f'password="{WORD}"; y=f(x)\n',
            f'user_id = "1", secret="{WORD}"\n',
            f'client_id="abc", client_secret="{HEX}"\n',
        ):
            with self.subTest(text):
                self.assertEqual([hit[2] for hit in self.found({"a.py": text})], ["secret-keyword"])

    def test_what_is_no_secret_is_not_reported(self) -> None:
        for text in (
            "password = get_password('x')\n",
            "password = ''\n",
            'password = "${PASSWORD}"\n',
            'password = "{{ password }}"\n',
            'password = "********"\n',
            'password = "None"\n',
            'request_id = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"\n',
            f'user_id = "{HEX}"\n',
            'alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"\n',
            'address = "8.8.8.8"\n',
            "import os.path.secret\n",
        ):
            with self.subTest(text):
                self.assertEqual(self.found({"a.py": text}), [])

    def test_integrity_hashes_of_lock_files_are_no_secrets(self) -> None:
        text = f'{{"integrity": "{BASE64}", "resolved": "https://u:{WORD}@registry/x.tgz", "hash": "{HEX}"}}\n'
        self.assertEqual([hit[2] for hit in self.found({"package-lock.json": text})], ["basic-auth-credentials"])
        self.assertEqual(len(self.found({"other.json": text})), 3)

    def test_inline_suppressions_are_reported_in_every_dialect(self) -> None:
        here = ("# {}", "// {}", "/* {} */", "-- {}", "<!-- {} -->", "' {}", "; {}")
        lines = [f'x = "{AWS}" ' + dialect.format("pragma: allowlist secret") for dialect in here]
        lines += [f'x = "{AWS}"  # pragma: whitelist secret', "", "# pragma: allowlist nextline secret", f'x = "{AWS}"']
        lines += [f'x = "{AWS}"  # not a pragma', "pragma = 'allowlist secret'", f'x = "{AWS}"']
        run = self.find({"a.txt": "\n".join(lines)})
        marks = [hit.suppressed_inline for hit in run.hits]
        self.assertEqual(marks, [True] * (len(here) + 2) + [False, False])

    def test_hostile_files_end_in_evidence_and_take_nobody_along(self) -> None:
        bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
        )
        begun = time.monotonic()
        run = self.find(
            {
                "bomb.yaml": bomb + f"k: '{AWS}'\n",
                "deep.yaml": "[" * 20_000,
                "many.py": f"k = '{AWS}'\n" * 20_000,
                "a.py": f"k = '{AWS}'\n",
            }
        )
        self.assertLess(time.monotonic() - begun, 50)
        for path in ("bomb.yaml", "deep.yaml", "many.py"):
            self.assertIs(evidence_of(run, path).reason, EvidenceReason.PARTIAL, path)
        self.assertIs(evidence_of(run, "a.py").state, EvidenceState.APPLIED)
        self.assertLessEqual({"bomb.yaml", "many.py", "a.py"}, {hit.path for hit in run.hits})
        self.assertLess(len(run.hits), 6000)

    def test_a_long_line_is_seen_to_its_end(self) -> None:
        hits = self.found({"min.js": "a=f(x,'y');" * 60_000 + f"k='{AWS}'"})
        self.assertEqual([(rule, text) for *_, rule, text in hits], [("aws-access-key", AWS)])

    def test_the_worker_answers_without_a_raw_secret_and_can_be_asked_again(self) -> None:
        values = (AWS, GITHUB, STRIPE, WORD, HEX, BASE64, JWT)
        file = self.put("a.py", "".join(f'password = "{value}"\n' for value in values))
        request = {"files": [{"id": "7", "local": str(file.local), "name": "a.py", "lock": False, "shell": False}]}
        with self.stage.run_directory() as directory:
            worker = directory / "worker.py"
            worker.write_text(read_embedded("workers/secrets.py"), encoding="utf-8")
            done = subprocess.run(
                [str(self.tool.python), "-I", str(worker)],
                input=(json.dumps(request) + "\n") * 2,
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        first, second = done.stdout.splitlines()
        self.assertEqual(first, second)
        self.assertEqual(len(json.loads(first)["files"]["7"]["hits"]), len(values))
        for value in values:
            self.assertNotIn(value, done.stdout + done.stderr)

    def test_hits_say_what_a_reader_needs_and_no_secret(self) -> None:
        hit: Hit = self.find({"a.py": f'x = "{AWS}"\n'}).hits[0]
        self.assertEqual(hit.cwe, ("CWE-798: Use of Hard-coded Credentials",))
        self.assertIsNone(hit.secret_sha1)
        self.assertNotIn(AWS, f"{hit.message}{hit.metadata}")
        self.assertIn("remediation", hit.metadata)
