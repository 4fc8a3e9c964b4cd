"""Secrets for the tests, put together at run time so that no scanner of this repository sees one."""

import base64
import json
import random
import string
from collections.abc import Sequence
from typing import Any

from appsecgate.model import Category, Hit, Scanner, Severity
from appsecgate.redact.redactor import Redactor
from appsecgate.workspace import Source, source_from_bytes

KEY = b"\x07" * 32
LOWER = string.ascii_lowercase
UPPER = string.ascii_uppercase
DIGITS = string.digits
ALNUM = string.ascii_letters + DIGITS
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"


class Planter:
    """A reproducible stream of secrets."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)

    def chars(self, alphabet: str, count: int) -> str:
        """``count`` characters; of mixed alphabets at least one upper, one lower, one digit."""
        text = [self.random.choice(alphabet) for _ in range(count)]
        if set(ALNUM) <= set(alphabet) and count >= 8:
            text[2], text[4], text[6] = "Q", "w", "7"
        return "".join(text)

    def jwt(self) -> str:
        head = json.dumps({"alg": "HS256", "typ": "JWT"}).encode()
        body = json.dumps({"sub": self.chars(DIGITS, 10), "name": "x"}).encode()
        parts = [base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (head, body)]
        return ".".join([*parts, self.chars(URL64, 43)])

    def pem(self, label: str = "RSA PRIVATE KEY", lines: int = 6) -> list[str]:
        body = [self.chars(B64, 64) for _ in range(lines)] + [self.chars(B64, 22) + "=="]
        return [f"-----BEGIN {label}-----", *body, f"-----END {label}-----"]

    def tokens(self) -> dict[str, str]:
        """A token of each self-describing form, by the kind that its placeholder must name."""
        c = self.chars
        return {
            "aws_access_key": "AK" + "IA" + c(UPPER + "234567", 16),
            "aws_access_key 2": "AS" + "IA" + c(UPPER + "234567", 16),
            "google_api_key": "AI" + "za" + c(URL64, 35),
            "gcp_key": "GOC" + "SPX-" + c(URL64, 28),
            "gcp_key 2": "ya" + "29." + c(URL64, 60),
            "github_token": "gh" + "p_" + c(ALNUM, 36),
            "github_token 2": "gh" + "o_" + c(ALNUM, 36),
            "github_token 3": "gh" + "s_" + c(ALNUM, 36),
            "github_token 4": "github" + "_pat_" + c(ALNUM, 22) + "_" + c(ALNUM, 59),
            "gitlab_token": "gl" + "pat-" + c(URL64, 20),
            "gitlab_token 2": "gl" + "dt-" + c(URL64, 20),
            "slack_token": "xo" + "xb-" + c(DIGITS, 12) + "-" + c(DIGITS, 12) + "-" + c(ALNUM, 24),
            "slack_token 2": "xa" + "pp-1-" + c(UPPER + DIGITS, 11) + "-" + c(DIGITS, 13) + "-" + c(HEX, 64),
            "stripe_key": "sk" + "_live_" + c(ALNUM, 24),
            "stripe_key 2": "rk" + "_test_" + c(ALNUM, 24),
            "stripe_key 3": "wh" + "sec_" + c(ALNUM, 32),
            "npm_token": "np" + "m_" + c(ALNUM, 36),
            "pypi_token": "py" + "pi-AgEIcHlwaS5vcmc" + c(URL64, 70),
            "sendgrid_key": "S" + "G." + c(URL64, 22) + "." + c(URL64, 43),
            "twilio_key": "S" + "K" + c(HEX, 32),
            "openai_key": "s" + "k-" + c(ALNUM, 48),
            "openai_key 2": "s" + "k-proj-" + c(URL64, 60),
            "anthropic_key": "s" + "k-ant-api03-" + c(URL64, 90),
            "huggingface_token": "h" + "f_" + c(ALNUM, 34),
            "digitalocean_token": "do" + "p_v1_" + c(HEX, 64),
            "telegram_token": c("123456789", 9) + ":" + "AA" + c(URL64, 33),
            "discord_token": "M" + c(ALNUM, 23) + "." + c(ALNUM, 6) + "." + c(ALNUM, 27),
            "azure_key": c(ALNUM, 3) + "8Q~" + c(ALNUM, 34),
            "azure_key 2": c(B64, 86) + "==",
            "vendor_token": "shp" + "at_" + c(HEX, 32),
            "vendor_token 2": "dap" + "i" + c(HEX, 32),
            "vendor_token 3": "dck" + "r_pat_" + c(ALNUM, 27),
            "vendor_token 4": "hv" + "s." + c(ALNUM, 90),
            "jwt": self.jwt(),
            "private_key": "MII" + "EvQ" + "IBADANBgkqhkiG9w0BAQEFAASC" + c(B64, 200),
        }

    def password(self, count: int = 14) -> str:
        return "Tr0" + self.chars(ALNUM, count - 3)


def redactor() -> Redactor:
    return Redactor(KEY)


def source(text: str, path: str = "app/config.py") -> Source:
    return source_from_bytes(path, text.encode("utf-8", "surrogateescape"))


def hit(line: int = 1, *, category: Category = Category.SECRET, **fields: Any) -> Hit:
    """A hit with everything that does not matter filled in."""
    values: dict[str, Any] = {
        "scanner": Scanner.DETECT_SECRETS if category is Category.SECRET else Scanner.SEMGREP,
        "rule_id": "Secret Keyword",
        "category": category,
        "severity": Severity.HIGH,
        "path": "app/config.py",
        "line_start": line,
        "line_end": line,
        "message": "a secret",
        "scanner_version": "1.5.0",
    }
    return Hit(**(values | fields))


def every_piece(secret: str, size: int = 8) -> Sequence[str]:
    """All parts of this size: not one of them may survive."""
    return [secret[at : at + size] for at in range(max(len(secret) - size + 1, 1))]
