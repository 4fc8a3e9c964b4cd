"""Self-describing secrets: what is masked, as which kind, and what is left alone."""

import unittest

from appsecgate.redact.kinds import SECRET_PLACEHOLDER
from tests.redact.planted import ALNUM, B64, DIGITS, HEX, LOWER, UPPER, URL64, Planter, redactor

FRAMES = (
    "{}",
    "x = '{}'",
    'call("{}", 1)',
    "  - {}",
    "text {} text",
    "+{}",
    "a,{},b",
    "<b>{}</b>",
    "see\\n{}\\n",
    "q=%22{}%22",
    "\x1b[31m{}\x1b[0m",
    "({})",
    "{}.",
    "ключ {} ключ",
)


class TokenTest(unittest.TestCase):
    def test_every_kind_of_token_is_masked_in_every_frame_and_named_by_its_kind(self) -> None:
        mask = redactor()
        for seed in (1, 2):
            for label, token in Planter(seed).tokens().items():
                kind = label.split()[0]
                for frame in FRAMES:
                    with self.subTest(kind=label, frame=frame):
                        masked = mask.text(frame.format(token))
                        self.assertNotIn(token[8:], masked)
                        self.assertIn(f"[REDACTED:{kind}:", masked)
                        before, after = frame.split("{}")[0], frame.rsplit("{}", 1)[-1]
                        self.assertTrue(masked.startswith(before) and masked.endswith(after), masked)

    def test_dull_tokens_are_masked_too(self) -> None:
        for token in (
            "gh" + "p_" + "a" * 36, "gl" + "pat-" + "a" * 20, "xo" + "xb-" + "a" * 24, "s" + "k-" + "a" * 48,
            "s" + "k-ant-" + "a" * 40, "sk" + "_live_" + "x" * 24, "AI" + "za" + "A" * 35, "AK" + "IA" + "A" * 16,
            "12345678:AA" + "A" * 33, "py" + "pi-" + "a" * 60, "np" + "m_" + "b" * 36, "hv" + "s." + "c" * 30,
        ):  # fmt: skip
            with self.subTest(token=token):
                self.assertRegex(redactor().text(f"x {token} y"), r"^x \[REDACTED:\w+:\w+\] y$")

    def test_the_rest_of_an_overlong_token_is_masked_too(self) -> None:
        token = "gh" + "p_" + "aB3" * 400
        self.assertRegex(redactor().text(f"x {token} y"), r"^x \[REDACTED:github_token:[0-9a-f]{8}\] y$")

    def test_webhooks_lose_their_secret_path_alone(self) -> None:
        p = Planter(3)
        path = f"T{p.chars(UPPER, 8)}/B{p.chars(UPPER, 8)}/{p.chars(ALNUM, 24)}"
        cases = {
            f"https://hooks.slack.com/services/{path}": "https://hooks.slack.com/services/[REDACTED:slack_webhook:",
            f"https://discord.com/api/webhooks/{p.chars(DIGITS, 18)}/{p.chars(URL64, 68)}": "[REDACTED:discord_token:",
            f"https://acme.webhook.office.com/webhookb2/{p.chars(HEX, 36)}@{p.chars(HEX, 36)}/x": "[REDACTED:vendor_token:",
        }
        for text, want in cases.items():
            with self.subTest(text=want):
                self.assertIn(want, redactor().text(text))

    def test_an_aws_secret_key_is_masked_where_its_surroundings_speak_of_aws(self) -> None:
        p = Planter(4)
        secret, access = p.chars(B64, 40), "AK" + "IA" + p.chars(UPPER, 16)
        for text in (
            f"{access},{secret}",
            f"aws configure set x {secret}",
            f"[default]\nid = {access}\nkey2 = {secret}",
        ):
            with self.subTest(text=text[:12]):
                self.assertNotIn(secret, redactor().text(text))
        alone = f"blob: {secret[:20]}abcd {secret[:39]}"
        self.assertEqual(redactor().text(alone), alone)

    def test_names_that_look_like_tokens_survive(self) -> None:
        for text in (
            "sk-fading-circle-animation-container",
            "sk-" + "a" * 12,
            "glpat-is-a-prefix-of-gitlab",
            "xoxo-hugs-and-kisses-dear",
            "npm_config_registry_some_long_setting",
            "pypi-attestations-of-some-distribution-files",
            "AKIA" + "SHORT",
            "A" + "KIA" + "X" * 30,
            "hf_transformers_pretrained",
            "AC" + "0" * 10,
            "key-value-store",
            "eyJ.not.a",
            "eyes-are-blue-and-green.really.ok.then",
            "12:30:45 and 1234567:short",
            "hvs.this-is-not-a-token-at-all",
            "see SG.Something.Else",
            "MII" + "abc",
        ):
            with self.subTest(text=text):
                self.assertEqual(redactor().text(text), text)


