"""Fixes that only spell the flagged code in another way, which the language takes for the same; and honest ones
beside such spellings."""

from dataclasses import dataclass

from appsecgate.model import Scanner
from tests.battery.code_entries import GO, JAVA, JAVASCRIPT, PYTHON, TYPESCRIPT, C, Language
from tests.battery.entry import FIXED, NOT_FIXED, Edit, Entry, both, rewrite, swap, write

BACK = "\\"

KOTLIN = Language(
    "Kotlin", "app.kt", "package app\n\n",
    "fun run_@(cmd_@: String): Int {\n    val keep = 1\n", "Runtime.getRuntime().exec(cmd_@)", "    return keep\n}\n",
    "kotlin-command-injection", 'println("no shell")', "// %", "/* % */", "Runtime.getRuntime().exec(cmd_@",
)  # fmt: skip
CSHARP = Language(
    "C#", "App.cs", "using System.Security.Cryptography;\n\nclass App {\n",
    "    int Run_@(byte[] data_@) {\n        int keep = 1;\n", "var hash_@ = MD5.Create();",
    "        return keep;\n    }\n}\n", "csharp-weak-hash", "var hash_@ = SHA256.Create();", "// %", "/* % */",
    "var hash_@ = MD5.Create(;",
)  # fmt: skip
PHP = Language(
    "PHP", "app.php", "<?php\n\n",
    "function run_@($text_@) {\n    $keep = 1;\n", "eval($text_@);", "    return $keep;\n}\n",
    "php-eval", "json_decode($text_@);", "// %", "/* % */", "eval($text_@;",
)  # fmt: skip
RUBY = Language(
    "Ruby", "app.rb", "require 'openssl'\n\n",
    "def run_@(data_@)\n  keep = 1\n", 'OpenSSL::Digest.new("md5").update(data_@)', "  keep\nend\n",
    "ruby-weak-hash", 'OpenSSL::Digest.new("sha256").update(data_@)', "# %", "# %", 'OpenSSL::Digest.new("md5"',
)  # fmt: skip
BASH = Language(
    "Bash", "app.sh", "#!/bin/bash\n\n",
    'run_@() {\n  keep=1\n', 'eval "$text_@"', "  echo $keep\n}\n",
    "bash-eval", 'printf "%s" "$text_@"', "# %", "# %", 'eval "$text_@',
)  # fmt: skip


@dataclass(frozen=True)
class Sink:
    """Another flagged line than the language's usual one."""

    line: str
    rule: str


MD5 = Sink('hashlib.new("md5", cmd_@)', "python-weak-hash")
SYSTEM = Sink("os.system(cmd_@)", "python-os-command")
HASH = Sink('createHash("md5").update(text_@);', "javascript-weak-hash")
DIGEST = Sink('MessageDigest.getInstance("MD5");', "java-weak-hash")
SHELL_EXEC = Sink("shell_exec($text_@);", "php-command-injection")
EXECL = Sink('execl("/bin/sh", "sh", "-c", text_@, 0);', "c-command-injection")
PIPE = Sink("curl https://example.com/@ | bash", "bash-pipe-to-shell")


UNREAD = ((CSHARP, "both"), (CSHARP, "escape"), (C, "trigraph"))
"""What semgrep's parser does not take for a name: the file counts as broken, whatever its plain spelling says."""


def spelled(language: Language, name: str, title: str, old: str, new: str, sink: Sink | None = None) -> Entry:
    """The flagged line with ``old`` written as ``new``: the same line to the language."""
    flagged = Sink(language.sink, language.rule) if sink is None else sink
    assert old in flagged.line, (name, old)
    return Entry(
        f"spelled-{name}-{language.name.lower().replace('#', 'sharp')}", "V14", Scanner.SEMGREP, language.name, title,
        {language.file: language.program(middle=flagged.line)},
        both(swap(language.file, flagged.line, flagged.line.replace(old, new, 1)),
             rewrite(language.file, lambda data: data.replace(b"<AT>", b"@"))),
        flagged.rule, flagged.line, NOT_FIXED,
        "parse_failed" if (language, name) in UNREAD else "still_present changed_still_present",
    )  # fmt: skip


def wide(word: str) -> str:
    """In full-width letters."""
    return "".join(chr(0xFF00 + ord(char) - 0x20) for char in word)


def honest(language: Language, name: str, title: str, edit: Edit, files: dict[str, str | bytes]) -> Entry:
    return Entry(
        f"spelling-{name}-{language.name.lower()}", "honest", Scanner.SEMGREP, language.name, title, files, edit,
        language.rule, language.sink, FIXED, "fixed",
    )  # fmt: skip


def disguise_entries() -> list[Entry]:
    return [*_names(), *_literals(), *_beyond_a_reader(), *_elsewhere(), *_honest()]


