"""What a tool is: one frozen dataclass in, one out, one function.

Server, command line and docs are loops over one tuple of these.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from appsecgate.model import Json
from appsecgate.process import CancelToken
from appsecgate.shown import result_text, shown_json, shown_text
from appsecgate.typed import TypedRecord, dump, load
from appsecgate.typed_schema import input_schema, output_schema

CALL_SECONDS: Final = 45.0
"""A call answers within this time; clients give up after 60."""
MAX_DESCRIPTION_CHARS: Final = 1024
_TOOL_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,29}")

SessionT = TypeVar("SessionT")
InputT = TypeVar("InputT", bound=TypedRecord)
OutputT = TypeVar("OutputT", bound=TypedRecord)


def no_progress(_done: float, _total: float | None, _message: str) -> None:
    """The progress of a call whose caller did not ask for it."""


@dataclass(frozen=True, slots=True)
class Call(Generic[SessionT]):
    """What a running call has besides its arguments."""

    session: SessionT
    cancel: CancelToken
    deadline: float
    """``time.monotonic()`` seconds at which the call must have answered, with what it has."""
    progress: Callable[[float, float | None, str], None] = no_progress
    """(done, total or None, message). May be called from any thread, as often as one likes."""

    def remaining_s(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool as a client sees it."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Json]
    output_schema: dict[str, Json] | None
    annotations: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result as a client gets it: content blocks, and the same data as JSON."""

    content: tuple[dict[str, Json], ...]
    structured: dict[str, Json] | None = None
    is_error: bool = False


class ServedTool(Protocol[SessionT]):
    """What the server needs of a tool."""

    @property
    def name(self) -> str: ...

    def card(self) -> ToolCard:
        """How the tool is listed."""
        ...

    def bind(self, arguments: Mapping[str, Json]) -> Callable[[Call[SessionT]], ToolResult]:
        """The call with these arguments, not yet carried out; ``ArgumentError`` where they are wrong."""
        ...


@dataclass(frozen=True)
class Tool(Generic[SessionT, InputT, OutputT]):
    """One tool. The name is also the module's and the function's; the subcommand has dashes."""

    name: str
    title: str
    description: str
    """For a model, key facts first: it sees only the names and the server's instructions before this."""
    input: type[InputT]
    output: type[OutputT]
    call: Callable[[Call[SessionT], InputT], OutputT]
    summary: str
    """One line for the command line's help."""
    read_only: bool
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False

    def __post_init__(self) -> None:
        if not _TOOL_NAME.fullmatch(self.name):
            raise ValueError(f"tool name {self.name!r}: lower snake case, at most 30 characters")
        if not 0 < len(self.description) <= MAX_DESCRIPTION_CHARS:
            raise ValueError(f"{self.name}: a description of 1 to {MAX_DESCRIPTION_CHARS} characters")

    def card(self) -> ToolCard:
        """How the tool is listed; all four hints are stated, since their defaults are the worst case."""
        return ToolCard(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=input_schema(self.input),
            output_schema=output_schema(self.output),
            annotations={
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            },
        )

    def bind(self, arguments: Mapping[str, Json]) -> Callable[[Call[SessionT]], ToolResult]:
        """Check the arguments; what comes back carries the call out."""
        request = load(self.input, arguments, name=self.name)
        return lambda call: structured_result(dump(self.call(call, request)))


def structured_result(data: dict[str, Json]) -> ToolResult:
    """The same data as JSON and as compact text: a model sees one of the two, clients differ in which."""
    data = {key: shown_json(value) for key, value in data.items()}
    return ToolResult(content=(text_block(result_text(data)),), structured=data)


def failed_result(text: str) -> ToolResult:
    """A failure that the model can mend; the text says how."""
    return ToolResult(content=(text_block(shown_text(text)),), is_error=True)


def text_block(text: str) -> dict[str, Json]:
    """A content block of text."""
    return {"type": "text", "text": text}
