"""What a file is: its language and its kinds, by name and, for YAML and JSON, by a cheap look at the content.

Nothing that the repository configures is asked (no ``.gitattributes``, no editor mode lines): a file cannot
talk its way out of a scan. A doubt is settled towards more scanners, since a scanner that finds nothing to do
says so.
"""

import re
from dataclasses import dataclass

from appsecgate.scanners.classify_names import (
    ARCHIVE_EXTENSIONS,
    BINARY_EXTENSIONS,
    DATA_LANGUAGES,
    EXTENSION_LANGUAGE,
    FOREIGN_MANIFEST_NAMES,
    LOCK_NAMES,
    MANIFEST_NAMES,
    NAME_LANGUAGE,
    PROSE_EXTENSIONS,
    SHEBANG_LANGUAGES,
    TEXT_EXTENSIONS,
    TEXT_NAMES,
)
from appsecgate.scanners.inline_scripts import has_scripts
from appsecgate.workspace import Encoding, Source

KIND_TEXT = "text"
KIND_BINARY = "binary"
"""The bytes are no text; with other kinds beside it, the name promised text."""
KIND_SOURCE = "source"
"""A programming language, so that a scan without rules for it is not a clean one."""
KIND_MANIFEST = "manifest"
"""A Python dependency manifest or lock."""
KIND_LOCK = "lock"
"""Written by a package manager: full of integrity hashes."""
KIND_TERRAFORM = "terraform"
KIND_CLOUDFORMATION = "cloudformation"
KIND_KUBERNETES = "kubernetes"
KIND_HELM = "helm"
KIND_DOCKERFILE = "dockerfile"
KIND_GITHUB_ACTIONS = "github_actions"
KIND_GITLAB_CI = "gitlab_ci"
KIND_AZURE_PIPELINES = "azure_pipelines"
KIND_CIRCLECI = "circleci_pipelines"
KIND_BITBUCKET = "bitbucket_pipelines"
KIND_BICEP = "bicep"
KIND_ARM = "arm"
KIND_OPENAPI = "openapi"
KIND_ANSIBLE = "ansible"
KIND_SERVERLESS = "serverless"

SNIFF_MAX_CHARS = 4_000_000
"""Content beyond this is not looked at; the kinds that a name gives stand all the same."""


@dataclass(frozen=True, slots=True)
class Classification:
    """``language``: semgrep's name where semgrep has one, else our own; "" where none is known."""

    language: str
    kinds: frozenset[str]


_MANIFEST_NAME = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in|pip)|pylock\..+\.toml")
_MANIFEST_PATH = re.compile(r"(?:^|/)(?:requirements?|constraints?)/[^/]+\.(?:txt|in|pip)$")

_DOCKERFILE_NAME = re.compile(r"(?:docker|container)file(?:[-_.].*)?|.+\.(?:docker|container)file|.+\.docker")
_GITLAB_NAME = re.compile(r"(?:.*[-_.])?\.?gitlab-ci(?:[-_.].*)?\.ya?ml")
_AZURE_NAME = re.compile(r"(?:.*[-_.])?azure-?pipelines?(?:[-_.].*)?\.ya?ml")
_HELM_NAME = re.compile(r"chart\.ya?ml|(?:.*[-_.])?values(?:[-_.].*)?\.ya?ml")
_ANSIBLE_PATH = re.compile(r"(?:^|/)(?:tasks|handlers|playbooks|roles/.+)/[^/]+\.ya?ml$")


def promises_text(path: str) -> bool:
    """Whether the name says text, so that binary content under it is a gap and not a picture."""
    name = _lower_base_name(path)
    if language_by_name(path) or name in TEXT_NAMES or name.startswith(".env"):
        return True
    return _extension_of(name) in TEXT_EXTENSIONS or bool(_kinds_by_name(path, name, ""))


def promises_binary(path: str) -> bool:
    """Whether the name says a picture, an archive, a program: no text to miss where it cannot be read."""
    return _extension_of(_lower_base_name(path)) in BINARY_EXTENSIONS


def file_language(path: str, text: str = "") -> str:
    """The language by name, and where the name is silent by the first line; "" where none is known."""
    language = language_by_name(path)
    if language == "c" and path.lower().endswith(".h") and _CPP_WORDS.search(text):
        return "cpp"
    if language:
        return language
    extension = _extension_of(_lower_base_name(path))
    if extension == "pth" and _PTH_CODE.search(text):
        return "python"
    if extension == "inc" and _PHP_ANYWHERE.search(text):
        return "php"
    return "php" if _PHP_START.match(text[:2000]) else _language_by_shebang(text[:500])