class KeyBlockTest(unittest.TestCase):
    LABELS = (
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "DSA PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    )

    def assert_masked(self, text: str, block: list[str]) -> str:
        masked = redactor().text(text)
        for line in block[1:-1]:
            self.assertNotIn(line[:16], masked)
            self.assertNotIn(line[-12:], masked)
        self.assertEqual(masked.count("\n"), text.count("\n"))
        self.assertEqual(redactor().text(masked), masked)
        return masked

    def test_a_block_keeps_its_first_and_last_line_and_its_line_count(self) -> None:
        for label in self.LABELS:
            block = Planter(5).pem(label)
            for lead in ("", "    ", "+", "-", " ", "# ", "> ", "  42 │ "):
                with self.subTest(label=label, lead=lead):
                    text = "a\n" + "\n".join(lead + line for line in block) + "\nz = 1\n"
                    masked = self.assert_masked(text, block)
                    self.assertIn(lead + block[0], masked)
                    self.assertIn(lead + block[-1], masked)
                    self.assertIn("\nz = 1\n", masked)

    def test_the_marker_of_a_diff_stays(self) -> None:
        block = Planter(5).pem()
        masked = self.assert_masked("\n".join("+" + line for line in block), block)
        self.assertTrue(all(line.startswith("+") for line in masked.split("\n")))

    def test_headers_within_a_block_do_not_end_it(self) -> None:
        block = Planter(6).pem()
        for headers in (["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123", ""], ["Version: GnuPG v2", ""]):
            for end in (len(block), len(block) - 1):
                self.assert_masked("\n".join([block[0], *headers, *block[1:end]]), block)

    def test_a_block_without_its_end_is_masked_and_what_follows_is_not(self) -> None:
        block = Planter(7).pem()
        for cut in range(2, len(block)):
            with self.subTest(lines=cut):
                masked = self.assert_masked(
                    "\n".join([*block[:cut], "other_name: value here", "x = 1"]), [*block[:cut], ""]
                )
                self.assertTrue(masked.endswith("other_name: value here\nx = 1"))

    def test_a_block_without_its_beginning_is_masked_and_what_precedes_is_not(self) -> None:
        block = Planter(8).pem()
        for cut in range(1, len(block) - 1):
            with self.subTest(lines=cut):
                masked = self.assert_masked("\n".join(["name: value", *block[cut:]]), ["", *block[cut:]])
                self.assertTrue(masked.startswith("name: value\n"))

    def test_the_escaped_form_on_one_line_is_masked(self) -> None:
        block = Planter(9).pem("PRIVATE KEY")
        for joined in (
            "\\n".join(block),
            "\\n".join(block) + "\\n",
            "\\n".join(block[:-1]),
            "\\n".join(block[2:]),
            " ".join(block),
        ):
            with self.subTest(form=joined[:30]):
                masked = self.assert_masked('{"private_key": "' + joined + '", "id": 1}', block)
                self.assertTrue(masked.endswith('"id": 1}') or block[-1] not in joined, masked)

    def test_a_key_in_pieces_of_a_program_is_masked(self) -> None:
        block = Planter(10).pem()
        forms = (
            "key = (\n" + "\n".join(f'    "{line}\\n"' for line in block) + "\n)",
            "key = " + " +\n  ".join(f"'{line}\\n'" for line in block),
            'key = """' + "\n".join(block) + '"""',
            'key = """' + "\n".join(block[:-1]),
        )
        for text in forms:
            with self.subTest(text=text[:12]):
                self.assert_masked(text, block)

    def test_one_key_has_one_digest_however_it_is_wrapped(self) -> None:
        block = Planter(11).pem("PRIVATE KEY")
        digests = set(SECRET_PLACEHOLDER.findall(redactor().text("\n".join(block))))
        digests |= set(SECRET_PLACEHOLDER.findall(redactor().text('k = "' + "\\n".join(block) + '"')))
        self.assertEqual(len(digests), 1)

    def test_code_that_speaks_of_key_blocks_survives(self) -> None:
        begin, end = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
        for text in (
            f'if "{begin}" in text and "{end}" in text:\n    return True',
            f'BEGIN = "{begin}"\nEND = "{end}"\n',
            f'if line.startswith("{begin}"):\n    return\nfoo()',
            f"{begin}\n{end}",
            f"{begin}",
            f"{end}",
            f"{end}\n{begin}",
        ):
            with self.subTest(text=text):
                self.assertEqual(redactor().text(text), text)

    def test_a_short_line_after_a_mark_alone_on_its_line_is_masked(self) -> None:
        begin = Planter(19).pem()[0]
        for lead in ("", "+", "  "):
            self.assertNotIn("MIIshort", redactor().text(f"a\n{lead}{begin}\n{lead}MIIshort\nb c"))
        self.assertIn("return", redactor().text(f'x = "{begin}"\nreturn\n'))

    def test_the_short_last_line_of_a_cut_block_is_masked(self) -> None:
        block = Planter(17).pem()
        block[-2] = "aB3="
        masked = self.assert_masked("\n".join([*block[:-1], "x = 1"]), [*block[:-1], ""])
        self.assertTrue(masked.endswith("]\nx = 1"))
        self.assert_masked("\n".join(["x = 1", *block[2:]]), block[1:])

    def test_an_end_mark_of_a_certificate_alone_is_nothing(self) -> None:
        token = Planter(18).chars(ALNUM, 40)
        self.assertNotIn(token, redactor().text(f"-----END CERTIFICATE-----\n{token}\n-----BEGIN x", entropy=True))

    def test_certificates_and_public_keys_survive_even_with_entropy(self) -> None:
        for label in ("CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"):
            text = "\n".join(Planter(12).pem(label))
            with self.subTest(label=label):
                self.assertEqual(redactor().text(text, entropy=True), text)

    def test_an_end_too_far_away_belongs_to_another_block(self) -> None:
        block = Planter(13).pem()
        text = "\n".join([*block[:-1], *["plain words"] * 8_000, block[-1]])
        masked = self.assert_masked(text, block)
        self.assertEqual(masked.count("plain words"), 8_000)


class RandomnessTest(unittest.TestCase):
    def test_the_thresholds_are_those_of_the_policy(self) -> None:
        p = Planter(14)
        for text, masked in (
            (f'x = "{p.chars(ALNUM, 40)}"', True),
            (f'x = "{p.chars(HEX, 32)}"', True),
            (f'x = "{p.chars(HEX, 64)}"', True),
            (f'x = "{p.chars(HEX, 64).upper()}"', True),
            (f'x = "{p.chars(HEX, 31)}"', False),
            (f'x = "{"ab" * 20}"', False),
            (f'x = "{DIGITS * 4}"', False),
            (f'x = "{p.chars(ALNUM, 15)}"', False),
        ):
            with self.subTest(text=text):
                self.assertEqual("[REDACTED:" in redactor().text(text, entropy=True), masked)

    def test_base64_keys_are_masked_without_entropy(self) -> None:
        p = Planter(15)
        for size in (22, 43, 86):
            pad = "=" * (-size % 4)
            with self.subTest(size=size):
                self.assertIn("[REDACTED:", redactor().text(f'x = "{p.chars(B64, size)}{pad}"'))
        self.assertIn("[REDACTED:base64_key:", redactor().text(p.chars(URL64, 43) + "="))

    def test_ids_digests_names_paths_and_urls_survive(self) -> None:
        p = Planter(16)
        sha, blob = p.chars(HEX, 40), p.chars(B64, 86) + "=="
        uuid = "-".join(p.chars(HEX, n) for n in (8, 4, 4, 4, 12))
        for text in (
            f"commit {sha}",
            f'REV = "{sha}"',
            f"id: {uuid}",
            f'"integrity": "sha512-{blob}",',
            f'<script integrity="sha384-{p.chars(B64, 64)}" src="x.js">',
            f"    --hash=sha256:{p.chars(HEX, 64)} \\",
            f'{{file = "a.whl", hash = "sha256:{p.chars(HEX, 64)}"}},',
            f"FROM python@sha256:{p.chars(HEX, 64)}",
            f"golang.org/x/net v0.1.0 h1:{p.chars(B64, 43)}=",
            f'checksum = "{p.chars(HEX, 64)}"',
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{p.chars(B64, 43)} me@host",
            f"src: data:image/png;base64,{p.chars(B64, 120)}",
            "from package.subpackage.module_number2 import SomeVeryLongClassName3WithWords",
            "thisIsAVeryLongCamelCaseIdentifierWithNumber42InsideOfIt",
            "https://example.com/Path/To4/Some9/Article-About_Things?page=12&sort=Name&view=Full#Part7",
            f"see <https://github.com/o/r/blob/{sha}/a/b.py#L30-L51>",
            "src/components/UserProfile2/AvatarUploadModal.test.tsx",
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ):
            with self.subTest(text=text):
                self.assertEqual(redactor().text(text, entropy=True), text)
        self.assertEqual(LOWER, "abcdefghijklmnopqrstuvwxyz")
