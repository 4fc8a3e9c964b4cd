"""Whether files are whole: for some languages the core mends a missing bracket and says nothing about it.

A scan of a mended file is as good as one of the file that was meant, but a fix that leaves a file broken is no fix.
The core's parsing statistics do count what it mended, so verification asks for them where a file's brackets do not
match, and only there: the file is parsed a second time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from appsecgate.process import CancelToken, Ending, Limits, base_environment, run
from appsecgate.scanners.base import Installation, StagedFile
from appsecgate.scanners.classify_names import EXTENSION_LANGUAGE
from appsecgate.scanners.report_json import json_integer, json_list, json_object, json_text, load_report
from appsecgate.scanners.semgrep import semgrep_core_path
from appsecgate.scanners.stage import Stage, place_copy

_USUAL_SUFFIXES = {
    "javascript": ".js",
    "typescript": ".ts",
    "java": ".java",
    "php": ".php",
    "c": ".c",
    "cpp": ".cpp",
    "csharp": ".cs",
    "go": ".go",
    "kotlin": ".kt",
    "ruby": ".rb",
}
MENDED_LANGUAGES = frozenset(_USUAL_SUFFIXES)
"""Languages about which the statistics are worth asking; Python has ``ast.parse``."""
_SYNTAX_MEMORY_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class SyntaxState:
    """``broken_lines``: lines that had to be mended or skipped; ``None`` where the core gave no answer."""

    broken_lines: int | None


def check_syntax(
    tool: Installation,
    files: Sequence[StagedFile],
    stage: Stage,
    *,
    timeout_s: float = 20.0,
    cancel: CancelToken | None = None,
) -> Mapping[str, SyntaxState]:
    """Project path → state, for those of the files whose language is among ``MENDED_LANGUAGES``."""
    states: dict[str, SyntaxState] = {}
    for language in sorted({file.language for file in files} & MENDED_LANGUAGES):
        group = [file for file in files if file.language == language]
        counts = _broken_lines(tool, language, group, stage, timeout_s, cancel)
        states |= {file.path: SyntaxState(counts.get(file.path)) for file in group}
    return states


def _broken_lines(
    tool: Installation,
    language: str,
    files: Sequence[StagedFile],
    stage: Stage,
    timeout_s: float,
    cancel: CancelToken | None,
) -> dict[str, int]:
    with stage.run_directory() as directory:
        copies = [place_copy(directory, _name_for_core(n, file), file.local) for n, file in enumerate(files)]
        completed = run(
            (str(semgrep_core_path(tool)), "-lang", language, "-json", "-parsing_stats", *map(str, copies)),
            cwd=directory,
            env=base_environment(directory),
            limits=Limits(timeout_s, memory_bytes=_SYNTAX_MEMORY_BYTES),
            cancel=cancel,
        )
    if completed.ending is not Ending.EXITED or completed.exit_code != 0:
        return {}
    paths = {str(copy): file.path for copy, file in zip(copies, files, strict=True)}
    counts: dict[str, int] = {}
    for item in json_list(json_object(load_report(completed.stdout)).get("projects")):
        fields = json_object(item)
        if json_integer(fields.get("file_count")) == 1:
            counts[paths.get(json_text(fields.get("name")), "")] = json_integer(fields.get("error_line_count"))
    return counts


def _name_for_core(number: int, file: StagedFile) -> str:
    """Here the core goes by the extension, so a file known by its first line gets the usual one."""
    suffix = file.local.suffix
    usual = EXTENSION_LANGUAGE.get(suffix.lstrip(".")) == file.language
    return f"{number}{suffix if usual else _USUAL_SUFFIXES[file.language]}"
