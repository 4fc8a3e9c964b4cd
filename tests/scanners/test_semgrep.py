"""The semgrep adapter: what the core leaves silent is met, what it says is understood."""

import time
from pathlib import Path

from appsecgate.model import EvidenceReason, EvidenceState, Json, Scanner, SentinelState, Severity
from appsecgate.scanners.base import Batch, Installation
from appsecgate.scanners.inline_scripts import inline_scripts
from appsecgate.scanners.semgrep import SemgrepAdapter, semgrep_core_path
from appsecgate.scanners.semgrep_report import semgrep_severity
from appsecgate.scanners.semgrep_rules import builtin_rules, make_rule_pack
from appsecgate.scanners.semgrep_syntax import check_syntax
from tests.scanners.installed import require_installed
from tests.scanners.staging import StageCase, evidence_of, places

BAD = "x = eval(y)\n"


def builtin_adapter(custom: list[dict[str, Json]] | None = None, broken: str = "") -> SemgrepAdapter:
    return SemgrepAdapter(make_rule_pack(builtin_rules(), custom or []), broken=broken)


class SemgrepPlanTest(StageCase):
    def test_which_files_it_looks_at(self) -> None:
        adapter = builtin_adapter()
        for path, text, reason in (
            ("a.py", "x", EvidenceReason.NONE),
            ("a.rs", "x", EvidenceReason.NO_RULES),
            ("a.pl", "x", EvidenceReason.NO_RULES),
            ("a.erb", "x", EvidenceReason.NO_RULES),
            ("a.yaml", "x: y", EvidenceReason.NOT_APPLICABLE),
            ("a.txt", "x", EvidenceReason.NOT_APPLICABLE),
            ("a.html", "<p>", EvidenceReason.NOT_APPLICABLE),
            ("a.html", "<script>x</script>", EvidenceReason.NONE),
            ("a.vue", "<script lang='ts'>x</script>", EvidenceReason.NONE),
            ("a.py", b"\x00\x01\x02" * 100, EvidenceReason.BINARY),
            ("a.rs", b"\x00\x01\x02" * 100, EvidenceReason.BINARY),
            ("a.png", b"\x00\x01\x02" * 100, EvidenceReason.NOT_APPLICABLE),
        ):
            with self.subTest(path=path, text=text[:10]):
                file = self.put(path, text)
                self.assertIs(adapter.accepts(file.path, file.language, file.kinds), reason)

    def test_the_hash_follows_rules_and_switches(self) -> None:
        self.assertEqual(builtin_adapter().ruleset_hash(), builtin_adapter().ruleset_hash())
        self.assertRegex(builtin_adapter().ruleset_hash(), r"^[0-9a-f]{16}$")
        self.assertNotEqual(builtin_adapter().ruleset_hash(), builtin_adapter(broken="x").ruleset_hash())

    def test_which_rules_it_knows(self) -> None:
        adapter = builtin_adapter()
        self.assertTrue(adapter.has_rule("python-eval"))
        self.assertFalse(adapter.has_rule("appsecgate-probe-python"))

    def test_without_rules_it_is_not_ready(self) -> None:
        self.assertEqual(SemgrepAdapter(make_rule_pack([])).unready()[0], EvidenceReason.NO_RULES)

    def test_only_the_rules_of_the_languages_at_hand_are_loaded(self) -> None:
        tool = Installation(Scanner.SEMGREP, "0", ("/x/semgrep-core",))
        plan = builtin_adapter().invocation(Batch((self.put("a.go", "x"),)), tool, Path("/r"), "")
        rules = plan.files["rules.json"].decode()
        self.assertIn('"go-weak-hash"', rules)
        self.assertNotIn('"python-eval"', rules)
        self.assertNotIn(";", " ".join(plan.argv))

    def test_names_that_are_not_unicode_reach_the_core_as_unicode(self) -> None:
        tool = Installation(Scanner.SEMGREP, "0", ("/x/semgrep-core",))
        plan = builtin_adapter().invocation(Batch((self.put("\udcff\n.py", "x"),)), tool, Path("/r"), "")
        self.assertNotIn(b"\\udcff", plan.files["targets.json"])

    def test_severities(self) -> None:
        both: dict[str, Json] = {"impact": "HIGH", "likelihood": "HIGH"}
        for severity, metadata, level in (
            ("ERROR", {}, Severity.HIGH),
            ("WARNING", {}, Severity.MEDIUM),
            ("INFO", {}, Severity.LOW),
            ("CRITICAL", {}, Severity.CRITICAL),
            ("low", {}, Severity.LOW),
            ("?", {}, Severity.MEDIUM),
            ("ERROR", both, Severity.CRITICAL),
            ("WARNING", both, Severity.MEDIUM),
            ("ERROR", {"impact": "HIGH", "likelihood": "LOW"}, Severity.HIGH),
        ):
            with self.subTest(severity=severity, metadata=metadata):
                self.assertIs(semgrep_severity(severity, dict(metadata)), level)


