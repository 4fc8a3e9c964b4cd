"""What can be set: every key with its type, default, limits, meaning, and who may set it.

A value comes from one of five origins. The command line, the environment and ``config.toml`` in the
data directory are the human's; ``update_config`` is the agent's, ``.appsecgate.toml`` the
repository's, and neither of these two is trusted with everything: see ``SettingReach``.
"""

import enum
import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath

from appsecgate.errors import ConfigError
from appsecgate.model import Category, Json, Scanner

MAX_SUPPRESSIONS = 200
"""Entries per origin."""
MAX_PACKAGES = 5_000
MAX_SETTING_CHARS = 300
"""Of one text value."""
_SUPPRESSION_FIELDS = ("rule", "path", "category", "reason", "expires")


class ConfigOrigin(enum.StrEnum):
    """Where a value comes from, strongest first."""

    COMMAND_LINE = "command line"
    ENVIRONMENT = "environment"
    HUMAN_FILE = "config.toml"
    AGENT = "update_config"
    REPOSITORY = ".appsecgate.toml"
    DEFAULT = "default"

    @property
    def trusted(self) -> bool:
        """Whether a human of this machine stands behind it."""
        return self not in (ConfigOrigin.AGENT, ConfigOrigin.REPOSITORY)


class SettingReach(enum.StrEnum):
    """Who may set a key."""

    ANYONE = "anyone"
    HUMAN = "human"


class SettingSway(enum.StrEnum):
    """What a key changes, and so which hash it enters."""

    NOTHING = "nothing"
    SHOWN = "what is shown"
    RESULTS = "what is found"


