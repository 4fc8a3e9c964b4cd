"""The plain spelling of source text: what becomes plain, what stays, and where things are."""

import re
import time
import unittest

from appsecgate.embedded import embedded_names, read_embedded
from appsecgate.spelling import Respelled, plain_code, respell
from appsecgate.spelling_forms import ESCAPE_FORMS, PHP_NAMES

BACK = "\\"
WIDE = "".join(chr(0xFEE0 + ord(char)) for char in "eval")


class PlainSpellingTest(unittest.TestCase):
    def test_what_the_language_takes_for_the_same_becomes_plain(self) -> None:
        for language, text, plain in (
            ("python", f"{WIDE}(x)", "eval(x)"),
            ("python", "os.\U0001d460ystem(x)", "os.system(x)"),
            ("python", "f(ſhell=True)", "f(shell=True)"),
            ("python", "subprocess.check\uff3foutput(x)", "subprocess.check_output(x)"),
            ("python", 'f"{' + WIDE + '(x)}"', 'f"{eval(x)}"'),
            ("python", "cafe\u0301 = 1", "café = 1"),
            ("python", f'"{BACK}x6dd5"', '"md5"'),
            ("python", f'"{BACK}N{{LATIN SMALL LETTER M}}d5"', '"md5"'),
            ("python", f'"{BACK}155d5" "{BACK}U0000006d"', '"md5" "m"'),
            ("javascript", f"{BACK}u0065val(x)", "eval(x)"),
            ("typescript", f"{BACK}u{{000065}}val(x)", "eval(x)"),
            ("javascript", f'f("m{BACK}d5", `ev{BACK}\nal`)', 'f("md5", `eval`)'),
            ("java", f"a().{BACK}uuu0065xec(x)", "a().exec(x)"),
            ("java", f"f({BACK}u0022MD5{BACK}u0022)", 'f("MD5")'),
            ("java", f"// {BACK}u000d exec()", "// \n exec()"),
            ("java", f'"M{BACK}u005c1045"; "{BACK}57bin"', '"MD5"; "/bin"'),
            ("c", f"ge{BACK}\nts(x); f(ge??/\nts)", "gets(x); f(ge??/\nts)"),
            ("cpp", f'"{BACK}x73{BACK}150"', '"sh"'),
            ("csharp", f'@MD5.Create(@"MD5", """SHA1"""); {BACK}U0000004dD5', 'MD5.Create("MD5", "SHA1"); MD5'),
            ("csharp", "MD5.Cre\u200date()", "MD5.Create()"),
            ("csharp", "// a\u2028 b; // c\x85d", "// a\n b; // c\nd"),
            ("csharp", f"@{BACK}u004dD5.Create()", "MD5.Create()"),
            ("c", f'"{BACK}x7{BACK}\n3h"', '"sh"'),
            ("python", "\feval\f(x)", "\feval (x)"),
            ("go", f'exec.Command("{BACK}x73h", "-{BACK}143")', 'exec.Command("sh", "-c")'),
            ("kotlin", "r.`exec`(x); `Runtime`.get()", "r.exec(x); Runtime.get()"),
            ("php", f"EVAL($x); {BACK}Shell_Exec($x); $db->QUERY($x)", "eval($x); shell_exec($x); $db->query($x)"),
            ("php", f'f("SYSTEM", "{BACK}x73YSTEM", "{BACK}system")', 'f("system", "system", "system")'),
            ("ruby", f'send("{BACK}x65val"); "{BACK}md5"', 'send("eval"); "md5"'),
            ("bash", f"e{BACK}val x; e'va'l x; ev\"\"al x; {BACK}eval x", "eval x; eval x; eval x; eval x"),
            ("bash", f"$'{BACK}x65val' x; ev{BACK}\nal x; $\"eval\" x", "eval x; eval x; eval x"),
        ):
            with self.subTest(language=language, text=text):
                self.assertEqual(plain_code(language, text), plain)

    def test_nothing_is_undone_that_would_begin_or_end_a_comment_or_a_literal(self) -> None:
        commented = ESCAPE_FORMS.keys() - {"python", "ruby", "bash"}
        for language, text in (
            *((name, f"/* {BACK}x2a/ {BACK}52/ *{BACK}x2f {BACK}57* // */ f()") for name in commented),
            *((name, f"/* {BACK}u002a/ *{BACK}u002f */ f()") for name in commented - {"java"}),
            ("php", f"// {BACK}x3f> {BACK}x3c?php"),
            ("javascript", f"// '{BACK}\n''; f(x); // '"),
            ("ruby", f'# "{BACK}\n""; f(x) # "'),
            ("bash", f"# a{BACK}\nb"),
            ("bash", f"cat <<'X'\na{BACK}\nX\nf"),
            ("java", f"// {BACK}u005cu000a /*"),
            ("c", "// a??/\nb();"),
        ):
            with self.subTest(language=language, text=text):
                self.assertEqual(plain_code(language, text), text)

    def test_a_hostile_text_takes_no_longer_than_its_length_says(self) -> None:
        for language in ESCAPE_FORMS:
            for piece in ("//", "/*", "'", '"', f"{BACK}\n", f"a{BACK}\n", "@", "`", '"""', "#", f"{BACK}u", "e'"):
                with self.subTest(language=language, piece=piece):
                    begun = time.process_time()
                    respell(language, piece * (200_000 // len(piece)))
                    self.assertLess(time.process_time() - begun, 5)

    def test_what_is_plain_already_or_means_something_else_stays(self) -> None:
        for language, text in (
            ("python", 'größe = "Straße"; x = "a\\n\\t\\\\x41 \\x00 \\xe9 \\u00e9"'),
            ("python", "名前 = '①　カナ'"),
            ("javascript", 'const a = /\\d+\\/\\s[\\x2f]\\1/; "\\u00e9\\n\\\\u0065"; `\\u0024{x}`'),
            ("java", 'String s = "\\\\u0065 \\u00e9 \\42";'),
            ("c", "#define A(x) \\\n  do { x; } while (0)\n#define B \\\nx\n" + 'f("\\x00\\xff\\\\x41");'),
            ("csharp", 'class A { string @class = @"C:\\x"; string s = $@"{x}"; }'),
            ("kotlin", "fun `a test`() { `when`(x).then(y) } // see `name`."),
            ("php", "function MyThing() { return Foo\\system(1) . $SYSTEM . self::SYSTEM; }"),
            ("ruby", "/\\d\\A/; '\\x41'.sub(\"\\n\", \"#{x}\")".replace("'\\x41'", "'a'")),
            ("bash", "echo \"a b\" 'c d' \"$HOME\"/bin x=\"y\" --flag=\"z\" 'eval'"),
            ("rust", 'let x = "\\x41";'),
            ("", f"{WIDE}(x)"),
        ):
            with self.subTest(language=language, text=text):
                self.assertIsNone(respell(language, text))

    def test_places_lead_back_to_the_text_as_it_stands(self) -> None:
        for language, text, found, there in (
            ("javascript", f"é = {BACK}u0065val(x);", "eval(x)", f"{BACK}u0065val(x)"),
            ("python", f"a = 'é'; {WIDE}(x)  # {WIDE}", "eval(x)", f"{WIDE}(x)"),
            ("java", f"a; // b {BACK}u000a Runtime.exec(x);\nc;", "Runtime.exec(x)", "Runtime.exec(x)"),
            ("c", f"a;\n  ge{BACK}\nts(x);\nb;", "gets(x)", f"ge{BACK}\nts(x)"),
            ("csharp", "é = @MD5.Create();", "MD5.Create()", "@MD5.Create()"),
            ("c", f'a;\né("{BACK}x7{BACK}\n3h", b);', '("sh", b)', f'("{BACK}x7{BACK}\n3h", b)'),
            ("csharp", "x = MD\u200d5.Create\u200d;", "MD5.Create", "MD\u200d5.Create"),
        ):
            with self.subTest(text=text):
                respelled = respell(language, text)
                assert respelled is not None
                self.assertEqual(_cut(text, respelled, found), there)

    def test_code_in_plain_spelling_is_left_alone_the_second_time(self) -> None:
        for language, text in (("bash", "e'v'al x"), ("php", "EVAL($x)"), ("python", f"{WIDE}(x)"), ("c", "ge\\\nts(x)")):
            with self.subTest(language):
                self.assertIsNone(respell(language, plain_code(language, text)))

    def test_hostile_text_ends(self) -> None:
        for piece in ("\\", '"', "'", "`a", '"a\\d', "\\u", "a\\\n", "??/", "@a", "a\u200d", "\\N{A", "a(", "$'", WIDE, "\\x0"):
            for language in ESCAPE_FORMS:
                respell(language, piece * 30_000)

    def test_text_that_is_no_unicode_does_not_matter(self) -> None:
        respelled = respell("python", f"'\udcff\ud800'; {WIDE}(x)")
        assert respelled is not None
        self.assertEqual(respelled.place_in_base(1, 6, is_end=False)[0], 1)

    def test_every_function_that_our_php_rules_name_is_known_in_any_case(self) -> None:
        rules = read_embedded("rules/php.json")
        named = set(re.findall(r"(?<![\w$\\])([a-z_][a-z_0-9]+)\(", rules))
        self.assertEqual(named - PHP_NAMES, set())

    def test_every_language_of_our_rules_is_known(self) -> None:
        languages = {name.removeprefix("rules/").removesuffix(".json") for name in embedded_names("rules/")} - {"regex"}
        self.assertEqual(languages - ESCAPE_FORMS.keys(), set())


def _cut(text: str, respelled: Respelled, found: str) -> str:
    """What stands in a text where something was found in its plain spelling."""
    start = respelled.text.index(found)
    corners = []
    for offset, is_end in ((start, False), (start + len(found), True)):
        line = respelled.text.count("\n", 0, offset) + 1
        before = respelled.text[respelled.text.rfind("\n", 0, offset) + 1 : offset]
        corners.append(respelled.place_in_base(line, len(before.encode()) + 1, is_end=is_end))
    lines = [line.encode() for line in text.split("\n")]
    offsets = [sum(len(line) + 1 for line in lines[: line - 1]) + column - 1 for line, column in corners]
    return text.encode()[offsets[0] : offsets[1]].decode()


if __name__ == "__main__":
    unittest.main()
