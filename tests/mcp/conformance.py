"""The official conformance suite, on the real server and on the fixture server: ``python -m tests.mcp.conformance``.

The suite is an npm package for Node 22 or later and speaks HTTP, so it goes through tests/mcp/http_bridge.py.
``scripts/clients.py`` installs both, unless ``APPSECGATE_TEST_CONFORMANCE`` (the suite's script) and
``APPSECGATE_TEST_NODE`` name others. Exit status 0 only where every scenario of the set passed; 2, loudly, where the
suite could not be run at all.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from scripts.clients import ClientsError, client_variables, prepare_clients
from tests.mcp.http_bridge import Bridge

ROOT = Path(__file__).resolve().parents[2]
NODE_SINCE = 22
SCENARIO_S = 120
BOTH = ("tools-list", "server-sse-multiple-streams", "dns-rebinding-protection")
LEGACY = ("server-initialize", "ping", "server-session-lifecycle")
MODERN = (
    "server-stateless",
    "caching",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "http-header-validation",
)
FIXTURES = (
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
)
"""Scenarios that call tools which the suite prescribes."""
NO_PROMPTS_NO_RESOURCES = (
    "caching:sep-2549-prompts-list-caching-hints",
    "caching:sep-2549-resources-list-caching-hints",
    "caching:sep-2549-resources-templates-list-caching-hints",
)
NEEDS_FIXTURES = (
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
    "server-stateless:sep-2575-server-no-log-without-loglevel",
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A server under test. The checks of ``excepted`` must fail: the suite complains when one passes."""

    name: str
    command: tuple[str, ...]
    fixtures: bool
    excepted: tuple[str, ...]

    def scenarios(self) -> Iterator[tuple[str, str]]:
        """(revision, scenario). Under 2025-06-18 the suite only checks other schemas: three will do."""
        more = FIXTURES if self.fixtures else ()
        for revision, names in (
            ("2025-06-18", (*LEGACY[:2], BOTH[0])),
            ("2025-11-25", (*LEGACY, *BOTH, *more)),
            ("2026-07-28", (*MODERN, *BOTH, *more)),
        ):
            for name in names:
                yield revision, name


def subjects(scratch: Path) -> tuple[Subject, ...]:
    """The real server in an empty project, and the engine with the suite's own tools."""
    project = scratch / "project"
    project.mkdir()
    real = (sys.executable, "-m", "appsecgate", "--project", str(project), "--data-dir", str(scratch / "data"))
    fixture = (sys.executable, "-m", "tests.mcp.fixture_server", "--conformance")
    return (
        Subject("appsecgate", real, False, (*NO_PROMPTS_NO_RESOURCES, *NEEDS_FIXTURES)),
        Subject("fixtures", fixture, True, NO_PROMPTS_NO_RESOURCES),
    )


def suite_command() -> tuple[str, str]:
    """Node and the suite's script. ClientsError where there is no Node of the right age."""
    variables = ("APPSECGATE_TEST_NODE", "APPSECGATE_TEST_CONFORMANCE")
    if not all(os.environ.get(name) for name in variables):
        prepare_clients()
    node, script = (os.environ.get(name) or client_variables()[name] for name in variables)
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)", done.stdout)
    if version is None or int(version[1]) < NODE_SINCE:
        raise ClientsError(f"{node} is Node {done.stdout.strip() or '?'}; the suite needs {NODE_SINCE} or later")
    return node, script


def check(subject: Subject, suite: Sequence[str], scratch: Path) -> int:
    """Run the subject's scenarios; how many did not pass."""
    baseline = scratch / f"{subject.name}.yml"
    baseline.write_text("server:\n" + "".join(f"  - {entry}\n" for entry in subject.excepted))
    failed = 0
    with Bridge(subject.command) as bridge:
        for revision, scenario in subject.scenarios():
            arguments = ["--spec-version", revision, "--scenario", scenario, "--expected-failures", str(baseline)]
            began = time.monotonic()
            done = subprocess.run(
                [*suite, "server", "--url", bridge.url, *arguments, "-o", str(scratch / subject.name)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace", timeout=SCENARIO_S, cwd=scratch, check=False,
            )  # fmt: skip
            word = "ok" if done.returncode == 0 else f"FAILED ({done.returncode})"
            print(f"{subject.name:<12}{revision:<12}{scenario:<44}{time.monotonic() - began:>5.1f} s  {word}", flush=True)
            if done.returncode != 0:
                failed += 1
                print(done.stdout[-3000:], flush=True)
    for fault in bridge.faults:
        print(f"{subject.name:<12}FAILED: {fault}")
    return failed + len(bridge.faults)


def main() -> int:
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="appsecgate-conformance-") as name:
        try:
            suite = suite_command()
        except (ClientsError, OSError) as error:
            print(f"CONFORMANCE WAS NOT TESTED: {error}", file=sys.stderr)
            return 2
        with ThreadPoolExecutor() as pool:
            failed = sum(pool.map(lambda subject: check(subject, suite, Path(name)), subjects(Path(name))))
    print(f"conformance: {failed} failed" if failed else "conformance: everything passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
