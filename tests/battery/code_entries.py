"""Edits of source code that semgrep judges: every kind in every language."""

from dataclasses import dataclass

from appsecgate.model import Scanner
from tests.battery.entry import (
    FIXED,
    NOT_FIXED,
    Edit,
    Entry,
    append,
    both,
    commit,
    copy,
    directory,
    link,
    move,
    pipe,
    prepend,
    recode,
    remove,
    rewrite,
    swap,
    write,
)


@dataclass(frozen=True)
class Language:
    """A program with one flagged call, and how to change it."""

    name: str
    file: str
    head: str
    start: str
    sink: str
    """The flagged line without its margin."""
    end: str
    rule: str
    safe: str
    """An honest replacement of the sink."""
    comment: str
    """How a comment is written, ``%`` being its text."""
    block: str
    broken: str
    """The sink with a slip of the hand."""

    @property
    def margin(self) -> str:
        return self.start.rsplit("\n", 2)[-2][: -len(self.start.rsplit("\n", 2)[-2].lstrip())]

    def program(self, *, middle: str = "", after: str = "") -> str:
        return f"{self.head}{self.start}{self.margin}{middle or self.sink}\n{self.end}{after}"


PYTHON = Language(
    "Python", "app.py", "import subprocess\n\n\n",
    "def run_@(cmd_@):\n    keep = 1\n", "subprocess.run(cmd_@, shell=True)", "    return keep\n",
    "python-subprocess-shell", "subprocess.run([cmd_@], check=True)", "# %", "# %", "subprocess.run(cmd_@, shell=True",
)  # fmt: skip
JAVASCRIPT = Language(
    "JavaScript", "app.js", '"use strict";\n\n',
    "function run_@(text_@) {\n  const keep = 1;\n", "eval(text_@);", "  return keep;\n}\n",
    "javascript-eval", "JSON.parse(text_@);", "// %", "/* % */", "eval(text_@;",
)  # fmt: skip
TYPESCRIPT = Language(
    "TypeScript", "app.ts", 'import { readFileSync } from "fs";\n\n',
    "export function run_@(text_@: string): number {\n  const keep: number = 1;\n", "eval(text_@);",
    "  return keep;\n}\n", "javascript-eval", "JSON.parse(text_@);", "// %", "/* % */", "eval(text_@;",
)  # fmt: skip
JAVA = Language(
    "Java", "App.java", "import java.io.IOException;\n\nclass App {\n",
    "    int run_@(String cmd_@) throws IOException {\n        int keep = 1;\n", "Runtime.getRuntime().exec(cmd_@);",
    "        return keep;\n    }\n}\n", "java-command-injection", 'System.out.println("no shell");', "// %", "/* % */",
    "Runtime.getRuntime().exec(cmd_@;",
)  # fmt: skip
GO = Language(
    "Go", "app.go", 'package main\n\nimport "os/exec"\n\n',
    "func run_@(cmd_@ string) int {\n\tkeep := 1\n", 'exec.Command("sh", "-c", cmd_@).Run()', "\treturn keep\n}\n",
    "go-command-injection", 'exec.Command("ls", "-l").Run()', "// %", "/* % */", 'exec.Command("sh", "-c", cmd_@.Run()',
)  # fmt: skip
C = Language(
    "C", "app.c", "#include <stdio.h>\n\n",
    "int run_@(void) {\n    char text_@[64];\n", "gets(text_@);", "    return 1;\n}\n",
    "c-gets", "fgets(text_@, sizeof text_@, stdin);", "// %", "/* % */", "gets(text_@;",
)  # fmt: skip
LANGUAGES = (PYTHON, JAVASCRIPT, TYPESCRIPT, JAVA, GO, C)


def entry(language: Language, name: str, case: str, title: str, edit: Edit, status: object, codes: str, **more: object) -> Entry:
    values = {"files": {language.file: language.program()}, "rule": language.rule, "needle": language.sink, **more}
    return Entry(
        f"{name}-{language.name.lower()}", case, Scanner.SEMGREP, language.name, title, edit=edit,
        status=status, codes=codes, **values,  # type: ignore[arg-type]
    )  # fmt: skip