class InlineScriptsTest(StageCase):
    def test_all_but_the_scripts_is_blank_and_nothing_moves(self) -> None:
        page = "<p>é</p><script>\neval(x)\n</script>\n<script type=text/template>no()</script>"
        scripts = inline_scripts(page)
        assert scripts is not None
        self.assertEqual(scripts.analyzer, "javascript")
        self.assertEqual(scripts.text.split("\n")[1:3], ["eval(x)", " " * len("</script>")])
        self.assertEqual(len(scripts.text.encode()), len(page.encode()))
        self.assertNotIn("no()", scripts.text)

    def test_a_page_without_code_has_no_scripts(self) -> None:
        for page in ("<p>", "<script src=a></script>", "<script type='application/json'>{}</script>", "<script"):
            with self.subTest(page):
                self.assertIsNone(inline_scripts(page))

    def test_typescript_and_an_end_that_is_missing(self) -> None:
        scripts = inline_scripts('<script setup lang="ts">let a: string = eval(x)')
        assert scripts is not None
        self.assertEqual((scripts.analyzer, scripts.text.strip()), ("typescript", "let a: string = eval(x)"))


class RealSemgrepTest(StageCase):
    tool: Installation

    @classmethod
    def setUpClass(cls) -> None:
        cls.tool = require_installed(Scanner.SEMGREP)

    def test_the_core_is_found_in_its_environment(self) -> None:
        assert self.tool.home is not None
        elsewhere = Installation(Scanner.SEMGREP, "0", (str(self.tool.home / "bin" / "semgrep"),), home=self.tool.home)
        self.assertEqual(semgrep_core_path(elsewhere), Path(self.tool.command[0]))

    def test_names_and_encodings_that_keep_semgrep_silent_do_not_matter(self) -> None:
        files: dict[str, str | bytes] = {
            "A.PY": BAD,
            "gui.pyw": BAD,
            "tool": "#!/usr/bin/env python3\n" + BAD,
            "utf16.py": BAD.encode("utf-16"),
            "bom.py": "\ufeff" + BAD,
            "latin.py": ("# é\n" + BAD).encode("latin-1"),
            "cr.py": "a = 1\rx = eval(y)\r",
            "crlf.py": "a = 1\r\nx = eval(y)\r\n",
            "node_modules/x/lib.min.js": "eval(a);",
            "tests/test_x.py": BAD,
            "vendor/x.go": "package a\nfunc f() { md5.New() }\n",
            "-rf.py": BAD,
            "a b;$(id)\n.py": BAD,
            "\udcff.py": BAD,
            "кириллица.py": BAD,
            "big.py": "x = 1  # a line of more than one megabyte\n" * 30_000 + BAD,
            "page.html": "<p>é</p>\n<script>\n  eval(location.hash)\n</script>\n",
            "app.vue": "<template/>\n<script>\neval(x)\n</script>\n",
        }
        run = self.scan(builtin_adapter(), self.tool, files)
        self.assertIs(run.sentinel, SentinelState.ALIVE)
        self.assertEqual({hit.path for hit in run.hits}, set(files))
        for item in run.targets:
            self.assertIs(item.state, EvidenceState.APPLIED, item)
        lines = {hit.path: hit.line_start for hit in run.hits}
        self.assertEqual((lines["cr.py"], lines["crlf.py"], lines["big.py"]), (2, 2, 30_001))
        self.assertEqual((lines["page.html"], lines["app.vue"], lines["bom.py"]), (3, 3, 1))

    def test_columns_count_characters(self) -> None:
        run = self.scan(
            builtin_adapter(),
            self.tool,
            {"a.py": 's = "é🎉é"; x = eval(y)\n', "b.py": "\ufeffeval(a)\n", "c.py": "\teval(\n  a,\n)\n"},
        )
        self.assertEqual([self.cut(hit) for hit in run.hits], ["eval(y)", "eval(a)", "eval(\n  a,\n)"])
        self.assertEqual((run.hits[0].col_start, run.hits[0].col_end), (16, 23))

    def test_a_disguised_name_is_found_where_it_stands(self) -> None:
        wide = "".join(chr(0xFEE0 + ord(char)) for char in "eval")
        for path, text, cut in (
            ("a.py", f"é = 1; {wide}(y)\n", f"{wide}(y)"),
            ("a.js", "é;\n\\u0065val(y);\n", "\\u0065val(y)"),
            ("a.c", "void f(char *x) {\n  ge\\\nts(x);\n}\n", "ge\\\nts(x)"),
            ("A.java", "class A { void f(String x) {\n// \\u000a Runtime.getRuntime().exec(x);\n} }\n", "Runtime.getRuntime().exec(x)"),
            ("a.sh", 'e"va"l "$1"\n', 'e"va"l "$1"'),
            ("page.html", "<p>é</p>é<script>\n\\u0065val(y);</script>é\n", "\\u0065val(y)"),
        ):
            with self.subTest(path):
                run = self.scan(builtin_adapter(), self.tool, {path: text})
                self.assertEqual([self.cut(hit) for hit in run.hits], [cut])
                self.assertEqual([hit.respelled != "" for hit in run.hits], [True])
                self.assertIs(evidence_of(run, path).state, EvidenceState.APPLIED)

    def test_a_disguise_is_not_hidden_by_what_would_be_a_comment_in_plain_spelling(self) -> None:
        back = "\\"
        hidden = {
            "a.js": f"// '{back}\n''; {back}u0065val(text); // '\n",
            "A.java": f"class A {{ void f(String c) throws Exception {{\n// {back}u005cu000a /*\n"
            f" Runtime{back}u002egetRuntime().exec(c);\n// */\n}} }}\n",
            "B.java": f"class B {{ void f(String c) throws Exception {{\n/* {back}52/ // */ Runtime.getRuntime()."
            f"{back}u0065xec(c);\n}} }}\n",
            "a.c": f"#include <stdio.h>\nvoid f(char*b){{\n/* {back}x2a/ // */ ge{back}\nts(b);\n}}\n",
            "b.c": f"#include <stdio.h>\nvoid f(char*b){{\n// what??/\nge{back}\nts(b);\n}}\n",
            "a.php": f"<?php\n/* {back}x2a/ // */ EVAL($x);\n",
            "a.kt": f"fun f(c:String){{\n/* {back}u002a/ // */ Runtime.getRuntime().`exec`(c)\n}}\n",
            "A.cs": f"class A{{ void f(){{\n/* {back}x2a/ // */ var h = @MD5.Create();\n}}}}\n",
            "a.go": f'package a\nimport "os/exec"\nfunc f(c string){{\n/* {back}x2a/ // */ exec.Command("{back}x73h", "-c", c)'
            ".Run()\n}\n",
            "a.rb": f'def f(d)\n# "{back}\n""; OpenSSL::Digest.new("{back}x6dd5").update(d)\nend\n',
            "a.sh": f"#!/bin/bash\n# a{back}\ne'va'l \"$1\"\n",
            "b.sh": f"#!/bin/bash\ncat <<'X'\na{back}\nX\ne'va'l \"$1\"\n",
        }
        broken = {"b.go": f"package a\nfunc f(){{ {back}x6eoop(c) }}\n", "b.php": f"<?php\n{back}x28$x{back}x29;\n"}
        run = self.scan(builtin_adapter(), self.tool, hidden | broken)
        found = {hit.path for hit in run.hits}
        for path in hidden:
            with self.subTest(path):
                self.assertTrue(path in found or evidence_of(run, path).state is EvidenceState.NOT_VERIFIED)
        for path in broken:
            with self.subTest(path):
                self.assertIs(evidence_of(run, path).state, EvidenceState.NOT_VERIFIED)

    def test_what_is_written_plainly_beside_a_disguise_is_one_hit(self) -> None:
        run = self.scan(builtin_adapter(), self.tool, {"a.py": 'eval(a); s = "\\x41"; eval(b)\neval(c)\n'})
        self.assertEqual([self.cut(hit) for hit in run.hits], ["eval(a)", "eval(b)", "eval(c)"])

    def test_a_disguise_that_does_not_parse_is_never_clean(self) -> None:
        run = self.scan(builtin_adapter(), self.tool, {"a.js": "\\u0065val(y;\nfunction (\n"})
        self.assertIs(evidence_of(run, "a.js").state, EvidenceState.NOT_VERIFIED)

    def test_inline_suppressions_are_reported_and_lookalikes_are_not_taken_for_one(self) -> None:
        text = (
            "eval(a)  # nosemgrep\n"
            "eval(b)  # nosem: python-eval\n"
            "eval(c)  # nosemantic change here\n"
            "# nosemgrep\n"
            "eval(d)\n"
            "eval(e)\n"
            "eval(f)  # nosem: another-rule\n"
        )
        run = self.scan(builtin_adapter(), self.tool, {"a.py": text})
        self.assertEqual(
            [(hit.line_start, hit.suppressed_inline) for hit in run.hits],
            [(1, True), (2, True), (3, False), (5, True), (6, False), (7, False)],
        )

    def test_a_file_that_does_not_parse_is_never_clean(self) -> None:
        """Even where no rule concerns it: with its filter of irrelevant rules the core would not parse it."""
        broken = {
            "a.py": "x = (1\ny = 2\n",
            "b.js": "function f( { }\n",
            "c.go": "package a\nfunc f( {\n",
            "d.php": "<?php function f( { ",
            "e.rb": "def f(\n  x = [1\n",
            "f.c": "int f( { return (1;\n",
            "g.sh": "if true; then\n echo (\n",
            "h.cs": "class A { void f( { }\n",
            "i.kt": "fun f( {\n",
            "j.ts": "let x: = {{ 1\n",
            "k.cpp": "int f( { return (1;\n",
        }
        run = self.scan(builtin_adapter(), self.tool, broken | {"good.py": "x = 1\n"})
        for path in broken:
            with self.subTest(path):
                item = evidence_of(run, path)
                self.assertIs(item.state, EvidenceState.NOT_VERIFIED)
                self.assertIn(item.reason, (EvidenceReason.PARTIAL, EvidenceReason.PARSE_FAILED))
                self.assertRegex(item.detail, r"^line \d+: ")
        self.assertIs(evidence_of(run, "good.py").state, EvidenceState.APPLIED)

    def test_the_fix_of_a_rule_comes_rendered(self) -> None:
        run = self.scan(
            builtin_adapter(),
            self.tool,
            {"a.py": "import yaml, requests\nyaml.load(data)\nrequests.get(u, verify=False)\n"},
        )
        patches = [hit.metadata.get("patch") for hit in run.hits]
        self.assertEqual(patches, ["yaml.safe_load(data)", "requests.get(u, verify=True)"])
        self.assertEqual(run.hits[0].cwe, ("CWE-502: Deserialization of Untrusted Data",))
        self.assertEqual(sorted(run.hits[0].metadata), ["confidence", "impact", "likelihood", "patch", "remediation"])

    def test_rules_of_other_files_run_beside_ours(self) -> None:
        theirs: list[dict[str, Json]] = [
            {"id": "mine", "languages": ["rust"], "severity": "WARNING", "message": "m", "pattern": "danger($X)"},
            {"id": "todo", "languages": ["regex"], "severity": "LOW", "message": "m", "pattern-regex": "TODO"},
            {"id": "conf", "languages": ["yaml"], "severity": "INFO", "message": "m", "pattern": "debug: true"},
        ]
        run = self.scan(
            builtin_adapter(theirs),
            self.tool,
            {
                "a.rs": "fn f() { danger(1); }\n",
                "b.md": "TODO\n",
                "c.yaml": "debug: true\n",
                "d.pl": "# TODO\n",
                "e.py": "# TODO\n" + BAD,
            },
        )
        self.assertEqual(
            places(run),
            [
                ("a.rs", "custom.mine", 1),
                ("b.md", "custom.todo", 1),
                ("c.yaml", "custom.conf", 1),
                ("d.pl", "custom.todo", 1),
                ("e.py", "custom.todo", 1),
                ("e.py", "python-eval", 2),
            ],
        )
        self.assertIs(evidence_of(run, "d.pl").reason, EvidenceReason.NO_RULES)
        self.assertIs(evidence_of(run, "a.rs").state, EvidenceState.APPLIED)

    def test_a_rule_that_cannot_be_used_makes_nothing_clean(self) -> None:
        bad: list[dict[str, Json]] = [
            {"id": "bad", "languages": ["python"], "severity": "ERROR", "message": "m", "pattern": "f(("}
        ]
        for adapter in (builtin_adapter(bad), builtin_adapter(broken="rules.yaml is not valid YAML")):
            run = self.scan(adapter, self.tool, {"a.py": BAD})
            self.assertEqual(places(run), [("a.py", "python-eval", 1)])
            self.assertIs(run.targets[0].reason, EvidenceReason.PARTIAL)
            self.assertIn("rule", run.targets[0].detail)

    def test_one_rule_hit_500_times_is_bounded_in_time(self) -> None:
        begun = time.monotonic()
        run = self.scan(builtin_adapter(), self.tool, {"a.py": BAD * 500})
        self.assertEqual(len(run.hits), 500)
        self.assertLess(time.monotonic() - begun, 20)

    def test_a_hundred_tainted_variables_in_front_hide_nothing(self) -> None:
        before = "".join(f"    v{n} = request.args.get('a{n}')\n" for n in range(300))
        text = f"from flask import request\ndef f():\n{before}    p = request.args.get('p')\n    open(p)\n"
        run = self.scan(builtin_adapter(), self.tool, {"a.py": text})
        self.assertEqual(places(run), [("a.py", "python-path-traversal", 304)])

    def test_a_function_that_taint_analysis_gives_up_on_is_not_clean(self) -> None:
        many = "".join(f"    if x > {n}:\n        y = y + request.args.get('a{n}')\n" for n in range(2000))
        text = f"from flask import request\ndef f(x):\n    y = ''\n{many}    open(y)\n"
        run = self.scan(builtin_adapter(), self.tool, {"a.py": text, "b.py": BAD})
        entry = evidence_of(run, "a.py")
        self.assertEqual((entry.state, entry.reason), (EvidenceState.NOT_VERIFIED, EvidenceReason.PARTIAL))
        self.assertRegex(entry.detail, "given up|Timeout")
        self.assertIs(evidence_of(run, "b.py").state, EvidenceState.APPLIED)

    def test_an_alias_bomb_ends_at_the_memory_limit_and_takes_nobody_along(self) -> None:
        bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
        )
        conf: list[dict[str, Json]] = [
            {"id": "conf", "languages": ["yaml"], "severity": "INFO", "message": "m", "pattern": "debug: true"}
        ]
        run = self.scan(builtin_adapter(conf), self.tool, {"bomb.yaml": bomb, "a.py": BAD, "c.yaml": "debug: true\n"})
        self.assertEqual(places(run), [("a.py", "python-eval", 1), ("c.yaml", "custom.conf", 1)])
        self.assertIs(evidence_of(run, "bomb.yaml").state, EvidenceState.NOT_VERIFIED)
        self.assertIs(evidence_of(run, "a.py").state, EvidenceState.APPLIED)

    def test_deep_nesting_is_evidence_and_takes_nobody_along(self) -> None:
        run = self.scan(builtin_adapter(), self.tool, {"deep.js": "(" * 30_000, "deep.py": "[" * 30_000, "a.py": BAD})
        self.assertEqual(places(run), [("a.py", "python-eval", 1)])
        for path in ("deep.js", "deep.py"):
            self.assertIs(evidence_of(run, path).state, EvidenceState.NOT_VERIFIED)
        self.assertIs(evidence_of(run, "a.py").state, EvidenceState.APPLIED)

    def test_no_text_of_the_scanners_service_and_no_metavariable_comes_through(self) -> None:
        run = self.scan(builtin_adapter(), self.tool, {"a.py": "eval(very_private_name)\n"})
        for hit in run.hits:
            everything = f"{hit.message}{hit.metadata}{hit.references}{hit.cwe}"
            self.assertNotIn("requires login", everything)
            self.assertNotIn("very_private_name", everything)


