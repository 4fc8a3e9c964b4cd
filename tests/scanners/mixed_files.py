"""Several hundred files of all kinds: shipped samples and the test data with mutations, and files of installed packages."""

import json
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from appsecgate.embedded import read_embedded
from appsecgate.scanners.checkov_layout import CHECKOV_FRAMEWORKS, checkov_sample_name
from tests.redact.planted import Planter
from tests.scanners.installed import scanners_directory

ROOT = Path(__file__).resolve().parent.parent.parent
SUFFIXES = frozenset(
    {
        ".py", ".pyi", ".json", ".yaml", ".yml", ".js", ".vue", ".c", ".h", ".md", ".rst", ".cfg", ".ini", ".toml",
        ".ps1", ".fish", ".txt", ".csv", ".proto", ".jinja2", ".xml",
    }
)  # fmt: skip
MOST_BYTES = 20_000
SLOW = ("bicep",)
"""Read by a grammar that takes half a minute to load, in a worker and in a new process alike."""


def mixed_files(most: int, *, slow: bool = False) -> dict[str, bytes]:
    """Path → content; ``most`` files, or fewer where the machine has fewer. The same on every call."""
    files: dict[str, bytes] = {}
    for path, content in _own_files(slow):
        for name, mutated in _mutations(path, content):
            files.setdefault(name, mutated)
    own = list(files.items())[:: max(1, len(files) * 2 // most)]  # at most half of them are ours
    return dict([*own, *_foreign_files(most - len(own))])


def _own_files(slow: bool) -> Iterator[tuple[str, bytes]]:
    for framework, (name, _) in CHECKOV_FRAMEWORKS.items():
        if slow or framework not in SLOW:
            yield f"iac/{framework}/{name}", read_embedded(checkov_sample_name(framework)).encode()
    for language, sample in json.loads(read_embedded("samples/semgrep.json")).items():
        yield f"sast/{language}/sample{sample['suffix']}", sample["text"].encode()
    planter = Planter()
    for kind, secret in enumerate(planter.tokens().values()):
        yield f"secrets/{kind}.py", f'first = 1\nvalue = "{secret}"\n'.encode()
        yield f"secrets/{kind}.env", f"VALUE={secret}\n".encode()
    yield "secrets/key.pem", "\n".join(planter.pem()).encode()
    for folder in (ROOT / "tests/data/rules", ROOT / "tests/data/locks", ROOT / "examples"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_bytes()


def _mutations(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """The file, and what hostile or hasty hands make of it. Names stay, since they decide who reads a file."""
    folder, _, name = path.rpartition("/")
    top, _, rest = folder.partition("/")
    mark = b"# nosemgrep checkov:skip=CKV_AWS_24:no pragma: allowlist secret\n"
    lines = content.split(b"\n")
    for kind, mutated in (
        ("plain", content),
        ("cut", content[: len(content) * 2 // 3]),
        ("twice", content + b"\n" + content),
        ("quiet", mark + mark.join(line + b"\n" for line in lines)),
        ("windows", content.replace(b"\n", b"\r\n")),
        ("broken", content.replace(b"(", b"((", 1).replace(b"{", b"{{", 1).replace(b": ", b":\t", 1)),
        ("latin", content + b"\n# caf\xe9 \xff\n"),
        ("utf16", content.decode("utf-8", "replace").encode("utf-16")),
        ("empty", b""),
    ):
        yield "/".join(part for part in (top, kind, rest, name) if part), mutated


def _foreign_files(most: int) -> list[tuple[str, bytes]]:
    """A spread over the standard library and the scanners' own packages."""
    found: list[Path] = []
    for root in (Path(sysconfig.get_paths()["stdlib"]) / "email", scanners_directory()):
        for folder, names, files in os.walk(root):
            names.sort()
            found += [Path(folder, name) for name in sorted(files) if Path(name).suffix in SUFFIXES]
    by_suffix: dict[str, list[Path]] = {}
    for path in found:
        by_suffix.setdefault(path.suffix, []).append(path)
    share = max(1, most // max(1, len(by_suffix)))
    chosen: list[Path] = []
    for paths in by_suffix.values():
        chosen += [path for path in paths[:: max(1, len(paths) // share)] if 0 < path.stat().st_size < MOST_BYTES][
            :share
        ]
    rest = [path for path in found[:: max(1, len(found) // most)] if path not in set(chosen)]
    chosen += [path for path in rest if 0 < path.stat().st_size < MOST_BYTES][: max(0, most - len(chosen))]
    return [(f"packages/{number}/{path.name}", path.read_bytes()) for number, path in enumerate(chosen)]
