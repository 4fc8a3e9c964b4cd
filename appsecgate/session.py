"""One process's work on one project: everything that the work needs, passed as the first argument."""

import copy
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.bugs import MAX_SCAN_BUGS, BugReports
from appsecgate.config import Config, data_directory, load_config, project_directory
from appsecgate.covered import CoveredNames
from appsecgate.leftovers import sweep_leftovers
from appsecgate.model import EvidenceReason, Json, Scanner
from appsecgate.process import CancelToken
from appsecgate.redact.cleaning import clean_text
from appsecgate.redact.redactor import Redactor
from appsecgate.scanners.base import Adapter, Installation, Loadable
from appsecgate.scanners.installed import locate
from appsecgate.scanners.pool import WorkerPool
from appsecgate.scanners.registry import make_adapters, rules_stamp
from appsecgate.store.advisory_index import AdvisoryIndex
from appsecgate.store.connection import Store
from appsecgate.store.retention import apply_retention
from appsecgate.store.writer import Writer
from appsecgate.workspace import LeftOut, Workspace

PROJECT_FILE = ".appsecgate.toml"
PROJECT_FILE_BYTES = 64_000


def utc_now() -> datetime:
    return datetime.now(UTC)


def new_uuid() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Control:
    """How a running call is steered from outside."""

    cancel: CancelToken
    deadline: float
    """``time.monotonic()`` seconds at which the call must have answered."""
    progress: Callable[[float, float | None, str], None] = lambda _done, _total, _message: None

    def remaining_s(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line and the surroundings say before any project is known."""

    project: str | None = None
    data_dir: str | None = None
    settings: Mapping[str, Json] = field(default_factory=dict)
    """Configuration keys given by a person on the command line."""
    roots: tuple[str, ...] = ()
    """The client's first MCP roots, where it declared them."""
    environ: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "."
    platform: str = "linux"


class Session:
    """The fixed project, its settings, the store, the scanners and the clock. Safe to share between threads."""

    def __init__(
        self,
        options: Options,
        *,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_uuid,
        workers: WorkerPool | None = None,
    ) -> None:
        """``workers``: what may answer instead of new processes; closed with the session.

        Raises ProjectError, ConfigError or a StorageError; nothing else is left open then.
        """
        self.options = options
        self.clock = clock
        self.new_id = new_id
        self.workers = workers
        self.session_id = new_id()
        project = project_directory(options.project, options.environ, options.roots, options.cwd)
        self.workspace = Workspace.open(project, key=options.environ.get("APPSECGATE_PROJECT_KEY"))
        self.data_dir: Path = data_directory(options.data_dir, options.environ, options.platform)
        self.store = Store.open(self.data_dir, clock=clock)
        self.workspace = self.workspace.with_names(CoveredNames(Redactor(self.store.key).name))
        self.advisories = AdvisoryIndex(self.data_dir)
        self._lock = threading.Lock()
        self._refreshing = threading.Lock()
        self._frozen = False
        self._adapters: dict[str, tuple[Adapter, ...]] = {}
        self._bugs = BugReports(lambda text: self.redactor().text(clean_text(text), entropy=True), MAX_SCAN_BUGS)
        try:
            self.refresh()
            self._begin()
        except BaseException:
            self.store.close()
            raise

    @property
    def project_id(self) -> str:
        return self.workspace.project_id

    @property
    def alias(self) -> str:
        return self.config.alias or self.workspace.names.shown(self.workspace.alias_default)

    def now(self) -> str:
        """UTC, ISO 8601 with milliseconds and Z, as the store keeps times."""
        return self.clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def refresh(self) -> None:
        """Read the configuration and its rule files again: they change while a server runs. Every scan begins so.

        A frozen session stays as it is. Raises ConfigError for a mistake of a person's.
        """
        if self._frozen:
            return
        with self._refreshing:  # one after the other: what was read first must not be put in place last
            config = self._load_config()
            rules = rules_stamp(config, self.workspace, self.data_dir)
            with self._lock:
                self.config, self._rules = config, rules
            if self.workers is not None:
                self.workers.switch(on=config.limits.workers)

    def frozen(self) -> "Session":
        """This session as it is set now, read afresh: whatever other calls set meanwhile, one piece of work is done,
        and its evidence written, under one configuration and one set of rules. Raises ConfigError."""
        if self._frozen:
            return self
        self.refresh()
        with self._lock:
            self._made_adapters()  # kept for those who come after, too
            same = copy.copy(self)
        same._frozen = True
        same._lock = threading.Lock()
        return same

    def note_bug(self, error: BaseException) -> str:
        """Put the traceback, redacted, where a person can find it; what evidence says: no text that may quote."""
        reference = self._bugs.reference()
        self._bugs.write(reference, error)
        return f"internal error: {type(error).__name__}, reference {reference} in stderr"

    def _load_config(self) -> Config:
        with self.store.read() as reader:
            stored = reader.config_values(self.project_id)
        found = self.workspace.read(PROJECT_FILE, max_bytes=PROJECT_FILE_BYTES)
        problem = ""
        if isinstance(found, LeftOut) and found.reason is not EvidenceReason.FILE_MISSING:
            problem = f"it cannot be read: {found.reason} {found.detail}".strip()
        return load_config(
            cli=self.options.settings,
            environ=self.options.environ,
            data_dir=self.data_dir,
            project_file=None if isinstance(found, LeftOut) else found.data,
            stored=stored,
            project_file_problem=problem,
        )

    def _begin(self) -> None:
        """Register the project and let retention forget what is due; short, since a client waits."""
        sweep_leftovers()
        with self.store.write() as writer:
            self.enter_project(writer)
            apply_retention(writer, self.project_id, self.now(), self.config.retention)

    def enter_project(self, writer: Writer) -> None:
        """Put the project, as it is called now, into the books."""
        writer.touch_project(self.project_id, self.alias, self.workspace.names.shown(str(self.workspace.root)))

    @property
    def adapters(self) -> tuple[Adapter, ...]:
        """The scanners under the present configuration, in the order of ``model.Scanner``."""
        with self._lock:
            return self._made_adapters()

    def _made_adapters(self) -> tuple[Adapter, ...]:
        """Only under the lock."""
        key = f"{self.config.hash} {self._rules}"
        if key not in self._adapters:
            made = make_adapters(self.config, self.workspace, self.advisories, self.data_dir, self.clock)
            self._adapters = {key: made}
        return self._adapters[key]

    def adapter(self, scanner: Scanner) -> Adapter:
        return next(adapter for adapter in self.adapters if adapter.name is scanner)

    def installation(self, scanner: Scanner) -> Installation | None:
        """Where the scanner is on this machine; None where it is not."""
        return locate(scanner, self.config, self.data_dir)

    def redactor(self, project_id: str | None = None) -> Redactor:
        """A redactor that knows every secret ever flagged in this project, or another (by digest, never by value)."""
        with self.store.read() as reader:
            marks = reader.secret_marks(project_id or self.project_id)
        return Redactor(self.store.key, known=marks)

    def warm_workers(self) -> None:
        """Have the workers of the scanners that are there and ready load in the background; cheap to repeat."""
        if self.workers is None or not self.config.limits.workers:
            return
        zygotes = []
        for adapter in self.adapters:
            ready = self.config.scanners[adapter.name].enabled and adapter.unready()[0] is EvidenceReason.NONE
            tool = self.installation(adapter.name) if ready and isinstance(adapter, Loadable) else None
            if tool is not None and isinstance(adapter, Loadable) and (zygote := adapter.zygote(tool)) is not None:
                zygotes.append(zygote)
        self.workers.warm(zygotes)

    def close(self) -> None:
        if self.workers is not None:
            self.workers.close()
        self.store.close()
