"""The configuration of a session: five origins laid over one another, each value with where it is from.

Strongest first: command line, environment, ``config.toml`` in the data directory, ``update_config``,
``.appsecgate.toml`` in the project, defaults. A mistake of the human's is an error; what the
repository gets wrong is reported and ignored, since nobody may stop a server by committing a file.
"""

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from appsecgate.decoding_toml import UnreasonableTomlError, parse_toml
from appsecgate.errors import ConfigError, ProjectError
from appsecgate.model import Json, Scanner
from appsecgate.settings import (
    SETTING_BY_KEY,
    SETTINGS,
    ConfigOrigin,
    ConfigSuppression,
    SettingSpec,
    SettingSway,
    ValueKind,
    check_setting,
    suppression_from_json,
)

HUMAN_FILE_NAME = "config.toml"
MAX_CONFIG_BYTES = 256_000
MAX_CONFIG_DEPTH = 8
MAX_PROBLEMS = 20
ENV_PREFIX = "APPSECGATE_"
ENV_OTHER = ("APPSECGATE_PROJECT", "APPSECGATE_PROJECT_KEY", "APPSECGATE_DATA_DIR")
"""Variables of ours that are no settings; those that start with APPSECGATE_TEST_ are the tests'."""


@dataclass(frozen=True, slots=True)
class ScannerConfig:
    """One scanner's settings."""

    enabled: bool
    command: tuple[str, ...] | None
    """The human's own installation: an absolute executable, perhaps with leading arguments."""
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """``limits.*``."""

    max_file_bytes: int
    max_files: int
    call_budget_s: float
    advisories_max_age_days: int
    window_lines: int
    workers: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """An effective value as ``get_config`` shows it."""

    key: str
    value: Json
    origin: ConfigOrigin
    doc: str
    settable_by: str
    """``anyone`` or ``human``."""


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration. ``problems`` names what was ignored, and may quote the repository."""

    alias: str | None
    scanners: Mapping[Scanner, ScannerConfig]
    semgrep_rules: tuple[str, ...]
    """``builtin``, and paths: absolute ones, or relative to the project."""
    suppressions: tuple[ConfigSuppression, ...]
    retention: Mapping[str, int]
    """``shown``, ``fixed``, ``wont_fix``, ``false_positive``, ``attempts``, ``audit`` → days."""
    limits: Bounds
    advisories_url: str
    public_packages: tuple[str, ...]
    """Normalised names that a person vouches for as public."""
    export_dir: Path | None
    export_all_projects: bool
    problems: tuple[str, ...]
    settings: tuple[Setting, ...]
    hash: str
    """16 hex digits over everything that sways what is found or shown."""
    results_hash: str
    """The same over what sways what is found: part of a cache key."""

    def effective(self) -> list[Setting]:
        """Every key with its value and origin, in the order of the documentation."""
        return list(self.settings)


def load_config(
    *,
    cli: Mapping[str, Json],
    environ: Mapping[str, str],
    data_dir: Path,
    project_file: bytes | None,
    stored: Mapping[str, Json],
    project_file_problem: str = "",
) -> Config:
    """Lay the origins over one another.

    ``cli`` and ``stored`` have dotted keys. ``project_file_problem`` says why the project's file could not
    be read although it is there. Raises ConfigError for a mistake in one of the human's origins.
    """
    problems: list[str] = []
    if project_file_problem:
        problems.append(f"{ConfigOrigin.REPOSITORY}: ignored: {project_file_problem}")
    line, variables, file = (ConfigOrigin.COMMAND_LINE, ConfigOrigin.ENVIRONMENT, ConfigOrigin.HUMAN_FILE)
    agent, repository = (ConfigOrigin.AGENT, ConfigOrigin.REPOSITORY)
    layers = {
        line: _checked_layer(_flat_keys(cli), line),
        variables: _checked_layer(_environment_values(environ), variables),
        file: _checked_layer(_human_values(data_dir), file),
        agent: _checked_layer(_flat_keys(stored), agent, problems),
        repository: _checked_layer(_project_values(project_file, problems), repository, problems),
        ConfigOrigin.DEFAULT: {spec.key: spec.default for spec in SETTINGS},
    }
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"and {len(problems) - MAX_PROBLEMS} more"]
    return _assemble_config(layers, tuple(problems))


def validate_patch(patch: Mapping[str, Json], stored: Mapping[str, Json]) -> dict[str, Json]:
    """What ``update_config`` stores after this patch: dotted keys → values.

    Keys may be dotted or nested; ``null`` takes a key, or all keys below a name, back. Raises ConfigError,
    naming the key, and then nothing is to be changed.
    """
    values = dict(stored)
    flat = _flat_keys(patch)
    if not flat:
        raise ConfigError("The patch is empty.", hint='For example {"limits.max_files": 5000}.')
    for key, value in flat.items():
        if value is not None:
            values[key] = check_setting(_known_setting(key), value, ConfigOrigin.AGENT)
            continue
        below = [spec.key for spec in SETTINGS if spec.key == key or spec.key.startswith(f"{key}.")]
        if not below and key not in values:
            _known_setting(key)
        for name in [*below, key]:
            values.pop(name, None)
    return values


def data_directory(given: str | None, environ: Mapping[str, str], platform: str) -> Path:
    """Where the database and the scanners live. ``platform`` as in ``sys.platform``; nothing is created."""
    if named := given or environ.get("APPSECGATE_DATA_DIR"):
        return Path(named).expanduser().absolute()
    if platform == "win32":
        base = environ.get("LOCALAPPDATA")
        return Path(base) / "appsecgate" if base else _home_directory(environ) / "AppData/Local/appsecgate"
    if platform == "darwin":
        return _home_directory(environ) / "Library/Application Support/appsecgate"
    base = environ.get("XDG_DATA_HOME", "")
    # The base directory standard asks that a relative path there be ignored.
    share = Path(base) if Path(base).is_absolute() else _home_directory(environ) / ".local/share"
    return share / "appsecgate"


def _home_directory(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME") or environ.get("USERPROFILE")
    try:
        return Path(home) if home else Path.home()
    except RuntimeError:
        raise ConfigError(
            "There is no home directory to keep data in.",
            hint="Name a directory with --data-dir DIR or APPSECGATE_DATA_DIR.",
        ) from None


def project_directory(given: str | None, environ: Mapping[str, str], roots: Sequence[str], cwd: str) -> Path:
    """What was given, else APPSECGATE_PROJECT, the client's first root, CLAUDE_PROJECT_DIR, ``cwd``.

    ``roots`` are ``file:`` URIs or paths; other kinds are passed over. What is chosen need not exist.
    """
    if named := given or environ.get("APPSECGATE_PROJECT"):
        return Path(cwd, Path(named).expanduser())
    for root in roots:
        if path := _root_path(root):
            return Path(path)
    return Path(environ.get("CLAUDE_PROJECT_DIR") or cwd)


def _root_path(root: str) -> str | None:
    parts = urlsplit(root)
    if parts.scheme != "file":
        return None if "://" in root else root
    if parts.netloc not in ("", "localhost"):
        raise ProjectError(f"The client's root is on another machine: {parts.netloc}.")
    path = unquote(parts.path, errors="surrogateescape")
    drive = len(path) > 2 and path[0] == "/" and path[2] == ":"
    return path[1:] if drive else path


def _known_setting(key: str) -> SettingSpec:
    if spec := SETTING_BY_KEY.get(key):
        return spec
    near = difflib.get_close_matches(key[:100], SETTING_BY_KEY, n=1)
    raise ConfigError(f"Unknown key {key[:100]!r}." + (f" Did you mean {near[0]}?" if near else ""))


def _flat_keys(values: Mapping[str, Json]) -> dict[str, Json]:
    """Nested or dotted keys → dotted ones. Raises ConfigError for a key set twice or nested too deep."""
    flat: dict[str, Json] = {}
    for key, value in _key_leaves(values, "", 0):
        if key in flat:
            raise ConfigError(f"{key[:100]} is set twice.")
        flat[key] = value
    return flat


def _key_leaves(values: Mapping[str, Json], prefix: str, depth: int) -> Iterator[tuple[str, Json]]:
    if depth > MAX_CONFIG_DEPTH:
        raise ConfigError(f"{prefix[:100]} nests too deep.")
    for name, value in values.items():
        if isinstance(value, dict) and (value or _is_setting_group(f"{prefix}{name}.")):
            yield from _key_leaves(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value


def _is_setting_group(prefix: str) -> bool:
    return any(key.startswith(prefix) for key in SETTING_BY_KEY)


def _checked_layer(
    flat: Mapping[str, Json], origin: ConfigOrigin, problems: list[str] | None = None
) -> dict[str, Json]:
    """The good values. With a list of ``problems`` the bad ones go there, without one they are an error."""
    good: dict[str, Json] = {}
    for key, value in flat.items():
        try:
            good[key] = check_setting(_known_setting(key), value, origin)
        except ConfigError as error:
            if problems is None:
                raise ConfigError(f"{origin}: {error}", hint=error.hint) from error
            problems.append(f"{origin}: ignored: {str(error)[:300]}")
    return good


def _environment_values(environ: Mapping[str, str]) -> dict[str, Json]:
    names = {ENV_PREFIX + spec.key.upper().replace(".", "_").replace("-", "_"): spec for spec in SETTINGS}
    values: dict[str, Json] = {}
    for name in sorted(environ):
        if not name.startswith(ENV_PREFIX) or name in ENV_OTHER or name.startswith("APPSECGATE_TEST_"):
            continue
        if name not in names or names[name].kind is ValueKind.SUPPRESSIONS:
            raise ConfigError(f"{ConfigOrigin.ENVIRONMENT}: {name} is no setting.")
        values[names[name].key] = _parse_variable(names[name], environ[name])
    return values


def _parse_variable(spec: SettingSpec, text: str) -> Json:
    """A variable's text as the type of its key; text that does not fit stays text, and is then refused."""
    match spec.kind:
        case ValueKind.INTEGER | ValueKind.SECONDS:
            try:
                return int(text) if text.strip().lstrip("-").isdecimal() else float(text)
            except ValueError:
                return text
        case ValueKind.BOOLEAN:
            return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text)
        case ValueKind.SCANNERS | ValueKind.RULES | ValueKind.PACKAGES:
            return [part.strip() for part in text.split(",") if part.strip()]
        case _:
            return text


