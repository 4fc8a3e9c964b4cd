"""The command line: the same tools, with words and tables for people."""

import argparse
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from appsecgate import __version__
from appsecgate.advisory_download import download_advisories
from appsecgate.cli_render import (
    render_advisories,
    render_context,
    render_doctor,
    render_history,
    render_import,
    render_rows,
    render_status,
    render_suppressions,
    render_verify,
)
from appsecgate.cli_scan import patient_call, scan_and_print, scanned_path
from appsecgate.config import data_directory, load_config
from appsecgate.errors import (
    EXIT_DONE,
    EXIT_FINDINGS,
    EXIT_INCOMPLETE,
    EXIT_INTERNAL,
    AppSecGateError,
    ArgumentError,
)
from appsecgate.model import FixStatus, Json, Scanner, Severity
from appsecgate.probe import probe_sentinel
from appsecgate.redact.redactor import Redactor
from appsecgate.session import Options, Session, utc_now
from appsecgate.setup import diagnose, setup_scanners
from appsecgate.store.advisory_import import import_advisories
from appsecgate.store.advisory_index import AdvisoryIndex
from appsecgate.tools.base import Tool
from appsecgate.tools.export_snapshot import SnapshotFormat, write_to
from appsecgate.tools.get_fix_context import GetFixContextInput, get_fix_context
from appsecgate.tools.get_scan_history import GetScanHistoryInput, get_scan_history
from appsecgate.tools.query_findings_db import QueryFindingsDbInput, query_findings_db
from appsecgate.tools.registry import TOOLS
from appsecgate.tools.verify_fix import VerifyFixInput, verify_fix
from appsecgate.typed import dump, load
from appsecgate.typed_cli import add_arguments, from_namespace


def options_of(arguments: argparse.Namespace) -> Options:
    """What the command line and the surroundings say; the first place where the environment is read."""
    return Options(
        project=arguments.project,
        data_dir=arguments.data_dir,
        settings={} if arguments.export_dir is None else {"export.dir": str(Path(arguments.export_dir).absolute())},
        environ=dict(os.environ),
        cwd=str(Path.cwd()),
        platform=sys.platform,
    )


class Terminal:
    """Where a command writes: results to ``out``, all else to ``err``."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.out = out
        self.err = err

    def say(self, text: str) -> None:
        self.out.write(_encodable(text.rstrip("\n") + "\n", self.out))

    def tell(self, text: str) -> None:
        self.err.write(_encodable(text.rstrip("\n") + "\n", self.err))

    def show(self, record: Any, as_json: bool, render: Callable[[Any], str]) -> None:
        self.say(json.dumps(dump(record), indent=2, ensure_ascii=False) if as_json else render(record))


def _encodable(text: str, stream: TextIO) -> str:
    """The text in what the stream's encoding can say: a name or a frame must not end a command."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("─", "-").encode(encoding, "backslashreplace").decode(encoding)
    return text


def _scan(arguments: argparse.Namespace, terminal: Terminal) -> int:
    path = scanned_path(arguments)
    session = Session(options_of(arguments))
    try:
        return scan_and_print(arguments, terminal, session, path)
    finally:
        session.close()


def _with_session(work: Callable[[argparse.Namespace, Terminal, Session], int]) -> Any:
    def command(arguments: argparse.Namespace, terminal: Terminal) -> int:
        session = Session(options_of(arguments))
        try:
            return work(arguments, terminal, session)
        finally:
            session.close()

    return command