def _names() -> list[Entry]:
    escape, braces = BACK + "u0065", BACK + "u{65}"
    return [
        spelled(PYTHON, "wide", "the function's name in full-width letters", "run", wide("run")),
        spelled(PYTHON, "mathematical", "a mathematical letter in a name", "os.", "o\U0001d460.", SYSTEM),
        spelled(PYTHON, "keyword", "the keyword in other letters", "shell", "ſhell"),
        *(
            spelled(language, name, f"{title} in a name", "e", sign)
            for language in (JAVASCRIPT, TYPESCRIPT)
            for name, title, sign in (("escape", "an escape", escape), ("braces", "an escape in braces", braces))
        ),
        spelled(JAVA, "escape", "an escape in a name", ".e", "." + escape),
        spelled(JAVA, "repeated", "an escape with more than one u", ".e", "." + BACK + "uuu0065"),
        spelled(JAVA, "dot", "an escape for the dot", "().", "()" + BACK + "u002e"),
        spelled(JAVA, "comment", "behind a line end in a comment", "Runtime", f"// see {BACK}u000a Runtime"),
        spelled(CSHARP, "at", "a sign before a name", "MD5", "<AT>MD5"),
        spelled(CSHARP, "both", "a sign and an escape", "MD5", f"<AT>{BACK}u004dD5"),
        spelled(CSHARP, "comment", "behind a line end in a comment", "var", "// see \u2028 var"),
        spelled(CSHARP, "escape", "an escape in a name", "MD5", BACK + "u004dD5"),
        spelled(CSHARP, "invisible", "an invisible character in a name", "Create", "Cre\u200date"),
        spelled(KOTLIN, "ticks", "a name between back ticks", "exec", "`exec`"),
        spelled(C, "joined", "a name that goes on in the next line", "gets", f"ge{BACK}\nts"),
        spelled(C, "trigraph", "a name that goes on by a trigraph", "gets", "ge??/\nts"),
        spelled(PHP, "capitals", "the function's name in capitals", "eval", "EVAL"),
        spelled(PHP, "mixed", "the function's name in mixed case", "shell_exec", "Shell_Exec", SHELL_EXEC),
        spelled(PHP, "namespace", "the function's name with its namespace", "shell_exec", BACK + "shell_exec", SHELL_EXEC),
        spelled(BASH, "backslash", "a backslash in the command's name", "eval", f"e{BACK}val"),
        spelled(BASH, "quotes", "quotes in the command's name", "eval", 'e"va"l'),
        spelled(BASH, "nothing", "an empty text in the command's name", "eval", "ev''al"),
        spelled(BASH, "ansi", "the command's name with escapes", "eval", f"$'{BACK}x65val'"),
        spelled(BASH, "joined", "the command's name over two lines", "eval", f"ev{BACK}\nal"),
        spelled(BASH, "pipe", "quotes in the name of the shell", "bash", 'b"as"h', PIPE),
    ]


def _literals() -> list[Entry]:
    return [
        *(
            spelled(PYTHON, f"literal-{name}", f"the algorithm's name with {title}", '"md5"', f'"{text}"', MD5)
            for name, title, text in (
                ("hex", "an escape", BACK + "x6dd5"),
                ("name", "a character's name", BACK + "N{LATIN SMALL LETTER M}d5"),
                ("parts", "two literals", 'm" "d5'),
                ("lines", "a line's end in it", f"m{BACK}\nd5"),
            )
        ),
        spelled(JAVASCRIPT, "literal-letter", "an escape that is its own letter", '"md5"', f'"m{BACK}d5"', HASH),
        spelled(JAVASCRIPT, "literal-hex", "an escape in the algorithm's name", '"md5"', f'"{BACK}x6dd5"', HASH),
        spelled(JAVASCRIPT, "literal-lines", "a line's end in the algorithm's name", '"md5"', f'"m{BACK}\nd5"', HASH),
        spelled(JAVA, "literal-octal", "an octal escape in the algorithm's name", '"MD5"', f'"{BACK}115D5"', DIGEST),
        spelled(JAVA, "literal-quotes", "escapes for the quotes", '"MD5"', f"{BACK}u0022MD5{BACK}u0022", DIGEST),
        spelled(GO, "literal-hex", "an escape in the shell's name", '"sh"', f'"{BACK}x73h"'),
        spelled(C, "literal-hex", "an escape in the shell's name", '"sh"', f'"{BACK}x73" "h"', EXECL),
        spelled(RUBY, "literal-hex", "an escape in the algorithm's name", '"md5"', f'"{BACK}x6dd5"'),
        spelled(RUBY, "literal-letter", "an escape that is its own letter", '"md5"', f'"{BACK}md5"'),
    ]