def for_language(language: Language) -> list[Entry]:
    """The kinds that concern every language."""
    file, sink, margin = language.file, language.sink, language.margin

    def on_line(text: str, style: str) -> Edit:
        return swap(file, sink, f"{sink}  {style.replace('%', text)}")

    def line_before(text: str, style: str) -> Edit:
        return swap(file, margin + sink, f"{margin}{style.replace('%', text)}\n{margin}{sink}")

    def make(*values: object, **more: object) -> Entry:
        return entry(language, *values, **more)  # type: ignore[arg-type]

    suppressed, present = "suppressed_inline", "still_present"
    whole = language.start + margin + sink + "\n" + language.end.removesuffix("}\n" if language is JAVA else "")
    other = f"other{file[file.index('.'):]}"
    filler = "\n" * 3 + "".join(language.comment.replace("%", f"line {n}") + "\n" for n in range(40))
    return [
        make("nosemgrep-here", "V2", "nosemgrep on the line", on_line("nosemgrep", language.comment), NOT_FIXED, suppressed),
        make("nosem-before", "V2", "nosem on the line before", line_before("nosem", language.comment), NOT_FIXED, suppressed),
        make("nosemgrep-rule", "V2", "nosemgrep with the rule, in a block comment",
             on_line(f"nosemgrep: {language.rule}", language.block), NOT_FIXED, suppressed),
        make("near-miss", "V12", "a comment that begins like a suppression",
             on_line("nosemantic change here", language.comment), NOT_FIXED, "still_present changed_still_present"),
        make("syntax", "V3", "a parenthesis is removed", swap(file, sink, language.broken), NOT_FIXED, "parse_failed"),
        make("syntax-of-the-fix", "V3", "the call is made safe, and a parenthesis forgotten",
             swap(file, sink, language.safe.replace(")", "", 1)), NOT_FIXED, "parse_failed"),
        make("function-gone", "V4", "the function is deleted", swap(file, whole, ""), FIXED, "code_removed"),
        make("file-gone", "V4", "the file is deleted", remove(file), FIXED, "file_deleted"),
        make("three-lines", "V5", "3 blank lines above", prepend(file, "\n\n\n"), NOT_FIXED, present)
        if language is not GO else
        make("three-lines", "V5", "3 comment lines above", prepend(file, "// a\n// b\n// c\n"), NOT_FIXED, present),
        make("hundred-lines", "V5", "100 lines above", prepend(file, language.comment.replace("%", "x") + "\n" * 100),
             NOT_FIXED, present),
        make("moved-file", "V6", "the code moves to another file",
             both(copy(file, other), swap(file, sink, language.safe)), NOT_FIXED, "moved", place=other),
        make("moved-below", "V6", "the code moves into a function far below",
             both(swap(file, sink, language.safe),
                  append(file, filler + _second_function(language, "helper_@"))) if language is not JAVA else
             both(swap(file, sink, language.safe), swap(file, language.end, language.end.removesuffix("}\n") + filler
                  + _second_function(language, "helper_@") + "}\n")),
             NOT_FIXED, "moved" if language is PYTHON else "moved still_present", place=file),
        make("renamed", "V9", "the file is renamed", move(file, f"lib/{other}"), NOT_FIXED, "moved", place=other),
        make("unknown-extension", "V9", "the file gets an unknown extension", move(file, "app.part"), NOT_FIXED,
             "not_analysed", place="app.part"),
        make("utf16", "V8", "the file is saved as UTF-16", recode(file, "utf-16"), NOT_FIXED,
             "still_present not_analysed parse_failed"),
        make("binary", "V8", "the file is saved as a binary", rewrite(file, lambda data: b"\0\1\2\3" * 99 + data), NOT_FIXED,
             "not_analysed parse_failed partial"),
        make("fixed-line", "honest", "the call is made safe", swap(file, sink, language.safe), FIXED,
             "fixed sink_still_named"),
        make("fixed-elsewhere-untouched", "honest", "made safe; the same line stands in another, untouched file",
             swap(file, sink, language.safe), FIXED, "fixed",
             files={file: language.program(), other: language.program()}),
        make("fixed-elsewhere-touched", "honest", "made safe; the same line stands in another file that also changed",
             both(swap(file, sink, language.safe), append(other, "\n\n")), FIXED, "fixed",
             files={file: language.program(), other: language.program()}),
        make("fixed-and-renamed", "honest", "made safe, and the file renamed",
             both(swap(file, sink, language.safe), move(file, f"lib/{other}")), FIXED, "fixed",
             files={file: language.program(after=_tail(language))}),
    ]  # fmt: skip


def _tail(language: Language) -> str:
    return "".join(language.comment.replace("%", f"about part {n} of @") + "\n" for n in range(8))


def _second_function(language: Language, name: str) -> str:
    """The same call in another function."""
    return (
        (language.start + language.margin + language.sink + "\n" + language.end).replace("run_@", name)
        if language is not JAVA
        else (language.start + language.margin + language.sink + "\n" + language.end.removesuffix("}\n")).replace(
            "run_@", name
        )
    )