def file_kinds(path: str, text: str = "") -> frozenset[str]:
    """The kinds by name, and by content where there is some. Without any, text is assumed unless the name
    denies it."""
    language, name = file_language(path, text), _lower_base_name(path)
    kinds = set(_kinds_by_name(path, name, language))
    if text or not promises_binary(path):
        kinds.add(KIND_TEXT)
    if language and language not in DATA_LANGUAGES:
        kinds.add(KIND_SOURCE)
    is_page = language == "html" or name.endswith((".svg", *_TEMPLATE_ENDINGS))
    if name.endswith((".ipynb", ".svelte", ".astro")) or (is_page and has_scripts(text)):
        kinds.add(KIND_SOURCE)
    if name in ("action.yml", "action.yaml") and _COMPOSITE.search(text):
        kinds.add(KIND_SOURCE)
    if text and (language in ("yaml", "json") or name.endswith(".template")):
        kinds |= _kinds_by_content(path, text[:SNIFF_MAX_CHARS], kinds)
    return frozenset(kinds)


def language_by_name(path: str) -> str:
    """The language that a path alone tells, or ""; letters' case does not matter."""
    name = _lower_base_name(path)
    if name in NAME_LANGUAGE:
        return NAME_LANGUAGE[name]
    extension = _extension_of(name)
    if extension in EXTENSION_LANGUAGE:
        return EXTENSION_LANGUAGE[extension]
    return "dockerfile" if _DOCKERFILE_NAME.fullmatch(name) and extension not in PROSE_EXTENSIONS else ""


def classify(source: Source) -> Classification:
    """The language and the kinds of a file; binary content keeps what the name promised, marked as
    ``binary``."""
    if source.encoding is not Encoding.BINARY:
        kinds = file_kinds(source.path, source.text)
        return Classification(file_language(source.path, source.text), kinds | {KIND_TEXT})
    if not promises_text(source.path):
        hides_text = not promises_binary(source.path) and _is_mostly_text(source.data)
        return Classification("", frozenset({KIND_BINARY, KIND_TEXT} if hides_text else {KIND_BINARY}))
    return Classification(language_by_name(source.path), file_kinds(source.path) | {KIND_TEXT, KIND_BINARY})


def is_foreign_manifest(path: str) -> bool:
    """Whether it declares dependencies that no scanner here audits."""
    name = _lower_base_name(path)
    return name in FOREIGN_MANIFEST_NAMES or name.endswith((".csproj", ".fsproj", ".vbproj"))


def is_archive(path: str) -> bool:
    """Whether the name says that other files are in it."""
    return _extension_of(_lower_base_name(path)) in ARCHIVE_EXTENSIONS


def _is_mostly_text(data: bytes) -> bool:
    """A few bytes that are no text do not make a picture of a list of passwords."""
    head = data[:_TEXT_SAMPLE_BYTES]
    return b"\n" in head and len(head.translate(None, _PLAIN_BYTES)) * _TEXT_PER_OTHER_BYTE <= len(head)


_TEXT_SAMPLE_BYTES = 65_536
_PLAIN_BYTES = bytes([9, 10, 13, *range(32, 127)])
_TEXT_PER_OTHER_BYTE = 10


def _lower_base_name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _extension_of(name: str) -> str:
    return name.rpartition(".")[2] if "." in name[1:] else ""


_TEMPLATE_ENDINGS = (
    ".j2", ".jinja", ".jinja2", ".tmpl", ".tpl", ".template", ".mustache", ".hbs", ".twig", ".liquid", ".njk",
)  # fmt: skip
_PTH_CODE = re.compile(r"(?m)^import[ \t]")
_PHP_ANYWHERE = re.compile(r"<\?(?:php\b|=|[ \t\n])")
_COMPOSITE = re.compile(r"""(?m)^[ \t]+using[ \t]*:[ \t]*["']?composite""")
_CPP_WORDS = re.compile(
    r"(?m)^[ \t]*(?:namespace\b|template\s*<|class\s+\w|using\s+\w|(?:public|private|protected)\s*:)|\bstd::"
)
_PHP_START = re.compile(r"\s*(?:#![^\n]*\n\s*)?<\?php\b")


def _language_by_shebang(head: str) -> str:
    """The interpreter of a ``#!`` line; ``env`` and its like are looked through, with options and assignments. One that
    nobody here knows is a program all the same."""
    if not head.startswith("#!"):
        return ""
    words = head[2:].split("\n", 1)[0].split()[:_SHEBANG_WORDS]
    for word in words:
        interpreter = word.rpartition("/")[2]
        if not word.startswith("-") and "=" not in word and interpreter not in _STARTERS:
            return next((name for name, pattern in SHEBANG_LANGUAGES if pattern.fullmatch(interpreter)), "script")
    return ""


_SHEBANG_WORDS = 12
_STARTERS = frozenset({"env", "nice", "nohup", "exec", "sudo", "time", "stdbuf", "setsid", "ionice", "chronic"})


def _kinds_by_name(path: str, name: str, language: str) -> set[str]:
    kinds = {kind for kind, matches in _NAME_KINDS if matches(path.lower(), name)}
    if language == "dockerfile":
        kinds.add(KIND_DOCKERFILE)
    if language == "bicep":
        kinds.add(KIND_BICEP)
    return kinds


def _is_manifest_name(path: str, name: str) -> bool:
    return name in MANIFEST_NAMES or bool(_MANIFEST_NAME.fullmatch(name) or _MANIFEST_PATH.search(path))


def _is_lock_name(_path: str, name: str) -> bool:
    return name in LOCK_NAMES or name.startswith("pylock.")