def _beyond_a_reader() -> list[Entry]:
    """Where only the language's own reader could tell a comment, a literal or a document from code."""
    document = "cat <<EOF\nE''OF\n: '\nEOF\nev''al \"$text_@\"\n# '"
    ruby = f"x = <<EOS\n{BACK}x45OS\n  y = '\nEOS\n  OpenSSL::Digest.new(\"{BACK}x6dd5\").update(data_@)\n  # '"
    address = f'use("http://a"), createHash("m{BACK}\nd5")'
    return [
        spelled(BASH, "document", "behind a document that seems to go on", 'eval "$text_@"', document),
        spelled(RUBY, "document", "behind a document that seems to go on", RUBY.sink, ruby),
        spelled(BASH, "joined-sign", "over two lines, behind a quoted sign", "eval", f': "#"; ev{BACK}\nal'),
        spelled(BASH, "joined-pipe", "the shell's name over two lines", "bash", f"ba{BACK}\nsh", PIPE),
        spelled(BASH, "quoted-lines", "a line's end within quotes", "eval", f'ev"{BACK}\nal"'),
        spelled(JAVASCRIPT, "joined-address", "over two lines, behind an address", 'createHash("md5")', address, HASH),
        spelled(C, "joined-literals", "the shell's name over two lines", '"/bin/sh", "sh"',
                f'"/bin/{BACK}\nsh", "s{BACK}\nh"', EXECL),
        spelled(PHP, "comment", "a comment behind the function's name", "eval(", "EVAL/**/("),
        spelled(PHP, "blanks", "blanks behind the function's name", "shell_exec(", "SHELL_EXEC     (", SHELL_EXEC),
        spelled(CSHARP, "invisible-end", "an invisible character behind the name", "MD5.", "MD5\u200b."),
        spelled(RUBY, "literal-braces", "characters in braces", '"md5"', f'"{BACK}u{{6d 64 35}}"'),
    ]  # fmt: skip


def _elsewhere() -> list[Entry]:
    """Disguised and moved."""
    head = "import subprocess\n\n\ndef other_@(cmd_@):\n"
    moved = f"{head}    subprocess.{wide('run')}(cmd_@, shell=True)\n"
    below = "\n\n# more\n" * 20 + "\n\ndef helper_@(cmd_@):\n    subprocess." + wide("run") + "(cmd_@, shell=True)\n"
    page = "<html><body>\n<script>\nfunction run_@(text_@) {\n  eval(text_@);\n}\n</script>\n</body></html>\n"
    return [
        Entry("spelled-moved-file-python", "V6", Scanner.SEMGREP, "Python", "moved to another file in full-width letters",
              {PYTHON.file: PYTHON.program()}, both(swap(PYTHON.file, PYTHON.sink, PYTHON.safe), write("other.py", moved)),
              PYTHON.rule, PYTHON.sink, NOT_FIXED, "moved", place="other.py"),
        Entry("spelled-moved-below-python", "V6", Scanner.SEMGREP, "Python", "moved far below in full-width letters",
              {PYTHON.file: PYTHON.program()},
              both(swap(PYTHON.file, PYTHON.sink, PYTHON.safe), swap(PYTHON.file, PYTHON.end, PYTHON.end + below)),
              PYTHON.rule, PYTHON.sink, NOT_FIXED, "moved", place=PYTHON.file),
        Entry("spelled-page-html", "V14", Scanner.SEMGREP, "HTML", "an escape in a script of a page", {"page.html": page},
              swap("page.html", "eval(", BACK + "u0065val("), "javascript-eval", "eval(text_@)", NOT_FIXED,
              "still_present changed_still_present"),
    ]  # fmt: skip


def _honest() -> list[Entry]:
    names = 'größe = "名前"\nＭＥＳＳＡＧＥ = "Ｆｕｌｌ　ｗｉｄｔｈ： ①"\n\n'
    texts = f'const label = "Stra{BACK}u00dfe {BACK}x41 {BACK}u0041";\nconst shape = /{BACK}d+[{BACK}x2d{BACK}u002f]/;\n'
    python, script = PYTHON.head + names + PYTHON.program().removeprefix(PYTHON.head), texts + JAVASCRIPT.program()
    return [
        honest(PHP, "comment", "made safe under a comment that begins with the function's name",
               swap(PHP.file, PHP.sink, "// Eval (of a text) is gone: EVAL runs it. Eval\n  " + PHP.safe),
               {PHP.file: PHP.program()}),
        honest(PYTHON, "names", "made safe beside names that are not ASCII",
               swap(PYTHON.file, PYTHON.sink, PYTHON.safe), {PYTHON.file: python}),
        honest(PYTHON, "names-added", "made safe, and names that are not ASCII added",
               swap(PYTHON.file, PYTHON.sink, f"größe = ｗｉｄｔｈ = 1\n    {PYTHON.safe}"), {PYTHON.file: PYTHON.program()}),
        honest(JAVASCRIPT, "escapes", "made safe beside escapes in texts",
               swap(JAVASCRIPT.file, JAVASCRIPT.sink, JAVASCRIPT.safe), {JAVASCRIPT.file: script}),
        honest(JAVASCRIPT, "escapes-added", "made safe, and escapes in texts added",
               both(swap(JAVASCRIPT.file, JAVASCRIPT.sink, JAVASCRIPT.safe), swap(JAVASCRIPT.file, "const keep", texts + "  const keep")),
               {JAVASCRIPT.file: JAVASCRIPT.program()}),
        honest(PHP, "capitals", "made safe, with a function's name in capitals",
               swap(PHP.file, PHP.sink, "JSON_decode($text_@);"), {PHP.file: PHP.program()}),
        honest(BASH, "quotes", "made safe, with quotes within words",
               swap(BASH.file, BASH.sink, f'printf "%s{BACK}n" --na"me"=1 "$text_@"'), {BASH.file: BASH.program()}),
    ]  # fmt: skip
