"""Fixes of secrets that only write the value in another way: in parts, with escapes, encoded; and honest ones."""

import base64
import hashlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.battery.entry import FIXED, NOT_FIXED, Entry
from tests.battery.secret_entries import ENVIRONMENT, FIRST, WORD, entry, values_of

BACK = "\\"
FILES = {
    "Python": ("settings.py", f'import os\n\nCLIENT = connect("{FIRST}")\nNAME = "shop"\n', f'"{FIRST}"'),
    "JavaScript": ("settings.js", f'const client = connect("{FIRST}");\nconst name = "shop";\n', f'"{FIRST}"'),
    "Java": ("Settings.java", f'class Settings {{\n  String key = "{FIRST}";\n  int size = 1;\n}}\n', f'"{FIRST}"'),
    "C#": ("Settings.cs", f'class Settings {{\n  string key = "{FIRST}";\n  int size = 1;\n}}\n', f'"{FIRST}"'),
    "Go": ("settings.go", f'package main\n\nvar key = "{FIRST}"\nvar size = 1\n', f'"{FIRST}"'),
    "PHP": ("settings.php", f'<?php\n$key = "{FIRST}";\n$size = 1;\n', f'"{FIRST}"'),
    "Bash": ("settings.sh", f'#!/bin/bash\nKEY="{FIRST}"\nSIZE=1\n', f'"{FIRST}"'),
    "YAML": ("service.yaml", f'service: shop\naccess: "{FIRST}"\nregion: eu\n', f'"{FIRST}"'),
    "env": (".env", f"SIZE=1\nACCESS={FIRST}\n", FIRST),
}
"""Dialect → a file, its text, and the value as it stands in it."""


def written(dialect: str, name: str, title: str, form: Callable[[str], str], codes: str = "changed_still_present still_present",
            **more: object) -> Entry:  # fmt: skip
    """The value is written in another form, which gives the same."""
    file, text, literal = FILES[dialect]
    full = f"disguised-{name}-{dialect.lower().replace('#', 'sharp')}"
    value = values_of(f"secret-{full}")[FIRST]

    def edit(folder: Path) -> None:
        """The text holds the mark when this is called."""
        before = (folder / file).read_text()
        assert literal in before, before
        (folder / file).write_text(before.replace(literal, form(value)))

    files = {"files": {file: text}, "dialect": dialect}
    return entry(full, "V15", title, edit, more.pop("status", NOT_FIXED), codes, **files, **more)


def parts(value: str, between: str, *, quote: str = '"', sizes: tuple[int, ...] = (4, 11)) -> str:
    """The value in parts, each in quotes."""
    cuts = [0, *sizes, len(value)]
    return between.join(quote + value[a:b] + quote for a, b in itertools.pairwise(cuts))


def codes_of(value: str, sign: Callable[[str], str]) -> str:
    return "".join(map(sign, value))


