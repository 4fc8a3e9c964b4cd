"""What the benchmarks share: projects that anyone can make again, the plain command lines, medians, tables."""

import contextlib
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from appsecgate.model import Scanner
from appsecgate.scanners.advisory_responder import AdvisoryResponder
from appsecgate.scanners.installed import scanner_home
from appsecgate.scanners.pins import PINS
from appsecgate.store.advisory_index import AdvisoryIndex
from tests.scanners.installed import scanners_directory
from tests.support import OSV_EXAMPLES, PACKAGE, ROOT, link_scanners, run_cli

EXAMPLE = ROOT / "examples" / "vulnerable-shop"
PACKAGES = ("mcp", "rich", "cryptography", "uvicorn")
"""Python packages of semgrep's environment: ordinary code of ordinary size."""


@dataclass(frozen=True, slots=True)
class Place:
    """A project to measure on, and a data directory with scanners and advisories."""

    project: Path
    data: Path


@contextlib.contextmanager
def place(files: str = "example") -> Iterator[Place]:
    """``example``: the example project; ``large``: that, four packages and generated infrastructure code."""
    with tempfile.TemporaryDirectory(prefix="appsecgate-bench-") as name:
        here = Place(Path(name) / "shop", Path(name) / "data")
        shutil.copytree(EXAMPLE, here.project)
        if files == "large":
            _add_packages(here.project)
            _add_infrastructure(here.project)
        renew_data(here)
        yield here


def renew_data(here: Place) -> None:
    """An empty data directory but for scanners and advisories."""
    shutil.rmtree(here.data, ignore_errors=True)
    link_scanners(here.data)
    run_cli(PACKAGE, here.data, "advisories", "import", str(OSV_EXAMPLES))


def _add_packages(project: Path) -> None:
    home = scanner_home(Scanner.SEMGREP, scanners_directory().parent)
    for name in PACKAGES:
        source = next(iter(sorted(home.glob(f"lib/python*/site-packages/{name}"))))
        shutil.copytree(source, project / "shop" / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))


def _add_infrastructure(project: Path) -> None:
    for number in range(20):
        folder = project / "infra" / f"module{number}"
        folder.mkdir()
        for name in ("main.tf", "Dockerfile"):
            text = next(iter(EXAMPLE.rglob(name))).read_text("utf-8")
            (folder / name).write_text(f"# module {number}\n{text}")
    for number in range(10):
        folder = project / "services" / str(number)
        folder.mkdir(parents=True)
        (folder / "requirements.txt").write_text(f"# service {number}\n{(EXAMPLE / 'requirements.txt').read_text()}")
        (folder / "cart.js").write_text(f"// service {number}\n{(EXAMPLE / 'web/cart.js').read_text()}")


class PlainTools:
    """What a user would otherwise run, one after another, offline and with the same rules."""

    def __init__(self, here: Place) -> None:
        self._here = here
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(here.data.parent),
            "BC_SKIP_MAPPING": "TRUE",
            "CKV_SKIP_PACKAGE_UPDATE_CHECK": "true",
            "NO_PROXY": "127.0.0.1",
        }

    def on_file(self, path: str) -> dict[str, float]:
        """Scanner → seconds, for the scanners that have business with the file."""
        times = {"detect-secrets": self._run("detect-secrets", "scan", "--no-verify", path)}
        language = {".py": "python", ".js": "javascript"}.get(Path(path).suffix)
        if language:
            folder = ROOT / "appsecgate" / "rules"
            rules = [word for name in (language, "regex") for word in ("--config", str(folder / f"{name}.json"))]
            times["semgrep"] = self._run("semgrep", "scan", *_QUIET_SEMGREP, *rules, path)
        if path.endswith((".tf", "Dockerfile")):
            times["checkov"] = self._run("checkov", "--compact", "--quiet", "--skip-download", "-f", path)
        if path.endswith("requirements.txt"):
            times["pip-audit"] = self._audit([path])
        return times

    def on_project(self) -> dict[str, float]:
        """Scanner → seconds, each over the whole tree."""
        rules = [word for path in _rule_files() for word in ("--config", str(path))]
        manifests = sorted(str(path) for path in self._here.project.rglob("requirements.txt"))
        return {
            "semgrep": self._run("semgrep", "scan", *_QUIET_SEMGREP, "--no-git-ignore", *rules, "."),
            "detect-secrets": self._run("detect-secrets", "scan", "--no-verify", "--all-files", "."),
            "pip-audit": self._audit(manifests),
            "checkov": self._run("checkov", "--compact", "--quiet", "--skip-download", "--directory=."),
        }

    def _audit(self, manifests: Sequence[str]) -> float:
        index = AdvisoryIndex(self._here.data)
        try:
            with AdvisoryResponder(index) as url:
                files = [word for path in manifests for word in ("-r", path)]
                return self._run("pip-audit", "-s", "osv", "--osv-url", url, "--no-deps", "--disable-pip", *files)
        finally:
            index.close()

    def _run(self, name: str, *arguments: str) -> float:
        program = scanner_home(Scanner(name), scanners_directory().parent) / "bin" / name
        return seconds(
            lambda: subprocess.run(
                [str(program), *arguments],
                cwd=self._here.project,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        )


_QUIET_SEMGREP = ("--metrics=off", "--disable-version-check", "--quiet")


def _rule_files() -> list[Path]:
    return sorted((ROOT / "appsecgate" / "rules").glob("*.json"))


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def surroundings() -> str:
    """The machine and the versions; no name and no path of it."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {memory_gib:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; {', '.join(f'{name} {version}' for name, version in PINS.items())}; "
        f"load average at the start {load:.1f}; {datetime.now(UTC):%Y-%m-%d}"
    )
