"""Secrets that their place gives away: only the secret part goes."""

import base64
import unittest

from appsecgate.redact.kinds import SECRET_PLACEHOLDER
from tests.redact.planted import ALNUM, B64, HEX, UPPER, Planter, redactor

P = Planter(31)
PASS = P.password(12)
SHORT = "p4s"
SIG64 = P.chars(HEX, 64)
SAS = "aB3%2F" + P.chars(ALNUM, 36) + "%3D"
KEY88 = P.chars(B64, 86) + "=="
TOKEN = P.chars(ALNUM, 32)
BASIC = base64.b64encode(f"user:{PASS}".encode()).decode()
CREDENTIAL = "AK" + "IA" + P.chars(UPPER, 16) + "%2F20240101%2Feu-west-1%2Fs3%2Faws4_request"

MASKED: tuple[tuple[str, str], ...] = (
    (PASS, "https://user:{}@host/path?x=1"),
    (SHORT, "postgres://user:{}@db.example.com:5432/app"),
    (SHORT, "redis://:{}@localhost:6379/0"),
    ("p@ss/w#rd", "postgresql+psycopg://user:{}@db/app"),
    ("p@ss", "mongodb+srv://user:{}@cluster0.example.net/?retryWrites=true"),
    (TOKEN, "https://{}@github.com/org/repo.git"),
    (TOKEN, "https://{}:x-oauth-basic@github.com/org/repo.git".replace(":x-oauth-basic", "")),
    (PASS, 'url = "amqp://guest:{}@mq//"'),
    (SIG64, "https://b.s3.amazonaws.com/k?X-Amz-Date=20240101T000000Z&X-Amz-Expires=300&X-Amz-Signature={}"),
    (CREDENTIAL, "https://b.s3.amazonaws.com/k?X-Amz-Credential={}&X-Amz-Date=20240101T000000Z"),
    (TOKEN, "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={}&X-Amz-Expires=300"),
    (SIG64, "https://storage.googleapis.com/b/o?X-Goog-Algorithm=GOOG4&X-Goog-Signature={}"),
    (SAS, "https://acc.blob.core.windows.net/c/b?sv=2022-11-02&se=2024-01-01&sr=b&sp=r&sig={}"),
    (SAS, "https://acc.blob.core.windows.net/c/b?sv=2022&amp;sig={}&amp;sp=r"),
    (SAS, "BlobEndpoint=https://x/;SharedAccessSignature=sv=2022&sig={}"),
    (TOKEN, "GET /api?access_token={}&page=2 HTTP/1.1"),
    (TOKEN, "https://maps.example.com/?key={}&q=a"),
    (PASS, "https://example.com/login?user=x&password={}"),
    (SHORT, "Server=db;Database=x;User Id=sa;Password={};Encrypt=true"),
    (PASS, 'cs = "Data Source=db;Initial Catalog=x;Pwd={}"'),
    (PASS, "Server=db;Password='{}';Database=x"),
    (KEY88, "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey={};EndpointSuffix=core.windows.net"),
    (P.chars(B64, 43) + "=", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}"),
    (SHORT, "host=localhost user=me password={} dbname=app"),
    (TOKEN, "Authorization: Bearer {}"),
    (TOKEN, '"Authorization": "Bearer {}"'),
    (TOKEN, "curl -H 'authorization: token {}' https://x"),
    (TOKEN, 'headers["Authorization"] = "{}"'),
    (BASIC, "Authorization: Basic {}"),
    (BASIC, 'x = "Basic {}"'),
    (BASIC, '{{"auths": {{"registry": {{"auth": "{}"}}}}}}'),
    (BASIC, "//registry.example.com/:_auth={}"),
    (TOKEN, "the header is Bearer {}, see there"),
    (PASS, "curl -u user:{} https://x"),
    (PASS, "curl --user user:{} https://x"),
    (PASS, "machine example.com login me password {}"),
    (SIG64, "AWS4-HMAC-SHA256 SignedHeaders=host, Signature={}"),
)

UNTOUCHED: tuple[str, ...] = (
    "https://example.com/a/b?page=2&sort=name#part",
    "https://user@example.com/",
    "ssh://git@github.com/org/repo.git",
    "git@github.com:org/repo.git",
    "http://localhost:8080/x@y",
    "postgres://${USER}:${PASSWORD}@host/db",
    "postgres://user:<password>@host/db",
    "mysql://user:{password}@host/db",
    'f"postgres://{user}:{password}@{host}/db"',
    "https://example.com/?token=${TOKEN}&key=name",
    "https://example.com/?code=abc&key=size",
    "see ://",
    '"Authorization": "Bearer " + token',
    'headers["Authorization"] = f"Bearer {token}"',
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "authorization = request.headers.get('Authorization')",
    "the bearer authentication-scheme-of-the-server",
    "basic authentication is used, basic settings",
    "Basic AAAAAAAA",
    "Basic AAAAAAAAA",
    "CREATE USER x IDENTIFIED BY '${DB_PASSWORD}'",
    "https://example.com/?token=${ACCESS_TOKEN}&password={password}",
    "a signature=some_long_name_of_a_function_here b",
    "docker run -u 1000:1000 image",
    "host = h; password = get(x)",
    "username = password = None",
    "connect(host=host, password=password, user=user)",
    "Server=db;Password=${PASSWORD};",
    "signature=inspect.signature(function_of_some_module)",
    "mailto:user@example.com",
)


class PlaceTest(unittest.TestCase):
    def test_only_the_secret_part_is_masked(self) -> None:
        for secret, form in MASKED:
            with self.subTest(form=form):
                masked = redactor().text(form.format(secret))
                self.assertEqual(SECRET_PLACEHOLDER.sub(secret.replace("\\", ""), masked), form.format(secret))
                self.assertEqual(redactor().text(masked), masked)

    def test_what_holds_no_secret_survives(self) -> None:
        for text in UNTOUCHED:
            with self.subTest(text=text):
                self.assertEqual(redactor().text(text), text)

    def test_a_token_as_the_user_is_masked_beside_its_dummy_password(self) -> None:
        masked = redactor().text(f"https://{TOKEN}:x-oauth-basic@github.com/o/r.git")
        self.assertRegex(masked, r"^https://\[REDACTED:[^]]+\]:\[REDACTED:[^]]+\]@github.com/o/r.git$")
