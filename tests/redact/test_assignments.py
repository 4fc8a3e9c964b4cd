"""Values of secret names in every dialect, and what is no secret although its key says so."""

import unittest

from appsecgate.redact.assignments import Dialect, dialect_of, find_assignments, is_secret_value
from appsecgate.redact.names import KeyStrength, key_strength
from tests.redact.planted import Planter, redactor, source

PASSWORD = Planter(21).password()

DIALECTS: tuple[tuple[str, str], ...] = (
    ("app.py", 'password = "{}"'),
    ("app.py", "PASSWORD = '{}'  # change"),
    ("app.py", 'password: str = "{}"'),
    ("app.py", 'self.db_password = r"{}"'),
    ("app.py", 'connect(host="h", password="{}")'),
    ("app.py", 'def f(user, password="{}"): ...'),
    ("app.py", 'config["password"] = "{}"'),
    ("app.py", 'd = {{"api_key": "{}", "x": 1}}'),
    ("app.py", "d = dict(client_secret='{}')"),
    ("app.py", 'if password == "{}":'),
    ("app.py", 'SECRET_KEY = os.environ.get("SECRET_KEY", "{}")'),
    ("app.py", 'password = """{}"""'),
    ("app.py", 'token = ["{}"]'),
    ("app.py", "# don't use password='{}'"),
    ("app.py", 'password = SecretStr("{}")'),
    ("app.py", 'password = (\n    "{}"\n)'),
    ("app.js", 'const password = "{}";'),
    ("app.js", "let apiKey = '{}'"),
    ("app.js", "const t = {{ accessToken: `{}` }}"),
    ("app.ts", 'private readonly clientSecret: string = "{}";'),
    ("app.ts", "setPassword('{}')"),
    ("A.java", 'String password = "{}";'),
    ("a.go", 'password := "{}"'),
    ("a.rb", "password: '{}', user: 'x'"),
    ("a.rb", ":password => '{}'"),
    ("a.php", "$password = '{}';"),
    ("a.php", "define('DB_PASSWORD', '{}');"),
    ("a.php", "'password' => '{}',"),
    ("a.cs", 'var password = @"{}";'),
    ("a.c", '#define X 1\nchar *password = "{}";'),
    ("c.json", '{{"password": "{}"}}'),
    ("c.json", '{{"name": "DB_PASSWORD", "value": "{}"}}'),
    ("c.json", '"json": "{{\\"password\\": \\"{}\\"}}"'),
    ("c.yaml", "password: {}"),
    ("c.yaml", "  db_password: '{}'  # x"),
    ("c.yaml", '- password: "{}"'),
    ("c.yaml", "- name: DB_PASSWORD\n  value: {}"),
    ("c.yaml", "- name: DB_PASSWORD\n  value: '{}'"),
    ("c.yaml", "password: |\n  {}\nother: 1"),
    ("c.yaml", "environment:\n  - API_TOKEN={}"),
    ("c.toml", 'password = "{}"'),
    ("c.ini", "password = {}"),
    ("c.ini", "[db]\npassword={}"),
    ("c.properties", "spring.datasource.password={}"),
    ("c.properties", "db.password : {}"),
    (".env", "DB_PASSWORD={}"),
    (".env", 'export API_TOKEN="{}"'),
    ("run.sh", "export PASSWORD={}"),
    ("run.sh", "PASSWORD='{}' ./run"),
    ("run.sh", "tool --password {} --x"),
    ("run.sh", "tool --token={} --x"),
    ("run.sh", 'echo "${{PASSWORD:-{}}}"'),
    ("main.tf", 'password = "{}"'),
    ("main.tf", 'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}'),
    ("main.tf", 'db_password   =    "{}"'),
    ("Dockerfile", "ENV DB_PASSWORD={}"),
    ("Dockerfile", "ENV DB_PASSWORD {}"),
    ("Dockerfile", "ARG NPM_TOKEN={}"),
    ("settings.xml", "<password>{}</password>"),
    ("app.config", '<add key="ApiKey" value="{}" />'),
    ("Makefile", "API_TOKEN ?= {}"),
    ("x.bat", "set DB_PASSWORD={}"),
    (".npmrc", "//registry.npmjs.org/:_authToken={}"),
    ("notes.md", "the password is: `x`; password: {}"),
    ("q.sql", "CREATE USER x IDENTIFIED BY '{}'"),
    ("q.sql", "ALTER ROLE x WITH PASSWORD '{}'"),
    (".netrc", "machine h login me password {}"),
    ("x.diff", '+    password = "{}"'),
    ("x.diff", "-DB_PASSWORD={}"),
)

