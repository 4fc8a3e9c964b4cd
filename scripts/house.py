"""The plan of the house: which floor a module lives on, and the tree of the package as docs show it."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "appsecgate"
FLOORS: dict[str, int] = {
    "__init__": 0,
    "start": 0,
    "errors": 0,
    "model": 0,
    "settings": 0,
    "actions": 0,
    "decoding": 0,
    "beneath": 0,
    "bugs": 0,
    "covered": 0,
    "spelling": 0,
    "descendants": 0,
    "pipes": 0,
    "embedded": 0,
    "typed": 1,
    "config": 1,
    "workspace": 1,
    "git": 1,
    "gitdir": 1,
    "process": 1,
    "resident": 1,
    "leftovers": 1,
    "redact": 1,
    "identity": 1,
    "advisories": 1,
    "shown": 2,
    "store": 2,
    "scanners": 2,
    "exports": 2,
    "session": 3,
    "views": 3,
    "scan": 4,
    "context": 4,
    "probe": 4,
    "verify": 4,
    "tools": 5,
    "mcp": 6,
    "cli": 6,
    "setup": 6,
    "advisory": 6,
    "__main__": 7,
}
"""Family → floor. A module imports what is on lower floors, or belongs to its own family."""
NEIGHBOURS: dict[tuple[str, str], str] = {
    ("redact", "workspace"): "a Source is what is masked",
    ("identity", "workspace"): "a Source is what scopes and lines are read from",
    ("workspace", "git"): "a project knows its work tree",
    ("git", "process"): "git is a child process",
    ("git", "gitdir"): "the files of a repository that git itself is not asked about",
    ("resident", "process"): "a resident is a child process",
    ("verify", "scan"): "a verification is a scan with a question",
    ("exports", "store"): "what is exported is what the store holds",
    ("errors", "start"): "an error proposes a command that works here",
    ("cli", "setup"): "setup and doctor are subcommands",
    ("cli", "advisory"): "advisories update is a subcommand",
}
"""(importing family, imported family) on one floor, each with its reason."""
COMMON = {"errors", "model"}
"""What every module may import."""
DATA_NOTES = {
    "rules": "our semgrep rules (data)",
    "samples": "known-bad samples (data)",
    "workers": "programs that run in a scanner's own interpreter (data)",
}


def family(module: str) -> str:
    """The family of a dotted module name below the package: its folder, or its name up to the first ``_``."""
    first = module.split(".")[0]
    return first if first.startswith("__") else first.split("_")[0]


def floor_of(module: str) -> int:
    """The floor of a module. Raises ValueError for one that is in no plan."""
    try:
        return FLOORS[family(module)]
    except KeyError:
        raise ValueError(f"{PACKAGE}/{module}: no floor is named in scripts/house.py (FLOORS)") from None


def package_modules(root: Path) -> dict[str, Path]:
    """Dotted name below the package → file. Folders of data are no modules."""
    package = root / PACKAGE
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = list(path.relative_to(package).with_suffix("").parts)
        if "__pycache__" in parts or parts[0] in DATA_NOTES:
            continue
        if len(parts) > 1 and parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def imported_modules(path: Path) -> Iterator[tuple[str, int]]:
    """(module, line) of every import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ".", node.lineno


def first_sentence(path: Path) -> str:
    """What a module says about itself: the first line of its docstring."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"), str(path))) or ""
    return text.split("\n")[0].rstrip(".")


def _file_name(module: str) -> str:
    return f"{module.split('.')[-1]}.py"


def tree(root: Path) -> str:
    """The package as a captioned tree: floor, name, first sentence; by floor, then by name."""
    lines = []
    modules = package_modules(root)
    top = {name.split(".")[0] for name in modules}
    for name in sorted(top, key=lambda name: (floor_of(name), name)):
        is_folder = (root / PACKAGE / name).is_dir()
        title = f"{name}/" if is_folder else f"{name}.py"
        lines.append(f"{floor_of(name)}  {title:<30}{first_sentence(modules[name])}")
        inside = [inner for inner in modules if inner.startswith(f"{name}.")]
        lines += [f"     {_file_name(inner):<27}{first_sentence(modules[inner])}" for inner in inside]
    lines += [f"-  {folder + '/':<30}{note}" for folder, note in sorted(DATA_NOTES.items())]
    return "\n".join(line.rstrip() for line in lines) + "\n"
