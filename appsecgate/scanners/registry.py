"""The list of scanners: the one place that knows them all."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from appsecgate.advisories.lookup import AdvisoryLookup
from appsecgate.config import Config
from appsecgate.errors import ConfigError, ProjectError
from appsecgate.model import Json, Scanner
from appsecgate.scanners.base import Adapter, Installation
from appsecgate.scanners.checkov import CheckovAdapter
from appsecgate.scanners.installed import locate
from appsecgate.scanners.pip_audit import PipAuditAdapter
from appsecgate.scanners.secrets import SecretsAdapter
from appsecgate.scanners.semgrep import SemgrepAdapter
from appsecgate.scanners.semgrep_rules import builtin_rules, custom_rules, make_rule_pack
from appsecgate.workspace import LeftOut, Workspace

RULE_FILE_BYTES = 2_000_000


def make_adapters(
    config: Config,
    workspace: Workspace,
    advisories: AdvisoryLookup,
    data_dir: Path,
    clock: Callable[[], datetime],
) -> tuple[Adapter, ...]:
    """Every scanner under this configuration, in the order of ``model.Scanner``."""
    timeout = {scanner: config.scanners[scanner].timeout_s for scanner in Scanner}
    semgrep = locate(Scanner.SEMGREP, config, data_dir)
    return (
        _semgrep(config, workspace, semgrep),
        SecretsAdapter(timeout_s=timeout[Scanner.DETECT_SECRETS]),
        PipAuditAdapter(
            advisories,
            clock=clock,
            timeout_s=timeout[Scanner.PIP_AUDIT],
            max_age_days=config.limits.advisories_max_age_days,
            public_names=config.public_packages,
        ),
        CheckovAdapter(timeout_s=timeout[Scanner.CHECKOV]),
    )


def rules_stamp(config: Config, workspace: Workspace, data_dir: Path) -> str:
    """Changes with the bytes of every configured rule file, and with the semgrep whose environment reads YAML."""
    named = [name for name in config.semgrep_rules if name != "builtin"]
    if not named:
        return ""
    parts = [str(locate(Scanner.SEMGREP, config, data_dir))]
    for name in named:
        try:
            parts.append(hashlib.sha256(_rule_file(name, workspace)).hexdigest())
        except (ConfigError, ProjectError) as error:
            parts.append(str(error))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _semgrep(config: Config, workspace: Workspace, tool: Installation | None) -> SemgrepAdapter:
    """A rule file that cannot be read is no reason to scan with fewer rules in silence: the adapter then says so."""
    builtin = builtin_rules() if "builtin" in config.semgrep_rules else []
    custom: list[dict[str, Json]] = []
    broken = ""
    for name in config.semgrep_rules:
        if name == "builtin":
            continue
        try:
            custom += custom_rules(name, _rule_file(name, workspace), tool)
        except (ConfigError, ProjectError) as error:
            broken = broken or str(error)
    return SemgrepAdapter(
        make_rule_pack(builtin, custom), timeout_s=config.scanners[Scanner.SEMGREP].timeout_s, broken=broken
    )


def _rule_file(name: str, workspace: Workspace) -> bytes:
    """An absolute path is a person's own, see ``settings``; any other is a file of the project."""
    if Path(name).is_absolute():
        try:
            with Path(name).open("rb") as file:
                return file.read(RULE_FILE_BYTES + 1)
        except OSError as error:
            raise ConfigError(f"The rule file {name} cannot be read: {error.strerror}.") from error
    found = workspace.read(workspace.relative(name), max_bytes=RULE_FILE_BYTES)
    if isinstance(found, LeftOut):
        raise ConfigError(f"The rule file {name} cannot be read: {found.reason}.")
    return found.data