NO_SECRETS: tuple[tuple[str, str], ...] = (
    ("app.py", "password = user_password_2"),
    ("app.py", "password = self.config.password"),
    ("app.py", "password = get_password(user, 'reason')"),
    ("app.py", 'password = os.environ["DB_PASSWORD"]'),
    ("app.py", 'token = os.getenv("API_TOKEN")'),
    ("app.py", 'token = config.get("api_token", None)'),
    ("app.py", "password: SecretStr"),
    ("app.py", "def f(password: Optional[str] = None, token: str | None = None): ..."),
    ("app.py", "password = None"),
    ("app.py", 'password = ""'),
    ("app.py", 'password = "<your-password>"'),
    ("app.py", 'password = "${DB_PASSWORD}"'),
    ("app.py", 'password = "{{ vault.password }}"'),
    ("app.py", 'password = "%(password)s"'),
    ("app.py", 'password = "your-password-here"'),
    ("app.py", 'password = "***********"'),
    ("app.py", 'password = "xxxxxxxxxxx"'),
    ("app.py", 'token = f"{user}:{value}"'),
    ("app.py", 'password_field = "password_input"'),
    ("app.py", 'label = {"password": "Enter your password:"}'),
    ("app.py", 'TOKEN_URL = "https://example.com/oauth/token"'),
    ("app.py", 'token_type = "authorization_code"'),
    ("app.py", "max_tokens = 1234567890"),
    ("app.py", 'key = "user_profile_settings"'),
    ("app.py", 'AUTH_PASSWORD_VALIDATORS = ["django.contrib.auth.password_validation.MinimumLength"]'),
    ("app.py", "tokens = tokenizer.tokenize(text)"),
    ("app.py", 'fields = ("username", "password", "first_name")'),
    ("app.py", "sorted(items, key=lambda item: item.password)"),
    ("app.py", "primary_key = True"),
    ("app.py", 'url = "token=" + token_of_user + "&x=1234"'),
    ("app.py", "header = b'secret:' + username"),
    ("app.py", "print('password:', user_input1)"),
    ("app.py", "r = '<user password=(redacted)>'"),
    ("app.py", 'public_key = "ssh_public_name"'),
    ("app.py", "for token in tokens: pass"),
    ("app.py", 'raise ValueError("token: expected a name")'),
    ("app.py", 'secret_path = "/run/secrets/database"'),
    ("app.py", "x = password if password else default_password"),
    ("app.ts", "function login(password: string, token?: string): void {"),
    ("app.ts", "interface X { password: string; apiKey: string }"),
    ("app.js", "const {password, token} = req.body;"),
    ("app.js", "password = req.body.password;"),
    ("a.go", "token := newToken(ctx)"),
    ("main.tf", "password = var.db_password"),
    ("main.tf", "password = random_password.db.result"),
    ("main.tf", 'secret_arn = "arn:aws:secretsmanager:eu-west-1:1:secret:x"'),
    ("c.yaml", "password: ${DB_PASSWORD}"),
    ("c.yaml", "password: !vault |"),
    ("c.yaml", "token: ${{ secrets.GITHUB_TOKEN }}"),
    ("c.yaml", "password:\n  secretKeyRef:\n    name: db"),
    ("c.yaml", "existingSecret: release-postgres"),
    ("c.yaml", "password: null"),
    ("c.yaml", "password: |\nother: value"),
    ("c.yaml", "password: *default_password"),
    ("run.sh", 'PASSWORD="$1"'),
    ("run.sh", "PASSWORD=$(cat /run/secrets/db)"),
    ("run.sh", "PASSWORD=${OTHER}"),
    ("Dockerfile", "ARG NPM_TOKEN"),
    ("notes.md", "The token is the name of a token in the token list."),
    ("notes.md", "    token: the token to be used for the request"),
    ("notes.md", "password: string"),
    ("notes.md", "Password: see the manual."),
    ("x.html", '<label for="password">Password</label>'),
    ("x.html", '<input type="password" name="password">'),
    ("a.md", "secretary: someone important"),
)