def secret_disguise_entries() -> list[Entry]:
    plus, lines = " + ", " +\n    "
    return [
        *(
            written(dialect, "plus", "put together out of three literals", lambda value, by=by: parts(value, by))  # type: ignore[misc]
            for dialect, by in (
                ("Python", plus), ("JavaScript", plus), ("Java", plus), ("C#", plus), ("Go", plus), ("PHP", " . "), ("Bash", ""),
            )
        ),
        *(
            written(dialect, "lines", "put together over several lines", lambda value, by=by: parts(value, by))  # type: ignore[misc]
            for dialect, by in (
                ("Python", "\n    "), ("JavaScript", lines), ("Java", lines), ("C#", lines), ("Go", lines), ("PHP", " .\n  "),
                ("Bash", BACK + "\n"),
            )
        ),
        written("Python", "comment", "over several lines, with comments between", lambda value: parts(value, "  # part\n    ")),
        written("Python", "prefix", "literals with prefixes", lambda value: f'f"{value[:7]}" r"{value[7:]}"'),
        written("Python", "join", "a list that is joined", lambda value: f'"".join([{parts(value, ", ")}])'),
        written("JavaScript", "join", "an array that is joined", lambda value: f'[{parts(value, ", ")}].join("")'),
        written("JavaScript", "chars", "an array of characters", lambda value: f"{list(value)}.join('')".replace("'", '"')),
        written("Python", "variables", "parts in variables", lambda value: f'A + B)\nA = "{value[:8]}"\nB = ("{value[8:]}"'),
        written("Python", "format", "parts that are formatted in", lambda value: f'"%s%s" % ("{value[:8]}", "{value[8:]}")'),
        written("Python", "hex", "an escape in the literal", lambda value: f'"{BACK}x41{value[1:]}"'),
        written("JavaScript", "unicode", "escapes in the literal", lambda value: f'"{codes_of(value, lambda c: f"{BACK}u{ord(c):04x}")}"'),
        written("Java", "octal", "an octal escape in the literal", lambda value: f'"A{BACK}113{value[2:]}"'),
        written("Bash", "ansi", "escapes of the shell", lambda value: f"$'{BACK}x41{value[1:]}'"),
        written("Python", "continued", "a line's end in the literal", lambda value: f'"{value[:8]}{BACK}\n{value[8:]}"'),
        written("YAML", "continued", "a line's end in the text", lambda value: f'"{value[:8]}{BACK}\n  {value[8:]}"'),
        written("env", "quoted", "quoted in part", lambda value: f'{value[:8]}"{value[8:]}"'),
        written("Python", "base64", "in base 64", lambda value: f'b64decode("{base64.b64encode(value.encode()).decode()}")'),
        written("YAML", "base64", "in base 64", lambda value: base64.b64encode(f"{value}\n".encode()).decode()),
        written("Python", "base64-parts", "in base 64, in parts",
                lambda value: f"b64decode({parts(base64.b64encode(value.encode()).decode(), plus)})"),
        written("Python", "base16", "in base 16", lambda value: f'bytes.fromhex("{value.encode().hex()}")'),
        written("Python", "backwards", "backwards", lambda value: f'"{value[::-1]}"[::-1]'),
        written("Python", "numbers", "as a list of numbers", lambda value: f"bytes({list(value.encode())}).decode()"),
        written("Python", "percent", "with escapes of an address", lambda value: f'unquote("{codes_of(value, lambda c: f"%{ord(c):02x}")}")'),
        *_spelled_out(),
        _moved_in_parts(),
        *_keys(),
        *_passwords(),
        *_honest(),
    ]  # fmt: skip


def _spelled_out() -> list[Entry]:
    """In the escapes, numbers and templates of many languages."""
    return [
        written("Python", "named", "a named character", lambda value: f'"{BACK}N{{LATIN CAPITAL LETTER A}}{value[1:]}"'),
        written("Python", "wide", "escapes of eight digits", lambda value: f'"{codes_of(value, lambda c: f"{BACK}U{ord(c):08x}")}"'),
        written("Python", "octal", "octal escapes of two and three digits", lambda value: f'"{codes_of(value, lambda c: f"{BACK}{ord(c):o}")}"'),
        written("Python", "percent-part", "a part formatted in", lambda value: f'"%s{value[8:]}" % "{value[:8]}"'),
        written("Python", "fstring", "a part in an f-string", lambda value: f'f"{{A}}{value[8:]}")\nA = ("{value[:8]}"'),
        written("JavaScript", "template", "a part in a template", lambda value: f'`{value[:8]}${{b}}`); const b = ("{value[8:]}"'),
        written("Java", "format", "formatted by number", lambda value: f'String.format("%2$s%1$s", "{value[8:]}", "{value[:8]}")'),
        written("Python", "integer", "as one number", lambda value: f'(0x{value.encode().hex()}).to_bytes(20, "big").decode()'),
        written("Python", "hex-colons", "in base 16 with colons", lambda value: f'fromhex("{value.encode().hex(":")}")'),
        written("Python", "codes-octal", "as octal codes", lambda value: f"bytes([{', '.join(map(oct, value.encode()))}]).decode()"),
        written("Go", "codes-binary", "as binary codes", lambda value: f"string([]byte{{{', '.join(map(bin, value.encode()))}}})"),
    ]  # fmt: skip


