"""Whether the name of a flagged call still stands where the call was, though nothing is reported any more."""

import re

from appsecgate.model import Category, Finding
from appsecgate.scanners.classify import language_by_name
from appsecgate.spelling import plain_code
from appsecgate.verify_case import Case

WINDOW_LINES = 10
"""Lines above and below the place in which the sink's name is looked for."""
_CALLED_NAME = re.compile(r"([A-Za-z_][\w.]{0,120})\s{0,4}\(")


def sink_window(case: Case) -> str:
    """The lines around the place where the finding was."""
    if case.source is None:
        return ""
    line = case.finding.line_start
    near = case.line_map.nearest(line) if case.line_map else line
    window = "\n".join(case.source.lines[max(0, near - 1 - WINDOW_LINES) : near + WINDOW_LINES])
    return plain_code(language_by_name(case.path), window)


def hidden_sink_name(finding: Finding, window: str) -> str | None:
    """The name of the flagged call, where it still stands in the window as a string, or is handed on uncalled.

    ``getattr(module, "eval")(x)`` and ``run = eval`` escape every pattern for ``eval(x)``; an honest fix seldom
    leaves the bare name behind.
    """
    if finding.category is not Category.SAST:
        return None
    called = _CALLED_NAME.search(finding.code)
    if called is None:
        return None
    name = called.group(1).rpartition(".")[2]
    word = re.escape(name)
    bare = re.compile(
        rf"""["'](?:[\w.]*\.)?{word}["']"""
        rf"""|[=(,\[{{:]\s{{0,4}}(?:\w+\.){{0,4}}{word}\s{{0,4}}(?:[,)\]}};]|$)""",
        re.MULTILINE,
    )
    return name if len(name) > 2 and bare.search(window) else None