class ValueKind(enum.StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    SECONDS = "seconds"
    BOOLEAN = "boolean"
    SCANNERS = "list of scanners"
    COMMAND = "absolute path, or a list that starts with one"
    RULES = 'list of "builtin" and rule files'
    DIRECTORY = "absolute path"
    ADDRESS = "https address"
    PACKAGES = "list of package names"
    SUPPRESSIONS = "list of tables with rule, path, category, reason, expires"


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """A key. ``low`` and ``high`` bound a number; for untrusted origins ``wary_low`` and ``wary_high`` do."""

    key: str
    kind: ValueKind
    default: Json
    doc: str
    reach: SettingReach = SettingReach.ANYONE
    sway: SettingSway = SettingSway.NOTHING
    low: int = 0
    high: int = 0
    wary_low: int | None = None
    wary_high: int | None = None

    def bounds(self, origin: ConfigOrigin) -> tuple[int, int]:
        """The numbers that this origin may choose from, both ends included."""
        if origin.trusted:
            return self.low, self.high
        low = self.low if self.wary_low is None else self.wary_low
        return low, self.high if self.wary_high is None else self.wary_high


@dataclass(frozen=True, slots=True)
class ConfigSuppression:
    """A configured display filter: each given field narrows it; ``*`` also matches ``/``."""

    reason: str
    origin: ConfigOrigin
    rule: str | None = None
    path: str | None = None
    category: Category | None = None
    expires: date | None = None
    """The last day on which it holds."""

    def covers(self, rule_id: str, path: str, category: str, today: date) -> bool:
        """Whether it hides this finding on this day."""
        return (
            (self.expires is None or today <= self.expires)
            and (self.rule is None or fnmatch.fnmatchcase(rule_id, self.rule))
            and (self.path is None or fnmatch.fnmatchcase(path, self.path))
            and (self.category is None or self.category == category)
        )


def _scanner_settings(scanner: Scanner, timeout_s: int) -> tuple[SettingSpec, SettingSpec]:
    return (
        SettingSpec(
            f"scanners.{scanner}.command", ValueKind.COMMAND, None,
            f"The {scanner} on this machine to use in place of the one that setup installs.",
            reach=SettingReach.HUMAN, sway=SettingSway.RESULTS,
        ),
        SettingSpec(
            f"scanners.{scanner}.timeout_s", ValueKind.SECONDS, timeout_s,
            f"Wall clock for one run of {scanner}; what takes longer is ended and counts as not verified.",
            sway=SettingSway.RESULTS, low=1, high=3600, wary_low=10, wary_high=600,
        ),
    )  # fmt: skip


def _retention_setting(status: str, days: int, doc: str) -> SettingSpec:
    # Longer than the default is the human's alone: rows about secrets would stay longer too.
    return SettingSpec(
        f"retention.{status}_days", ValueKind.INTEGER, days, f"Days after which {doc}.",
        low=1, high=3650, wary_low=7, wary_high=days,
    )  # fmt: skip


SETTINGS: tuple[SettingSpec, ...] = (
    SettingSpec("project.alias", ValueKind.TEXT, None, "The project's name in results."),
    SettingSpec(
        "scanners.enabled", ValueKind.SCANNERS, [str(scanner) for scanner in Scanner],
        "The scanners that run. One that is left out is reported as not verified: scanner_disabled.",
        reach=SettingReach.HUMAN, sway=SettingSway.RESULTS,
    ),
    *_scanner_settings(Scanner.SEMGREP, 40),
    *_scanner_settings(Scanner.DETECT_SECRETS, 40),
    *_scanner_settings(Scanner.PIP_AUDIT, 40),
    *_scanner_settings(Scanner.CHECKOV, 40),
    SettingSpec(
        "scanners.semgrep.rules", ValueKind.RULES, ["builtin"],
        'Rule files for semgrep: "builtin" is our own pack, others are paths. The agent and the repository '
        'may add files of the project, keeping "builtin".',
        sway=SettingSway.RESULTS,
    ),
    SettingSpec(
        "suppressions", ValueKind.SUPPRESSIONS, [],
        "Display filters: findings of a rule, path or category that are counted, not listed. They never "
        "change a verification. Those of all origins add up.",
        sway=SettingSway.SHOWN,
    ),
    _retention_setting("shown", 30, "an idle unresolved finding is forgotten and counted as expired"),
    _retention_setting("fixed", 90, "a fixed finding moves to the archive"),
    _retention_setting("wont_fix", 180, "a finding that nobody will fix moves to the archive"),
    _retention_setting("false_positive", 180, "a false positive moves to the archive"),
    _retention_setting("attempts", 180, "a record of a verification is deleted"),
    _retention_setting("audit", 30, "a record of a query is deleted"),
    SettingSpec(
        "limits.max_file_bytes", ValueKind.INTEGER, 5_000_000,
        "A larger file is not scanned and named as too_large.",
        sway=SettingSway.RESULTS, low=1_000, high=200_000_000, wary_low=500_000, wary_high=20_000_000,
    ),
    SettingSpec(
        "limits.max_files", ValueKind.INTEGER, 20_000,
        "A project scan takes at most so many files and names the rest.",
        sway=SettingSway.RESULTS, low=1, high=1_000_000, wary_low=1_000, wary_high=100_000,
    ),
    SettingSpec(
        "limits.call_budget_s", ValueKind.SECONDS, 45,
        "A tool call answers after this time with what it has.",
        low=5, high=3600, wary_low=10, wary_high=45,
    ),
    SettingSpec(
        "limits.advisories_max_age_days", ValueKind.INTEGER, 30,
        "Older copies of the advisory database leave dependencies as not verified: advisories_stale.",
        sway=SettingSway.RESULTS, low=1, high=3650, wary_high=30,
    ),
    SettingSpec(
        "advisories.url", ValueKind.ADDRESS, "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip",
        "What advisories update downloads: a zip of OSV records. The server never does.",
        reach=SettingReach.HUMAN,
    ),
    SettingSpec(
        "advisories.public_packages", ValueKind.PACKAGES, [],
        "Names of packages known to be on the public index, beside the shipped list: that no advisory speaks of them "
        "is then good news. Of any other such package nobody can tell, so it is not verified: unknown_package.",
        reach=SettingReach.HUMAN, sway=SettingSway.RESULTS,
    ),
    SettingSpec(
        "limits.window_lines", ValueKind.INTEGER, 60, "Lines of code in a context pack, at most.",
        low=5, high=400,
    ),
    SettingSpec(
        "limits.workers", ValueKind.BOOLEAN, True,
        "Whether a server keeps scanners loaded between scans, which takes some 300 MB of memory and makes them quick.",
        reach=SettingReach.HUMAN,
    ),
    SettingSpec(
        "export.dir", ValueKind.DIRECTORY, None,
        "Where snapshots are written, in place of exports/ in the data directory.",
        reach=SettingReach.HUMAN,
    ),
    SettingSpec(
        "export.all_projects", ValueKind.BOOLEAN, False,
        "Whether a snapshot over MCP may hold other projects.",
        reach=SettingReach.HUMAN,
    ),
)  # fmt: skip
SETTING_BY_KEY: Mapping[str, SettingSpec] = {spec.key: spec for spec in SETTINGS}


def check_setting(spec: SettingSpec, value: object, origin: ConfigOrigin) -> Json:
    """The value in its one plain form. Raises ConfigError, with the key: bad, or not for this origin."""
    if spec.reach is SettingReach.HUMAN and not origin.trusted:
        raise ConfigError(
            f"{origin} may not set {spec.key}.",
            hint="Only the human may: by command line, environment, or config.toml in the data directory.",
        )
    match spec.kind:
        case ValueKind.INTEGER | ValueKind.SECONDS:
            return _check_setting_number(spec, value, origin)
        case ValueKind.RULES:
            return _check_rules(spec, value, origin)
        case _:
            return _CHECKS_OF_KIND[spec.kind](spec, value)


def _wrong_setting_type(spec: SettingSpec, value: object) -> ConfigError:
    return ConfigError(f"{spec.key}: expected {spec.kind}, got {type(value).__name__}.")


def _check_setting_text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{key}: expected text, got {type(value).__name__}.")
    text = value.strip()
    if not text or len(text) > MAX_SETTING_CHARS or not text.isprintable():
        raise ConfigError(f"{key}: expected 1 to {MAX_SETTING_CHARS} printable characters.")
    return text


def _check_setting_number(spec: SettingSpec, value: object, origin: ConfigOrigin) -> Json:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and not (spec.kind is ValueKind.SECONDS and isinstance(value, float)):
        raise _wrong_setting_type(spec, value)
    assert isinstance(value, int | float)
    low, high = spec.bounds(origin)
    if not low <= value <= high:
        who = "" if origin.trusted else f" from {origin}"
        # Python refuses to write out a number of thousands of digits, which a file may hold.
        shown = value if abs(value) < 10**15 else "something else"
        raise ConfigError(f"{spec.key}: expected {low} to {high}{who}, got {shown}.")
    return value


def _check_setting_boolean(spec: SettingSpec, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong_setting_type(spec, value)
    return value


def _check_scanners(spec: SettingSpec, value: object) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _wrong_setting_type(spec, value)
    for name in value:
        if name not in list(Scanner):
            raise ConfigError(f"{spec.key}: no scanner {name!r}; there are {', '.join(Scanner)}.")
    return [str(scanner) for scanner in Scanner if scanner in value]


def _check_absolute(spec: SettingSpec, value: object) -> Path:
    if not isinstance(value, str):
        raise _wrong_setting_type(spec, value)
    path = Path(value).expanduser()
    if not path.is_absolute() or "\0" in value:
        raise ConfigError(f"{spec.key}: expected an absolute path, got {value!r}.")
    return path


def _check_address(spec: SettingSpec, value: object) -> str:
    text = _check_setting_text(spec.key, value)
    if not re.fullmatch(r"https://[A-Za-z0-9.\-]+(?::[0-9]{1,5})?/[!-~]*", text):
        raise ConfigError(f"{spec.key}: expected an https:// address without a user name.")
    return text


def _check_packages(spec: SettingSpec, value: object) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _wrong_setting_type(spec, value)
    if len(value) > MAX_PACKAGES:
        raise ConfigError(f"{spec.key}: at most {MAX_PACKAGES}, got {len(value)}.")
    for name in value:
        if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?", name):
            raise ConfigError(f"{spec.key}: {name[:60]!r} is no package name.")
    names: list[Json] = [*sorted({re.sub(r"[-_.]+", "-", name).lower() for name in value})]
    return names


def _check_command(spec: SettingSpec, value: object) -> list[Json]:
    words = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(word, str) for word in words):
        raise _wrong_setting_type(spec, value)
    return [str(_check_absolute(spec, words[0])), *words[1:]]


def _check_rules(spec: SettingSpec, value: object, origin: ConfigOrigin) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise _wrong_setting_type(spec, value)
    if not value or len(value) > 50 or len(set(value)) != len(value):
        raise ConfigError(f"{spec.key}: expected 1 to 50 different entries.")
    if not origin.trusted and "builtin" not in value:
        raise ConfigError(f'{spec.key}: {origin} may add rule files, not leave out "builtin".')
    for entry in value:
        if not origin.trusted and entry != "builtin" and not stays_inside(entry):
            raise ConfigError(f"{spec.key}: {origin} may name files inside the project alone, not {entry!r}.")
    return list(value)


def stays_inside(path: str) -> bool:
    """Whether a relative ``/``-separated path cannot leave the directory it starts from, links aside."""
    pure = PurePosixPath(path)
    windows = PureWindowsPath(path)
    odd = not path or not path.isprintable() or "\\" in path or len(path) > MAX_SETTING_CHARS
    return not (odd or pure.is_absolute() or windows.drive or ".." in pure.parts or path.startswith("~"))


def _check_suppressions(spec: SettingSpec, value: object) -> list[Json]:
    if not isinstance(value, list):
        raise _wrong_setting_type(spec, value)
    if len(value) > MAX_SUPPRESSIONS:
        raise ConfigError(f"{spec.key}: at most {MAX_SUPPRESSIONS}, got {len(value)}.")
    return [_check_suppression(f"{spec.key}[{index}]", entry) for index, entry in enumerate(value)]


def _check_suppression(key: str, entry: object) -> dict[str, Json]:
    if not isinstance(entry, dict):
        raise ConfigError(f"{key}: expected a table, got {type(entry).__name__}.")
    if unknown := sorted(str(name) for name in entry if name not in _SUPPRESSION_FIELDS):
        raise ConfigError(f"{key}: unknown key {unknown[0]!r}; there are {', '.join(_SUPPRESSION_FIELDS)}.")
    if "reason" not in entry:
        raise ConfigError(f"{key}: a reason is needed.")
    if not entry.keys() & {"rule", "path", "category"}:
        raise ConfigError(f"{key}: a rule, path or category is needed.")
    checked: dict[str, Json] = {}
    for name, value in entry.items():
        if name == "expires":
            checked[name] = _check_setting_date(f"{key}.expires", value)
        else:
            checked[name] = _check_setting_text(f"{key}.{name}", value)
    if checked.get("category", Category.SAST) not in list(Category):
        raise ConfigError(f"{key}.category: expected one of {', '.join(Category)}.")
    return checked


def _check_setting_date(key: str, value: object) -> str:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            pass
    raise ConfigError(f"{key}: expected a date like 2030-01-31.")


_CHECKS_OF_KIND: Mapping[ValueKind, Callable[[SettingSpec, object], Json]] = {
    ValueKind.TEXT: lambda spec, value: _check_setting_text(spec.key, value),
    ValueKind.BOOLEAN: _check_setting_boolean,
    ValueKind.SCANNERS: _check_scanners,
    ValueKind.COMMAND: _check_command,
    ValueKind.DIRECTORY: lambda spec, value: str(_check_absolute(spec, value)),
    ValueKind.ADDRESS: _check_address,
    ValueKind.PACKAGES: _check_packages,
    ValueKind.SUPPRESSIONS: _check_suppressions,
}


def suppression_from_json(entry: Mapping[str, Json], origin: ConfigOrigin) -> ConfigSuppression:
    """A checked entry as an object."""
    text = {name: str(value) for name, value in entry.items()}
    category, expires = text.get("category"), text.get("expires")
    return ConfigSuppression(
        reason=text["reason"],
        origin=origin,
        rule=text.get("rule"),
        path=text.get("path"),
        category=Category(category) if category else None,
        expires=date.fromisoformat(expires) if expires else None,
    )
