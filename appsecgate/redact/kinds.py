"""The kinds of secrets, and the form of a placeholder."""

import enum
import re


class SecretKind(enum.StrEnum):
    """What a placeholder says about what stood there. Only ever add: stored rows name these."""

    AWS_ACCESS_KEY = "aws_access_key"
    AWS_SECRET_KEY = "aws_secret_key"
    GCP_KEY = "gcp_key"
    GOOGLE_API_KEY = "google_api_key"
    AZURE_KEY = "azure_key"
    GITHUB_TOKEN = "github_token"
    GITLAB_TOKEN = "gitlab_token"
    SLACK_TOKEN = "slack_token"
    SLACK_WEBHOOK = "slack_webhook"
    STRIPE_KEY = "stripe_key"
    NPM_TOKEN = "npm_token"
    PYPI_TOKEN = "pypi_token"
    SENDGRID_KEY = "sendgrid_key"
    TWILIO_KEY = "twilio_key"
    OPENAI_KEY = "openai_key"
    ANTHROPIC_KEY = "anthropic_key"
    HUGGINGFACE_TOKEN = "huggingface_token"
    DIGITALOCEAN_TOKEN = "digitalocean_token"
    TELEGRAM_TOKEN = "telegram_token"
    DISCORD_TOKEN = "discord_token"
    VENDOR_TOKEN = "vendor_token"
    JWT = "jwt"
    PRIVATE_KEY = "private_key"
    URL_CREDENTIAL = "url_credential"
    URL_SIGNATURE = "url_signature"
    CONNECTION_STRING = "connection_string"
    AUTHORIZATION = "authorization"
    BASE64_KEY = "base64_key"
    PASSWORD = "password"
    SECRET = "secret"
    HIGH_ENTROPY = "high_entropy"
    HEX_KEY = "hex_key"
    CUSTOM = "custom"
    LITERAL = "literal"
    """Masked because a secret somewhere on its line could not be told apart, or because it is too short or
    too common a word to be masked everywhere: recognised again only as a whole literal beside a name."""


SECRET_PLACEHOLDER = re.compile(rf"\[REDACTED:(?:{'|'.join(SecretKind)}):([0-9a-f]{{8}})\]")
"""Only known kinds: otherwise a secret could be written as the kind of a forged placeholder."""


_KINDS = {str(kind): kind for kind in SecretKind}


def known_kind(name: str) -> SecretKind:
    """The kind of this name; ``SECRET`` for a name that this version does not know."""
    return _KINDS.get(name, SecretKind.SECRET)