def _moved_in_parts() -> Entry:
    file, text, _ = FILES["Python"]
    value = values_of("secret-disguised-moved")[FIRST]

    def edit(folder: Path) -> None:
        (folder / file).write_text(text.replace(f'"{FIRST}"', "KEY") + "from keys import KEY\n")
        (folder / "keys.py").write_text(f"KEY = ({parts(value, chr(10) + '    ')})\n")

    return entry("disguised-moved", "V15", "to another file, in parts", edit, NOT_FIXED, "moved", files={file: text}, place="keys.py")


def _passwords() -> list[Entry]:
    """A password that no detector knows by its form."""
    file = "settings.py"

    def made(name: str, title: str, form: Callable[[str], str]) -> Entry:
        value = values_of(f"secret-disguised-word-{name}")[WORD]

        def edit(folder: Path) -> None:
            (folder / file).write_text(f"import os\n\nword = {form(value)}\nuser = 'shop'\n")

        return entry(f"disguised-word-{name}", "V15", title, edit, NOT_FIXED, "changed_still_present still_present",
                     files={file: f'import os\n\npassword = "{WORD}"\nuser = "shop"\n'}, rule="secret-keyword", needle=WORD)  # fmt: skip

    return [
        made("lines", "a password over several lines", lambda value: f"({parts(value, chr(10) + '    ')})"),
        made("variables", "parts of a password in variables", lambda value: f'A + B\nA = "{value[:8]}"\nB = "{value[8:]}"'),
        made("hex", "an escape in a password", lambda value: f'"{BACK}x5a{value[1:]}"'),
        made("base64", "a password in base 64", lambda value: f'b64decode("{base64.b64encode(value.encode()).decode()}")'),
    ]


def _keys() -> list[Entry]:
    """A private key whose header is not written out any more."""
    lines = [base64.b64encode(hashlib.sha512(f"line {n}".encode()).digest()[:48]).decode() for n in range(4)]
    head, end = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
    body = "\n".join(lines)
    text = f'import os\n\nKEY = """{head}\n{body}\n{end}\n"""\n'
    forms = (
        ("header", "the header in two literals", f'import os\n\nKEY = "-----BEGIN RSA " "PRIVATE KEY-----" """\n{body}\n"""\n'),
        ("body", "the header put together at run time", f'import os\n\nKEY = HEAD.format(os.name) + """\n{body}\n"""\n'),
        ("literals", "a literal for each line", "import os\n\nKEY = HEAD + " + " \\\n    ".join(f'"{line}{BACK}n"' for line in lines) + "\n"),
    )

    def made(name: str, title: str, after: str, status: object, codes: str) -> Entry:
        return entry(f"disguised-key-{name}", "V15", title, lambda folder: (folder / "key.py").write_text(after), status, codes,
                     files={"key.py": text}, rule="private-key", needle=head)  # fmt: skip

    same = "changed_still_present still_present"
    honest = replace(made("file", "read from a file", "import os\n\nKEY = open(os.environ['KEY']).read()\n", FIXED, "rotation_required"), case="honest")
    return [*(made(*form, NOT_FIXED, same) for form in forms), honest]


def _honest() -> list[Entry]:
    word = replace(
        entry("plain-parts", "honest", "read from the environment, with literals in parts beside it",
              lambda folder: (folder / "settings.py").write_text(
                  f'import os\n\npassword = os.environ["WORD"]\nuser = "shop" + "keeper" "-" "{BACK}x41"\nsize = [65, 75, 73, 65]\n'),
              FIXED, "rotation_required", files={"settings.py": f'import os\n\npassword = "{WORD}"\nuser = "shop"\n'},
              rule="secret-keyword", needle=WORD),
    )  # fmt: skip
    return [
        word,
        written("Python", "environment", "read from the environment", lambda value: ENVIRONMENT, "rotation_required",
                status=FIXED),
        written("Python", "manager", "fetched from a secret manager, by a name in parts",
                lambda value: f'secrets.get(f"{{STAGE}}/client") or b"{BACK}x00"); STAGE = ("pro" "d"', "rotation_required", status=FIXED),
        written("YAML", "placeholder", "a placeholder in its place", lambda value: '"${CLIENT_KEY}"', "rotation_required", status=FIXED),
        written("JavaScript", "environment", "read from the environment", lambda value: 'process.env["CLIENT_" + "KEY"]',
                "rotation_required", status=FIXED),
    ]  # fmt: skip