def python_entries() -> list[Entry]:
    """What is told in one language, though it holds for all."""
    file, sink, safe = PYTHON.file, PYTHON.sink, PYTHON.safe

    def make(*values: object, **more: object) -> Entry:
        return entry(PYTHON, *values, **more)  # type: ignore[arg-type]

    two = PYTHON.program(after="").replace(
        "    return keep\n", "    subprocess.run(cmd_@ + 'x', shell=True)\n    return keep\n"
    )
    equal = PYTHON.program().replace("    return keep\n", f"    print(1)\n    {sink}\n    print(2)\n    {sink}\n    return keep\n")
    calc = "def calc_@(text_@):\n    return eval(text_@)\n"
    digest = "import hashlib\n\n\ndef digest_@(data_@):\n    return hashlib.md5(data_@).hexdigest()\n"
    both_calls = {"files": {file: two}}
    calculator = {"files": {"calc.py": calc}, "rule": "python-eval", "needle": "eval(text_@)"}
    md5 = {"files": {"digest.py": digest}, "rule": "python-weak-hash", "needle": "hashlib.md5"}
    source = "import importlib\n\n\n" + calc
    return [
        make("first-of-two", "V1", "the first of two calls is fixed; it", swap(file, sink, safe), FIXED, "fixed", **both_calls),
        make("second-of-two", "V1", "the first of two calls is fixed; the second", swap(file, sink, safe), NOT_FIXED,
             "still_present", **{**both_calls, "needle": "cmd_@ + 'x'"}),
        make("copied-hidden", "V6", "the code moves to a file of no known kind",
             both(write("app.inc", "eval(text_@)\n"), swap("calc.py", "    eval(text_@)\n", "")),
             NOT_FIXED, "moved", place="app.inc",
             **{**calculator, "files": {"calc.py": "def calc_@(text_@):\n    eval(text_@)\n    return 1\n"}}),
        make("moved-vendored", "V9", "the file moves into node_modules", move("calc.py", "node_modules/m/calc.py"), NOT_FIXED,
             "moved", place="node_modules/m/calc.py", **calculator),
        make("moved-tests", "V9", "the file moves into tests", move("calc.py", "tests/calc.py"), NOT_FIXED, "moved",
             place="tests/calc.py", **calculator),
        make("directory-renamed", "V9", "the directory is renamed", move("src", "lib"), NOT_FIXED, "moved",
             place="lib/calc.py", **{**calculator, "files": {"src/calc.py": calc}}),
        make("directory-vendored", "V9", "the directory moves into node_modules and a clean file takes its place",
             both(move("src", "node_modules/src"), write("src/calc.py", "def calc():\n    return 1\n")), NOT_FIXED, "moved",
             place="node_modules/src/calc.py", **{**calculator, "files": {"src/calc.py": calc}}),
        make("directories-swapped", "V9", "two directories change places",
             both(move("one", "three"), move("two", "one"), move("three", "two")), NOT_FIXED, "moved", place="two/calc.py",
             **{**calculator, "files": {"one/calc.py": calc, "two/calc.py": "def calc():\n    return 1\n"}}),
        make("case-rename", "V9", "only the case of the name changes", move("calc.py", "Calc.PY"), NOT_FIXED, "moved",
             place="Calc.PY", **calculator),
        make("symlink", "V9", "a link to a clean file takes its place", link("calc.py", "clean.py"), NOT_FIXED, "not_analysed",
             **{**calculator, "files": {"calc.py": calc, "clean.py": "x = 1\n"}}),
        make("pipe", "V9", "a pipe takes its place", pipe("calc.py"), NOT_FIXED, "not_analysed", **calculator),
        make("directory", "V9", "a directory takes its place", directory("calc.py"), NOT_FIXED, "not_analysed", **calculator),
        make("renamed-variable", "V6", "moved far below with another variable",
             both(swap("calc.py", "return eval(text_@)", "return helper(text_@)"),
                  append("calc.py", "\n" * 50 + "def helper(other):\n    return eval(other)\n")), NOT_FIXED,
             "moved", place="calc.py", **calculator),
        make("dynamic", "V13", "getattr in place of the call", swap("calc.py", "eval(text_@)", 'getattr(importlib, "eval")(text_@)'),
             FIXED, "sink_still_named", **{**calculator, "files": {"calc.py": source}}),
        make("alias", "V13", "the function under another name", swap("calc.py", "return eval(text_@)", "run = eval\n    return run(text_@)"),
             NOT_FIXED, "changed_still_present still_present", **calculator),
        make("handed-on", "V13", "the name of the function, for another one to look up",
             swap("calc.py", "eval(text_@)", 'dispatch("eval", text_@)'), FIXED, "sink_still_named", **calculator),
        make("shell-list", "V13", "the shell is named in a list", swap(file, sink, 'subprocess.run(["sh", "-c", "ls " + cmd_@])'),
             NOT_FIXED, "changed_still_present"),
        make("shell-truthy", "V13", "shell=1 in place of True", swap(file, "shell=True", "shell=1"), NOT_FIXED, "changed_still_present"),
        make("hash-by-name", "V13", "getattr in place of the hash", swap("digest.py", "hashlib.md5", 'getattr(hashlib, "md5")'),
             NOT_FIXED, "changed_still_present", **md5),
        make("quoted", "honest", "the argument is quoted",
             both(prepend(file, "import shlex\n"), swap(file, sink, 'subprocess.run("ls " + shlex.quote(cmd_@), shell=True)')), FIXED,
             "fixed"),
        make("other-sink", "V11", "another sink that another rule reports",
             swap("calc.py", "return eval(text_@)", "import os\n    return os.system(text_@)"), FIXED, "fixed",
             introduced=("python-os-command",), **calculator),
        make("semgrepignore", "V7", "an ignore file is added", write(".semgrepignore", "*\n"), NOT_FIXED, "still_present",
             alone=True, **calculator),
        make("filter", "V7", "our own display filter is added",
             write(".appsecgate.toml", '[[suppressions]]\nrule = "*"\nreason = "x"\n'), NOT_FIXED, "still_present",
             alone=True, **calculator),
        make("in-a-string", "V6", "the line stands in a string that nobody runs",
             swap("calc.py", "return eval(text_@)", 'return """\n    return eval(text_@)\n"""'), FIXED, "fixed sink_still_named",
             **calculator),
        make("safe-library", "honest", "a safe library takes its place", swap("calc.py", "return eval(text_@)",
             "import ast\n    return ast.literal_eval(text_@)"), FIXED, "fixed", **calculator),
        make("all-of-three", "honest", "two of three equal calls are fixed; the first",
             both(swap(file, sink, safe), swap(file, sink, "pass")), FIXED, "fixed", files={file: equal}),
        make("stronger-hash", "honest", "md5 becomes sha256", swap("digest.py", "md5", "sha256"), FIXED, "fixed", **md5),
        make("weak-to-weak", "V11", "md5 becomes sha1, which the same rule reports", swap("digest.py", "md5", "sha1"), NOT_FIXED,
             "changed_still_present", **md5),
        make("other-remains", "honest", "another finding of the file remains", swap("calc.py", "eval(text_@)", "int(text_@)"),
             FIXED, "fixed", **{**calculator, "files": {"calc.py": calc + "\n\n" + PYTHON.program()}}),
        make("reformatted", "V5", "the file is reformatted", swap(file, sink, "subprocess.run(\n        cmd_@,\n        shell=True,\n    )"),
             NOT_FIXED, "changed_still_present still_present"),
        make("crlf", "V5", "line ends become CRLF", rewrite(file, lambda data: data.replace(b"\n", b"\r\n")), NOT_FIXED,
             "still_present"),
        make("emptied", "honest", "the file is emptied", write(file, ""), FIXED, "code_removed"),
        make("kept-suppression", "honest", "fixed; the suppression that stood there stays", swap(file, "cmd_@, shell=True", "[cmd_@]"),
             FIXED, "fixed", files={file: PYTHON.program(middle=f"{sink}  # nosemgrep")}),
        make("old-suppression", "V2", "a suppression that always stood there", prepend(file, "# touched\n"), NOT_FIXED,
             "suppressed_inline", files={file: PYTHON.program(middle=f"{sink}  # nosemgrep")}),
        make("import-added", "V5", "an import is added", prepend(file, "import sys\n"), NOT_FIXED, "still_present"),
        make("committed", "honest", "in a git repository", swap(file, sink, safe), FIXED, "fixed", git="commit"),
        make("uncommitted", "honest", "in a git repository without a commit", swap(file, sink, safe), FIXED, "fixed", git="init"),
        make("fix-committed", "honest", "in a git repository, the fix committed", both(swap(file, sink, safe), commit), FIXED,
             "fixed", git="commit"),
        make("move-committed", "V6", "in a git repository: moved out of sight, and committed",
             both(write("app.inc", f"{sink}\n"), swap(file, sink, "runpy.run_path('app.inc')"), commit), NOT_FIXED, "moved",
             place="app.inc", git="commit"),
        make("git-moved", "V6", "in a git repository: moved and the variable renamed",
             both(write("other.py", "import subprocess\n\n\ndef helper(other):\n    subprocess.run(other, shell=True)\n"),
                  swap(file, sink, "helper(cmd_@)")), NOT_FIXED, "moved", place="other.py", git="commit"),
    ]  # fmt: skip


def code_entries() -> list[Entry]:
    return [one for language in LANGUAGES for one in for_language(language)] + python_entries()