class RealSyntaxTest(StageCase):
    """The core mends a missing bracket in silence; its statistics tell."""

    tool: Installation

    @classmethod
    def setUpClass(cls) -> None:
        cls.tool = require_installed(Scanner.SEMGREP)

    def test_a_bracket_that_is_missing_is_counted_in_every_language(self) -> None:
        whole = {
            "a.js": "f(1);\n",
            "a.ts": "f(1);\n",
            "a.tsx": "const a = <b>{f(1)}</b>;\n",
            "A.java": "class A { void f() { g(1); } }\n",
            "a.PHP": "<?php f(1);\n",
            "a.c": "int f(void) { return g(1); }\n",
            "a.h": "namespace a {\nint f() { return g(1); }\n}\n",
            "a.cs": "class A { void F() { G(1); } }\n",
            "a.go": "package a\nfunc f() { g(1); }\n",
            "a.kt": "fun f() { g(1) }\n",
            "a.rb": "def f()\n  g(1)\nend\n",
            "tool": "#!/usr/bin/env node\nf(1);\n",
        }
        files = [self.put(path, text) for path, text in whole.items()]
        files += [self.put(f"broken/{path}", text.replace("(1)", "(1")) for path, text in whole.items()]
        states = check_syntax(self.tool, [*files, self.put("a.py", "f(1\n")], self.stage)
        self.assertEqual(len(states), 2 * len(whole))
        for path in whole:
            with self.subTest(path):
                self.assertEqual(states[path].broken_lines, 0)
                self.assertGreater(states[f"broken/{path}"].broken_lines or 0, 0)

    def test_without_an_answer_nothing_is_said(self) -> None:
        tool = Installation(Scanner.SEMGREP, "0", ("/bin/false",))
        self.assertIsNone(check_syntax(tool, [self.put("a.js", "f(1")], self.stage)["a.js"].broken_lines)