class DialectTest(unittest.TestCase):
    def test_a_password_is_masked_in_every_dialect_and_the_rest_stays(self) -> None:
        for path, form in DIALECTS:
            with self.subTest(path=path, form=form):
                text = form.format(PASSWORD)
                for masked in ("\n".join(redactor().mask_source(source(text, path), ()).lines), redactor().text(text)):
                    self.assertNotIn(PASSWORD, masked)
                    before, after = form.format("\0").split("\0")
                    self.assertTrue(masked.startswith(before), masked)
                    self.assertTrue(masked.endswith(after), masked)
                    self.assertEqual(redactor().text(masked), masked)

    def test_what_is_evidently_no_secret_survives(self) -> None:
        for path, text in NO_SECRETS:
            with self.subTest(path=path, text=text):
                self.assertEqual("\n".join(redactor().mask_source(source(text, path), ()).lines), text)
                self.assertEqual(redactor().text(text), text)

    def test_words_are_passwords_where_the_file_is_configuration(self) -> None:
        cases = (
            ("c.ini", "password = correcthorse", True),
            ("c.yaml", "password: correct horse battery", True),
            (".env", "PASSWORD=correcthorse", True),
            ("app.py", "password = correcthorse", False),
            ("app.py", "password = correct_horse2", False),
            ("x", "PASSWORD=correcthorse", True),
            ("x", "password: correcthorse", True),
            ("x", "password = correcthorse", False),
            ("x", "password = hunter2hunter2", True),
            ("x", "f(password=correcthorse)", False),
            ("x", "password: Tr0ub4dor and 3", True),
            ("x", "PASSWORD=12345678", True),
            ("x", "f(TOKEN=12345678)", False),
            ("x", "password = p@ss!word", True),
            ("c.ini", "password = short", False),
            ("c.yaml", "password: secret(abc", True),
        )
        for path, text, masked in cases:
            with self.subTest(path=path, text=text):
                lines = redactor().mask_source(source(text, path), ()).lines
                self.assertEqual("[REDACTED:" in lines[0], masked, lines)

    def test_every_part_of_a_joined_literal_is_masked(self) -> None:
        for text in (
            'password = "hunter2" + "hunter3"',
            'password = "hunter2" "hunter3"',
            "password = 'hunter2' \\\n  'hunter3'",
        ):
            with self.subTest(text=text):
                masked = redactor().text(text)
                self.assertNotIn("hunter", masked)

    def test_short_values_of_passwords_count_from_six_and_others_from_eight(self) -> None:
        for name, value, masked in (
            ("password", "a1b2c3", True),
            ("password", "a1b2c", False),
            ("token", "a1b2c3d4", True),
            ("token", "a1b2c3d", False),
            ("key", "a1b2c3d4", False),
            ("key", "a1B2c3D4e5F6", True),
            ("color", "a1B2c3D4e5F6", False),
        ):
            with self.subTest(name=name, value=value):
                self.assertEqual(is_secret_value(name, value), masked)
        self.assertTrue(is_secret_value("key", "a1b2c3d4", strict=True))

    def test_names_are_judged_by_their_words(self) -> None:
        cases = {
            KeyStrength.PASSWORD: "password PASSWORD dbPassword DB_PASS userPass passwd pwd MYSQL_ROOT_PASSWORD password2 passphrase",
            KeyStrength.STRONG: "secret apiKey api-key api_key APIKey client_secret AWS_SECRET_ACCESS_KEY accessToken authtoken "
            "private_key credentials connection_string SECRET_KEY_BASE secrets tokenValue",
            KeyStrength.WEAK: "key token_url max_tokens has_password passwordField secretName next_token salt sort_key tokens",
            KeyStrength.NONE: "tokenizer keyboard secretary monkey public_key bypass author compassion name",
        }
        for strength, names in cases.items():
            for name in names.split():
                with self.subTest(name=name):
                    self.assertEqual(key_strength(name), strength)

    def test_the_dialect_goes_by_the_file_name(self) -> None:
        for path, dialect in (
            ("a/b.py", Dialect.CODE),
            ("a/B.PY", Dialect.CODE),
            ("x.yml", Dialect.CONFIG),
            ("Dockerfile.dev", Dialect.CONFIG),
            (".env.local", Dialect.CONFIG),
            ("README", Dialect.UNKNOWN),
        ):
            with self.subTest(path=path):
                self.assertEqual(dialect_of(path), dialect)

    def test_a_template_literal_with_fields_is_judged_by_the_rest(self) -> None:
        kept = 'token = f"{prefix}-{number:04d}-and-more"'
        self.assertEqual(redactor().text(kept), kept)
        self.assertNotIn("a8B7", redactor().text('token = f"a8B7c6D5e4F3g2H1{x}"'))

    def test_overlong_values_are_masked_whole(self) -> None:
        for text in ('password = "' + "ab1 " * 400 + '"', "PASSWORD=" + "a1" * 900, "password = '" + "abcdefgh" * 100):
            with self.subTest(text=text[:20]):
                self.assertLess(len(redactor().text(text)), 80)

    def test_an_escaped_quote_does_not_end_a_literal(self) -> None:
        masked = redactor().text(r"""password = "abc\"defgh\\", x""")
        self.assertRegex(masked, r'^password = "\[REDACTED:password:\w+\]", x$')

    def test_a_block_of_yaml_is_masked_line_by_line(self) -> None:
        lines = [f"  aB3line{number:04d}" for number in range(60)]
        text = "\n".join(["password: |", *lines, "  x", "other: 1"])
        masked = redactor().text(text)
        self.assertEqual(masked.count("[REDACTED:"), 50)
        self.assertEqual(redactor().text("password: >-\n  abc\n  S3cretPass\nx: y").count("[REDACTED:"), 1)

    def test_strict_takes_names_that_say_little(self) -> None:
        spans = list(find_assignments('key = "somevalue"', strict=True))
        self.assertEqual([(span.start, span.end) for span in spans], [(7, 16)])