def _human_values(data_dir: Path) -> dict[str, Json]:
    path = data_dir / HUMAN_FILE_NAME
    try:
        with path.open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error
    try:
        return _parse_config(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}", hint="Mend the file, or move it aside.") from error


def _project_values(content: bytes | None, problems: list[str]) -> dict[str, Json]:
    try:
        return {} if content is None else _parse_config(content)
    except ConfigError as error:
        problems.append(f"{ConfigOrigin.REPOSITORY}: ignored: {error}")
        return {}


def _parse_config(content: bytes) -> dict[str, Json]:
    """Dotted keys → values. Raises ConfigError whatever the bytes are."""
    if len(content) > MAX_CONFIG_BYTES:
        raise ConfigError(f"over {MAX_CONFIG_BYTES} bytes.")
    try:
        return _flat_keys(parse_toml(content.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}.") from error
    except RecursionError:
        raise ConfigError("nests too deep.") from None
    except UnreasonableTomlError as error:
        raise ConfigError(f"not read: {error}.") from None
    except ValueError as error:
        # Not only TOMLDecodeError: a number of thousands of digits is refused by int() itself.
        raise ConfigError(f"not TOML: {str(error)[:200]}.") from error


def _assemble_config(layers: Mapping[ConfigOrigin, Mapping[str, Json]], problems: tuple[str, ...]) -> Config:
    settings = tuple(_effective_setting(spec, layers) for spec in SETTINGS)
    value = {setting.key: setting.value for setting in settings}
    directory = value["export.dir"]
    alias = value["project.alias"]
    return Config(
        alias=None if alias is None else str(alias),
        scanners={scanner: _scanner_config(scanner, value) for scanner in Scanner},
        semgrep_rules=_config_texts(value["scanners.semgrep.rules"]),
        suppressions=tuple(_all_suppressions(layers)),
        retention={
            spec.key.removeprefix("retention.").removesuffix("_days"): _config_int(value[spec.key])
            for spec in SETTINGS
            if spec.key.startswith("retention.")
        },
        limits=Bounds(
            max_file_bytes=_config_int(value["limits.max_file_bytes"]),
            max_files=_config_int(value["limits.max_files"]),
            call_budget_s=_config_number(value["limits.call_budget_s"]),
            advisories_max_age_days=_config_int(value["limits.advisories_max_age_days"]),
            window_lines=_config_int(value["limits.window_lines"]),
            workers=value["limits.workers"] is True,
        ),
        advisories_url=str(value["advisories.url"]),
        public_packages=_config_texts(value["advisories.public_packages"]),
        export_dir=None if directory is None else Path(str(directory)),
        export_all_projects=value["export.all_projects"] is True,
        problems=problems,
        settings=settings,
        hash=_config_hash(value, SettingSway.RESULTS, SettingSway.SHOWN),
        results_hash=_config_hash(value, SettingSway.RESULTS),
    )


def _effective_setting(spec: SettingSpec, layers: Mapping[ConfigOrigin, Mapping[str, Json]]) -> Setting:
    origin = next(origin for origin in ConfigOrigin if spec.key in layers[origin])
    value = layers[origin][spec.key]
    if spec.kind is ValueKind.SUPPRESSIONS:
        value = [entry for each in ConfigOrigin for entry in _suppression_entries(layers[each].get(spec.key))]
    return Setting(spec.key, value, origin, spec.doc, str(spec.reach))


def _suppression_entries(value: Json) -> list[dict[str, Json]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _all_suppressions(layers: Mapping[ConfigOrigin, Mapping[str, Json]]) -> Iterator[ConfigSuppression]:
    for origin in ConfigOrigin:
        for entry in _suppression_entries(layers[origin].get("suppressions")):
            yield suppression_from_json(entry, origin)


def _scanner_config(scanner: Scanner, value: Mapping[str, Json]) -> ScannerConfig:
    command = value[f"scanners.{scanner}.command"]
    return ScannerConfig(
        enabled=str(scanner) in _config_texts(value["scanners.enabled"]),
        command=None if command is None else _config_texts(command),
        timeout_s=_config_number(value[f"scanners.{scanner}.timeout_s"]),
    )


def _config_hash(value: Mapping[str, Json], *sways: SettingSway) -> str:
    chosen = {spec.key: value[spec.key] for spec in SETTINGS if spec.sway in sways}
    text = json.dumps(chosen, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _config_texts(value: Json) -> tuple[str, ...]:
    assert isinstance(value, list)
    return tuple(str(entry) for entry in value)


def _config_number(value: Json) -> float:
    assert isinstance(value, int | float)
    return float(value)


def _config_int(value: Json) -> int:
    assert isinstance(value, int)
    return value