def _context(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    pack = get_fix_context(patient_call(session), GetFixContextInput(arguments.finding_id))
    terminal.show(pack, arguments.json, render_context)
    return EXIT_DONE


def _verify(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    request = VerifyFixInput(arguments.finding_id, FixStatus(arguments.status), arguments.note)
    result = verify_fix(patient_call(session), request)
    terminal.show(result, arguments.json, render_verify)
    return EXIT_FINDINGS if result.verified_status is FixStatus.NOT_FIXED else EXIT_DONE


def _query(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    found = query_findings_db(patient_call(session), QueryFindingsDbInput(arguments.sql, list(arguments.params)))
    terminal.show(found, arguments.json, render_rows)
    return EXIT_DONE


def _export(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    project_id = session.project_id if arguments.this_project else None
    written = write_to(session, arguments.path, SnapshotFormat(arguments.format), project_id)
    terminal.show(written, arguments.json, lambda r: f"{r.row_count} rows in {len(r.files)} files: {r.path}")
    return EXIT_DONE


def _history(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    asked: dict[str, Json] = {"finding_id": arguments.finding_id, "limit": arguments.limit}
    history = get_scan_history(patient_call(session), load(GetScanHistoryInput, asked, name="history"))
    terminal.show(history, arguments.json, render_history)
    return EXIT_DONE


def _status(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    terminal.show(get_scan_history(patient_call(session), GetScanHistoryInput()), arguments.json, render_status)
    return EXIT_DONE


def _suppressions(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    if arguments.remove is not None:
        with session.store.write() as writer:
            if not writer.remove_suppression(session.project_id, arguments.remove):
                raise ArgumentError(f"there is no suppression {arguments.remove}.", hint="List them without --remove.")
            writer.apply_suppressions(session.project_id, session.config.suppressions, session.now())
    with session.store.read() as reader:
        stored = reader.suppressions(session.project_id)
    terminal.say(render_suppressions(stored, session.config.suppressions))
    return EXIT_DONE


def _reindex(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    if not arguments.redaction:
        raise ArgumentError("nothing to do.", hint="Run: appsecgate reindex --redaction")
    count = session.store.reindex(session.redactor)
    terminal.say(f"{count} stored texts masked anew.")
    return EXIT_DONE


def _purge(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    if not arguments.yes:
        raise ArgumentError(
            f"purge forgets everything about project {session.alias} ({session.project_id}).", hint="Add --yes."
        )
    session.store.purge(session.project_id)
    terminal.say(f"Forgot project {session.alias} ({session.project_id}).")
    return EXIT_DONE


def _advisories(arguments: argparse.Namespace, terminal: Terminal) -> int:
    options = options_of(arguments)
    data_dir = data_directory(options.data_dir, options.environ, options.platform)
    config = load_config(cli={}, environ=options.environ, data_dir=data_dir, project_file=None, stored={})
    if arguments.action == "update":
        plain = options.environ.get("APPSECGATE_TEST_PLAIN_LOOPBACK") == "1"
        url = arguments.url or config.advisories_url
        report = download_advisories(url, data_dir, utc_now(), terminal.tell, plain_loopback=plain)
        terminal.say(render_import(report))
        return EXIT_DONE
    if arguments.action == "import":
        if not arguments.path:
            raise ArgumentError("advisories import needs a PATH.", hint="A directory of OSV records, or a zip of them.")
        report = import_advisories(Path(arguments.path), data_dir, utc_now())
        terminal.say(render_import(report))
        return EXIT_DONE
    status = AdvisoryIndex(data_dir).status(utc_now())
    terminal.say(render_advisories(status))
    stale = status.is_stale(config.limits.advisories_max_age_days)
    return EXIT_DONE if status.usable and not stale else EXIT_INCOMPLETE


def _setup(arguments: argparse.Namespace, terminal: Terminal) -> int:
    options = options_of(arguments)
    data_dir = data_directory(options.data_dir, options.environ, options.platform)
    if arguments.advisories:
        terminal.say(render_import(import_advisories(Path(arguments.advisories), data_dir, utc_now())))
    done = setup_scanners(
        data_dir,
        environ=options.environ,
        report=terminal.tell,
        scanners=_chosen(arguments.only),
        wheelhouse=Path(arguments.wheelhouse) if arguments.wheelhouse else None,
        reinstall=arguments.reinstall,
    )
    fresh = sum(item.fresh for item in done)
    terminal.say(f"{len(done)} scanners ready ({fresh} installed now) in {data_dir / 'scanners'}")
    return EXIT_DONE


def _chosen(names: Sequence[str] | None) -> tuple[Scanner, ...]:
    try:
        return tuple(Scanner(name) for name in names) if names else tuple(Scanner)
    except ValueError as error:
        raise ArgumentError(f"{error}.", hint="The scanners are: " + ", ".join(Scanner)) from None


def _doctor(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
    status = session.advisories.status(session.clock())
    rows = diagnose(
        session.config, session.data_dir, lambda scanner: probe_sentinel(session, scanner), advisories=status.problem
    )
    damage = session.store.problems()
    if arguments.json:
        found = {"scanners": [dump(row) for row in rows], "database_problems": damage}
        terminal.say(json.dumps(found, indent=2))
    else:
        terminal.say(render_doctor(rows, status, damage, str(session.data_dir), _place(session)))
    if damage:
        return EXIT_INTERNAL
    return EXIT_INCOMPLETE if any(row.problem and row.enabled for row in rows) else EXIT_DONE


def _place(session: Session) -> str:
    return session.workspace.names.shown(str(session.workspace.root))


def _tool_command(tool: Tool[Session, Any, Any]) -> Any:
    def command(arguments: argparse.Namespace, terminal: Terminal, session: Session) -> int:
        request = from_namespace(tool.input, arguments, name=tool.name)
        terminal.show(tool.call(patient_call(session), request), True, str)
        return EXIT_DONE

    return _with_session(command)


def build_parser() -> argparse.ArgumentParser:
    """All subcommands; ``serve`` is what happens without one."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--project", metavar="DIR", help="the project (default: APPSECGATE_PROJECT, else here)")
    common.add_argument("--data-dir", metavar="DIR", help="where database and scanners live (APPSECGATE_DATA_DIR)")
    common.add_argument("--export-dir", metavar="DIR", help="where snapshots may be written (setting export.dir)")
    parser = argparse.ArgumentParser(
        prog="appsecgate",
        description="Find, explain and verify security findings, offline. Without a command: the MCP server on stdio.",
        parents=[common],
    )
    parser.add_argument("--version", action="version", version=f"appsecgate {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    as_json = argparse.ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print the result as JSON")

    def add(name: str, text: str, work: Any, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", parents=[*parents])
        for option in ("--project", "--data-dir", "--export-dir"):
            sub.add_argument(option, metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        sub.set_defaults(work=work)
        return sub

    add("serve", "the MCP server on stdio", None)
    _add_people_commands(add, as_json)
    _add_upkeep_commands(add)
    for tool in TOOLS:
        sub = add(tool.name.replace("_", "-"), f"{tool.summary} (tool {tool.name}, JSON)", _tool_command(tool))
        add_arguments(sub, tool.input)
    return parser


def _add_people_commands(add: Any, as_json: argparse.ArgumentParser) -> None:
    scan = add("scan", "scan a project, a directory or a file", _scan)
    scan.add_argument("path", nargs="?", metavar="PATH", help="a directory (then the project) or a file")
    scan.add_argument("--diff", nargs="?", const="", metavar="BASE", help="only what changed in git")
    scan.add_argument("--format", choices=("table", "json", "sarif", "gitlab"), default="table", help="how to print")
    scan.add_argument(
        "--fail-on", choices=[str(s) for s in Severity], metavar="SEVERITY",
        help="exit with 1 where a finding in what was scanned is at least this severe: " + ", ".join(Severity),
    )  # fmt: skip
    context = add("context", "show what is needed to fix a finding", _with_session(_context), as_json)
    context.add_argument("finding_id", metavar="ID", help="logical id or fingerprint")
    verify = add("verify", "rescan and say whether a finding is fixed", _with_session(_verify), as_json)
    verify.add_argument("finding_id", metavar="ID", help="logical id or fingerprint")
    verify.add_argument("status", nargs="?", default="fixed", choices=[str(s) for s in FixStatus], help="what was done")
    verify.add_argument("--note", help="needed for wont_fix")
    query = add("query", "run one SELECT over the public views", _with_session(_query), as_json)
    query.add_argument("sql", metavar="SQL", help="for example: SELECT * FROM v_summary")
    query.add_argument("params", nargs="*", metavar="VALUE", help="values for ? placeholders")
    export = add("export", "write the public views to files", _with_session(_export), as_json)
    export.add_argument("path", metavar="NAME", help="a new directory in the data directory's exports/ or --export-dir")
    export.add_argument("--format", choices=[str(f) for f in SnapshotFormat], default="ndjson", help="file format")
    export.add_argument("--this-project", action="store_true", help="the current project alone")
    add("status", "say where the work stands: what is open, claimed, unchecked", _with_session(_status), as_json)
    history = add("history", "show scans, attempts and what is still open", _with_session(_history), as_json)
    history.add_argument("finding_id", nargs="?", metavar="ID", help="one finding alone")
    history.add_argument("--limit", type=int, default=10, metavar="N", help="entries to list")


def _add_upkeep_commands(add: Any) -> None:
    setup = add("setup", "install the pinned scanners into the data directory", _setup)
    setup.add_argument("--wheelhouse", metavar="DIR", help="install from this directory alone, without a network")
    setup.add_argument("--advisories", metavar="FILE", help="import this advisory dump too: a zip, or a directory")
    setup.add_argument("--only", action="append", metavar="NAME", help="one scanner; may be repeated")
    setup.add_argument("--reinstall", action="store_true", help="install anew what is there already")
    doctor = add("doctor", "say what is installed, alive and missing", _with_session(_doctor))
    doctor.add_argument("--json", action="store_true", help="print the result as JSON")
    advisories = add("advisories", "the local copy of the advisory database", _advisories)
    advisories.add_argument("action", choices=("import", "update", "status"), help="what to do; update downloads")
    advisories.add_argument("path", nargs="?", metavar="PATH", help="a directory of OSV records, or a zip of them")
    advisories.add_argument("--url", metavar="URL", help="for update: another address than advisories.url")
    hidden = add("suppressions", "list what hides findings; --remove takes one back", _with_session(_suppressions))
    hidden.add_argument("--remove", type=int, metavar="NUMBER", help="show again what this one hides")
    reindex = add("reindex", "apply a changed redaction policy to stored rows", _with_session(_reindex))
    reindex.add_argument("--redaction", action="store_true", help="mask stored texts anew")
    purge = add("purge", "forget everything about the current project", _with_session(_purge))
    purge.add_argument("--yes", action="store_true", help="really")


def _end_like_an_interrupt() -> None:
    """Being told to end is as good as Ctrl-C: copies of the project must not stay behind in a temporary directory."""
    for name in ("SIGTERM", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.default_int_handler)


def main(argv: Sequence[str], serve: Callable[[argparse.Namespace], int]) -> int:
    """Run one command; ``serve`` is the server. Returns the exit status; raises SystemExit for wrong usage alone."""
    terminal = Terminal(sys.stdout, sys.stderr)
    arguments = build_parser().parse_args(list(argv))
    try:
        if arguments.command in (None, "serve"):
            return serve(arguments)
        _end_like_an_interrupt()
        status: int = arguments.work(arguments, terminal)
    except AppSecGateError as error:
        terminal.tell(Redactor(os.urandom(32)).text(f"appsecgate: {error.explain()}"))
        return error.exit_status
    except BrokenPipeError:
        return EXIT_INTERNAL
    except KeyboardInterrupt:
        terminal.tell("appsecgate: interrupted")
        return EXIT_INTERNAL
    except Exception:  # the boundary: Python's own exit status for a bug is the one that says "findings"
        terminal.tell(Redactor(os.urandom(32)).text(traceback.format_exc()))
        return EXIT_INTERNAL
    return status
