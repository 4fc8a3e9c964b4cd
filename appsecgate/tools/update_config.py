"""update_config: change the settings that an agent may change."""

from dataclasses import dataclass

from appsecgate.config import validate_patch
from appsecgate.model import Json
from appsecgate.session import Session
from appsecgate.tools.base import Call, Tool
from appsecgate.tools.get_config import Configuration, show_config
from appsecgate.typed import arg


@dataclass(frozen=True, slots=True)
class UpdateConfigInput:
    patch: dict[str, Json] = arg(
        "Dotted keys or nested objects; null takes a key back to its default.", example={"limits.max_files": 5000}
    )


def update_config(call: Call[Session], request: UpdateConfigInput) -> Configuration:
    """Raises ConfigError, which names the key; nothing is changed then. Every change is logged."""
    session = call.session
    redactor = session.redactor()
    session.refresh()  # a person's mistake elsewhere is told before anything is changed
    with session.store.write() as writer:
        stored = writer.config_values(session.project_id)
        values = validate_patch(request.patch, stored)
        changes = {**dict.fromkeys(stored), **values}  # what is no longer there is taken back
        writer.set_config(
            session.project_id, changes, by=session.session_id, at=session.now(), redact=redactor.json
        )
    session.refresh()
    with session.store.write() as writer:
        session.enter_project(writer)
        writer.apply_suppressions(session.project_id, session.config.suppressions, session.now())
    return show_config(session, session.config)


UPDATE_CONFIG = Tool(
    name="update_config",
    title="Change the configuration",
    description=(
        "Change settings of this project: alias, suppressions (each with a reason), thresholds, limits, extra rule "
        "files inside the project. Executables, switching a scanner off, rule files elsewhere and export directories "
        "are a person's alone and refused. An unknown key or a bad type is an error that names the key. get_config "
        "lists all keys."
    ),
    input=UpdateConfigInput,
    output=Configuration,
    call=update_config,
    summary="change settings of this project",
    read_only=False,
)
