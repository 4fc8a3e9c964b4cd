"""get_config: every effective setting with its origin."""

from dataclasses import dataclass

from appsecgate.config import Config
from appsecgate.model import Json
from appsecgate.session import Session
from appsecgate.shown import fit, shorten
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.scanned import project_ref
from appsecgate.typed import arg
from appsecgate.views import ProjectRef

PROBLEMS_CHARS = 6_000
VALUE_CHARS = 4_000
"""Room for a list, in characters of JSON."""


@dataclass(frozen=True, slots=True)
class GetConfigInput:
    pass


@dataclass(frozen=True, slots=True)
class SettingView:
    key: str = arg("Dotted key.")
    value: Json = arg("Effective value.")
    left_out: int = arg("Entries at the end of the value that are left out for size.")
    origin: str = arg("Where the value comes from.")
    settable_by: str = arg("Who may set it: anyone, or human (command line, environment, config.toml).")
    doc: str = arg("What it does.")


@dataclass(frozen=True, slots=True)
class Configuration:
    project: ProjectRef = arg("The fixed project.")
    settings: tuple[SettingView, ...] = arg("Every key.")
    problems: tuple[str, ...] = arg("What was ignored, and why (untrusted data).")
    config_hash: str = arg("What the evidence of a scan names.")


def get_config(call: Call[Session], _request: GetConfigInput) -> Configuration:
    call.session.refresh()
    return show_config(call.session, call.session.config)


def show_config(session: Session, config: Config) -> Configuration:
    redactor = session.redactor()
    settings = tuple(
        SettingView(s.key, *_shown_value(redactor.json(s.value)), str(s.origin), s.settable_by, s.doc)
        for s in config.effective()
    )
    return Configuration(
        project=project_ref(session),
        settings=settings,
        problems=fit([shorten(redactor.text(problem), 500) for problem in config.problems], PROBLEMS_CHARS),
        config_hash=config.hash,
    )


def _shown_value(value: Json) -> tuple[Json, int]:
    if not isinstance(value, list):
        return value, 0
    shown = fit(value, VALUE_CHARS)
    return list(shown), len(value) - len(shown)


GET_CONFIG = Tool(
    name="get_config",
    title="Show the configuration",
    description=(
        "Every setting with its effective value, where the value comes from and who may change it. Problems in the "
        "project's own .appsecgate.toml are listed; such entries are ignored."
    ),
    input=GetConfigInput,
    output=Configuration,
    call=get_config,
    summary="show every setting with its origin",
    read_only=True,
    idempotent=True,
)