def _is_terraform_name(_path: str, name: str) -> bool:
    return name.endswith((".tf", ".tofu", ".tf.json", ".tofu.json"))


def _is_workflow_path(path: str, name: str) -> bool:
    return name.endswith((".yml", ".yaml")) and (path.startswith(".github/workflows/") or "/.github/workflows/" in path)


def _is_circleci_path(path: str, name: str) -> bool:
    return path.endswith((".circleci/config.yml", ".circleci/config.yaml")) and bool(name)


_NAME_KINDS = (
    (KIND_MANIFEST, _is_manifest_name),
    (KIND_LOCK, _is_lock_name),
    (KIND_TERRAFORM, _is_terraform_name),
    (KIND_GITHUB_ACTIONS, _is_workflow_path),
    (KIND_CIRCLECI, _is_circleci_path),
    (KIND_BITBUCKET, lambda _path, name: name.startswith("bitbucket-pipelines.y")),
    (KIND_GITLAB_CI, lambda _path, name: bool(_GITLAB_NAME.fullmatch(name))),
    (KIND_AZURE_PIPELINES, lambda _path, name: bool(_AZURE_NAME.fullmatch(name))),
    (KIND_HELM, lambda _path, name: bool(_HELM_NAME.fullmatch(name))),
    (KIND_SERVERLESS, lambda _path, name: name in ("serverless.yml", "serverless.yaml")),
)


def _yaml_key(name: str) -> re.Pattern[str]:
    """A key anywhere: at a line's start behind blanks and list dashes, or after a brace or a comma."""
    return re.compile(rf"""(?:^|[{{,])[ \t]*(?:-[ \t]+)*["']?{name}["']?[ \t]*:(?=[ \t\n"'{{\[]|$)""", re.MULTILINE)


def _document_key(name: str) -> re.Pattern[str]:
    """A key of the document itself: without indentation in YAML, quoted after a brace or a comma in JSON."""
    return re.compile(
        rf"""^["']?{name}["']?[ \t]*:(?:[ \t]|$)|[{{,][ \t\n]{{0,200}}["']{name}["'][ \t]*:""", re.MULTILINE
    )


# (kind, words of which one must occur, patterns that must all be found); the words save most files the patterns.
_CONTENT_KINDS: tuple[tuple[str, tuple[str, ...], tuple[re.Pattern[str], ...]], ...] = (
    (KIND_KUBERNETES, ("apiVersion",), (_yaml_key("apiVersion"), _yaml_key("kind"))),
    (KIND_CLOUDFORMATION, ("AWSTemplateFormatVersion",), (_yaml_key("AWSTemplateFormatVersion"),)),
    (
        KIND_CLOUDFORMATION,
        ("::",),
        (
            _yaml_key("Resources"),
            re.compile(r"""\bType["']?[ \t]*:[ \t\n]{0,200}["']?(?:AWS|Alexa|Custom)::"""),
        ),
    ),
    (
        KIND_ARM,
        ("$schema",),
        (re.compile(r"(?i)schema\.management\.azure\.com/[^\s\"]{1,80}deploymentTemplate\.json"),),
    ),
    (
        KIND_OPENAPI,
        ("openapi", "swagger"),
        (_document_key("(?:openapi|swagger)"), _yaml_key("(?:info|paths|components|definitions)")),
    ),
    (
        KIND_GITHUB_ACTIONS,
        ("jobs",),
        (_document_key("(?:on|true)"), _document_key("jobs"), _yaml_key("(?:steps|uses)")),
    ),
    (
        KIND_AZURE_PIPELINES,
        ("steps", "jobs", "stages"),
        (
            _document_key("(?:trigger|pool|pr|resources)"),
            _document_key("(?:steps|jobs|stages)"),
            _yaml_key("(?:task|script|bash|pool|vmImage|template|job|stage)"),
        ),
    ),
    (
        KIND_ANSIBLE,
        ("hosts",),
        (
            re.compile(r"(?m)^(?:-[ \t]+|[ \t]+)hosts[ \t]*:"),
            _yaml_key("(?:tasks|roles|pre_tasks|post_tasks|handlers)"),
        ),
    ),
)
_TEMPLATE_MARK = re.compile(r"\{\{-?\s*[.$\w]")
_TASK_ITEM = re.compile(r"(?m)^- name[ \t]*:")


def _kinds_by_content(path: str, text: str, named: set[str]) -> set[str]:
    kinds = {
        kind
        for kind, words, patterns in _CONTENT_KINDS
        if any(word in text for word in words) and all(pattern.search(text) for pattern in patterns)
    }
    if KIND_KUBERNETES in kinds and _TEMPLATE_MARK.search(text):
        kinds.add(KIND_HELM)
    if named & {KIND_GITHUB_ACTIONS, KIND_GITLAB_CI, KIND_LOCK}:
        kinds.discard(KIND_AZURE_PIPELINES)
    if _ANSIBLE_PATH.search(path.lower()) and _TASK_ITEM.search(text):
        kinds.add(KIND_ANSIBLE)
    return kinds
