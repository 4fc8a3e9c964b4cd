"""A known secret is recognised in other forms, by its length and keyed digest alone."""

import base64
import unicodedata
import unittest
from collections.abc import Collection

from appsecgate.identity.lines import line_hashes
from appsecgate.model import Finding
from appsecgate.redact.redactor import Redactor, SecretMark
from appsecgate.verify_secret import MARGIN_LINES, Search, find_disguised, find_key_lines
from appsecgate.workspace import source_from_bytes
from tests.store.ledger import make_finding

KEY = b"k" * 32
VALUE = "AKIA" + "Q3EGKZ7N" + "P4ZWXM5T"
WORD = "hunter2" + "-Zq81!x" + "Lm"
BACK = "\\"


def redactor(*values: str) -> Redactor:
    blank = Redactor(KEY)
    return Redactor(KEY, known=[SecretMark("secret", len(value), blank.digest(value)) for value in values])


def search(text: str, numbers: Collection[int], value: str = VALUE) -> Search:
    reader = redactor(VALUE, WORD)
    return find_disguised(reader, source_from_bytes("a.py", text.encode()), numbers, [reader.digest(value)])


class FindDisguisedTest(unittest.TestCase):
    def test_every_form_is_recognised_at_its_line(self) -> None:
        for value in (VALUE, WORD):
            head, tail, code = value[:7], value[7:], base64.b64encode(value.encode()).decode()
            for name, form in {
                "parts": f'"{head}" + "{tail}"',
                "variables": f'A + B; A = "{head}"; B = "{tail}"',
                "format": f'"%s%s" % ("{head}", "{tail}")',
                "characters": ", ".join(f'"{char}"' for char in value),
                "escape": f'"{BACK}x{ord(value[0]):02x}{value[1:]}"',
                "base64": f'"{code}"',
                "base64 bare": code.rstrip("="),
                "base64 of more": base64.b64encode(f"user:{value}".encode()).decode(),
                "base64 parts": f'"{code[:9]}" + "{code[9:]}"',
                "base32": base64.b32encode(value.encode()).decode(),
                "base16": value.encode().hex(),
                "backwards": f'"{value[::-1]}"[::-1]',
                "numbers": str(list(value.encode())),
                "hexadecimal numbers": ", ".join(map(hex, value.encode())),
                "address": "".join(f"%{ord(char):02x}" for char in value),
            }.items():
                with self.subTest(name, value=value[:4]):
                    self.assertEqual(search(f"a = 1\nx = {form}\nb = 2\n", {2}, value), Search(2))

    def test_escapes_numbers_and_templates_of_every_language_are_undone(self) -> None:
        for value in (VALUE, WORD):
            codes, head, tail = value.encode(), value[:10], value[10:]
            for name, form in {
                "named character": f'"{BACK}N{{{unicodedata.name(value[0])}}}{value[1:]}"',
                "eight digits": "".join(f"{BACK}U{code:08x}" for code in codes),
                "short octal": "".join(f"{BACK}{code:o}" for code in codes),
                "octal": "".join(f"{BACK}{code:03o}" for code in codes),
                "octal of echo": "".join(f"{BACK}0{code:03o}" for code in codes),
                "braces": "".join(f"{BACK}x{{{code:x}}}" for code in codes),
                "PowerShell": "".join(f"`u{{{code:x}}}" for code in codes),
                "full width": '"' + "".join(chr(0xFEE0 + code) for code in codes) + '"',
                "%s before": f'"%s{tail}" % "{head}"',
                "%s behind": f'"{head}%s" % "{tail}"',
                "numbered": f'String.format("%2$s%1$s", "{tail}", "{head}")',
                "braces numbered": f'"{{1}}{{0}}".format("{tail}", "{head}")',
                "named": f'"%(a)s{tail}" % {{"a": "{head}"}}',
                "f-string": f'f"{{a}}{tail}"; a = "{head}"',
                "f-string behind": f'f"{head}{{a}}"; a = "{tail}"',
                "template": f'`${{a}}${{b}}`; const a = "{head}"; const b = "{tail}"',
                "variables in another order": f'a + b; b = "{tail}"; a = "{head}"',
                "members": f'd["a"] + d["b"]; d = {{"b": "{tail}", "a": "{head}"}}',
                "base16 with 0x": f"0x{codes.hex()}",
                "a number": str(int.from_bytes(codes, "big")),
                "a number from its end": hex(int.from_bytes(codes, "little")),
                "hexadecimal with blanks": codes.hex(" "),
                "hexadecimal with colons": codes.hex(":").upper(),
                "hexadecimal with commas": codes.hex(","),
                "hexadecimal codes": ", ".join(f"0x{code:02X}" for code in codes),
                "octal codes": ", ".join(map(oct, codes)),
                "octal codes of C": ", ".join(f"0{code:o}" for code in codes),
                "binary codes": ", ".join(map(bin, codes)),
                "binary": " ".join(f"{code:08b}" for code in codes),
                "codes backwards": str(list(codes[::-1])),
                "calls": " + ".join(f"chr({bin(code)})" for code in codes),
                "base85": f"'{base64.b85encode(codes).decode()}'",
                "base64 backwards": f'"{base64.b64encode(codes).decode()[::-1]}"[::-1]',
                "other case": f'"{value.swapcase()}".swapcase()',
                "separated": f'"{"|".join(value)}".replace("|", "")',
                "every other": f'"{"q".join(value)}"[::2]',
                "cut out": f'"zz{value}zz"[2:-2]',
            }.items():
                with self.subTest(name, value=value[:4]):
                    self.assertEqual(search(f"a = 1\nx = {form}\nb = 2\n", {2}, value), Search(2))

    def test_honest_text_in_such_forms_is_no_secret(self) -> None:
        for text in (
            'key = os.environ["AKIA"]', 'f"{AKIA}{key}"; key = get("name")', "x = ${VALUE}", "0x414b4941", '"%s%s" % ("AKIA", x)',
            f'key = "<{BACK}N{{BULLET}}>"', "41 4b 49 41", 'key = secrets.get("shop/key"); url = "https://x/" + key',
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual(search(text, {1}), Search(None))

    def test_parts_over_lines_count_where_one_of_them_is_new(self) -> None:
        text = f'x = ("{VALUE[:7]}"\n  "{VALUE[7:12]}"\n  "{VALUE[12:]}")\n'
        self.assertEqual(search(text, {3}), Search(3))
        self.assertEqual(search(text, {2, 3}), Search(2))

    def test_what_stood_there_before_does_not_count(self) -> None:
        text = f'x = "{VALUE[:7]}" + "{VALUE[7:]}"\n' + "y = 1\n" * MARGIN_LINES * 2
        self.assertEqual(search(text, set()), Search(None))
        self.assertEqual(search(text, {2}), Search(None))
        self.assertEqual(search(text, {MARGIN_LINES * 2}), Search(None))

    def test_other_text_is_no_secret(self) -> None:
        for text in ('"AKIA" + "other"', "[65, 75, 73, 65]", base64.b64encode(b"something else").decode(), '"a" "b"'):
            with self.subTest(text):
                self.assertEqual(search(text, {1}), Search(None))

    def test_a_secret_that_is_not_known_is_not_looked_for(self) -> None:
        reader = redactor()
        source = source_from_bytes("a.py", f'"{VALUE[:7]}" + "{VALUE[7:]}"'.encode())
        self.assertEqual(find_disguised(reader, source, {1}, [reader.digest(VALUE)]), Search(None))

    def test_more_than_can_be_tested_is_not_complete(self) -> None:
        text = "\n".join(f'"{number * number % 65_521 % 251:02x}"' for number in range(40_000))
        reader = Redactor(KEY, known=[SecretMark("secret", length, "0" * 8) for length in range(8, 40)])
        found = find_disguised(reader, source_from_bytes("a.py", text.encode()), range(1, 40_001), ["0" * 8])
        self.assertEqual(found, Search(None, complete=False))

    def test_hostile_text_ends(self) -> None:
        for piece in ('"%s", "a', 'a = "b"\na ', '{a}', "41 ", "0x4", "12345678901234567890 ", "%(", f"{BACK}N{{A", '"a', "'+\"", "\\\n", '"//\n', '"/*', "%41", "65,", "QUtJ", '"A","'):
            search(piece * 20_000, range(1, 40_000))


class KeyLinesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.body = [base64.b64encode(bytes([number]) * 48).decode() for number in range(1, 4)]

    def finding(self) -> Finding:
        block = "\n".join(["-----BEGIN X-----", *self.body, "-----END X-----"])
        marks = line_hashes(source_from_bytes("k", block.encode()), KEY).hex()
        return make_finding("key", line_marks=marks)

    def find(self, text: str, numbers: Collection[int]) -> int | None:
        return find_key_lines(KEY, self.finding(), source_from_bytes("k.py", text.encode()), numbers)

    def test_a_line_of_the_block_is_recognised_in_any_literal(self) -> None:
        for line in (self.body[0], f'    "{self.body[1]}{BACK}n" +', f'x = "a{BACK}n{self.body[2]}{BACK}nb"'):
            with self.subTest(line):
                self.assertEqual(self.find(f"a\n{line}\n", {1, 2}), 2)

    def test_header_other_lines_and_old_ones_are_not(self) -> None:
        for text, numbers in (("-----BEGIN X-----", {1}), (base64.b64encode(b"9" * 48).decode(), {1}), (self.body[0], set())):
            with self.subTest(text):
                self.assertIsNone(self.find(text, numbers))


if __name__ == "__main__":
    unittest.main()
