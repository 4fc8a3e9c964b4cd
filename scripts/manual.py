"""docs/tools.md, docs/cli.md and docs/configuration.md, from what they are about.

The help texts are laid out here, not by argparse, whose layout differs between versions of Python.
"""

import argparse
import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TOOLS_HEAD = """\
# Tools

Generated from the tools themselves; do not edit. Each answers with `structuredContent` and the same JSON as
text. A call that is refused is a result with `isError` that says what was wrong and what to do.

"""
CONFIGURATION_HEAD = """\
# Configuration

Generated from `appsecgate/settings.py`; do not edit. Strongest first:

1. the command line, then the environment: `APPSECGATE_` and the key in capitals, `_` for `.` and `-`
   (`APPSECGATE_LIMITS_MAX_FILES=5000`; lists with commas);
2. `config.toml` in the data directory, a person's file for all projects;
3. what the agent set with `update_config`, per project;
4. `.appsecgate.toml` in the project;
5. the defaults.

The first two are a person's, and a mistake there is an error. The agent is refused what is not its own to
set; what the repository's file gets wrong is reported by `get_config` and ignored. `suppressions` of all
origins add up.

```toml
[limits]
max_files = 50000

[[suppressions]]
path = "tests/*"          # * also matches /
category = "secret"
reason = "fixtures"
expires = 2030-01-31
```

| key | type | default | who may set it | meaning |
|---|---|---|---|---|
"""
CLI_HEAD = """\
# Command line

Generated from the program itself; do not edit. `python -m appsecgate` or `python appsecgate.py`; without a
command it is the MCP server on stdio. Exit status: 0 done, 1 findings at or over `--fail-on` (or a fix that
is none), 2 usage, 3 incomplete evidence, 4 internal.

"""


def tools_page(_root: Path) -> str:
    """docs/tools.md: the list, then each tool with its arguments, its answer and its hints."""
    cards = [tool.card() for tool in _attribute("appsecgate.tools.registry", "TOOLS")]
    lines = [TOOLS_HEAD, "| tool | what it does |\n|---|---|\n"]
    lines += [f"| [`{card.name}`](#{card.name}) | {card.title} |\n" for card in cards]
    for card in cards:
        lines.append(f"\n## {card.name}\n\n{card.description}\n")
        lines.append(f"\n*{', '.join(_hints(card.annotations))}*\n")
        lines.append(_properties("Argument", card.input_schema))
        lines.append(_properties("Answer", card.output_schema or {}))
    return "".join(lines)


def configuration_page(_root: Path) -> str:
    """docs/configuration.md: every setting with its type, default and limits, and who may set it."""
    lines = [CONFIGURATION_HEAD]
    for spec in _attribute("appsecgate.settings", "SETTINGS"):
        limits = f", {spec.low} to {spec.high}" if spec.high else ""
        wary = _wary_limits(spec)
        default = "" if spec.default is None else f"`{json.dumps(spec.default)}`"
        who = "a person" if spec.reach == "human" else f"anyone{wary}"
        lines.append(f"| `{spec.key}` | {spec.kind}{limits} | {default} | {who} | {_cell_text(spec.doc)} |\n")
    return "".join(lines)


def _wary_limits(spec: Any) -> str:
    low = spec.low if spec.wary_low is None else spec.wary_low
    high = spec.high if spec.wary_high is None else spec.wary_high
    return f"; agent and repository: {low} to {high}" if (low, high) != (spec.low, spec.high) else ""


def _attribute(module: str, name: str) -> Any:
    """A name of the package, looked up when a page is made: while it is being changed it may not import."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, SyntaxError, TypeError, NameError) as error:
        raise ValueError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error


def _hints(annotations: Mapping[str, Any]) -> Iterator[str]:
    yield "changes nothing" if annotations.get("readOnlyHint") else "keeps a record"
    if annotations.get("destructiveHint"):
        yield "replaces what was there"
    if annotations.get("idempotentHint"):
        yield "may be repeated"


def _properties(title: str, schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties", {})
    if not properties:
        return f"\n{title}: none.\n"
    required = schema.get("required", [])
    rows = [f"\n| {title.lower()} | type | meaning |\n|---|---|---|\n"]
    for name, value in properties.items():
        must = " (required)" if title == "Argument" and name in required else ""
        text = _cell_text(value.get("description", ""))
        rows.append(f"| `{name}`{must} | {_type_words(value)} | {text} |\n")
    return "".join(rows)


def _type_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " \\| ".join(f"`{value}`" for value in schema["enum"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(_type_words(each) for each in schema[word])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type_words(schema.get('items', {}))}"
    return str(kind)


def _cell_text(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def cli_page(_root: Path) -> str:
    """docs/cli.md: every subcommand with its arguments."""
    parser = _attribute("appsecgate.cli", "build_parser")()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    about = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    lines = [CLI_HEAD, "Before or after any command:\n", _arguments_table(parser)]
    lines.append("\n| command | what it does |\n|---|---|\n")
    lines += [f"| [`{name}`](#{name}) | {_cell_text(text)} |\n" for name, text in about.items()]
    for name, sub in commands.choices.items():
        lines.append(f"\n## {name}\n\n{_cell_text(sub.description or about.get(name, ''))}\n")
        lines.append(_arguments_table(sub))
    return "".join(lines)


def _arguments_table(parser: argparse.ArgumentParser) -> str:
    rows = [
        f"| {_spelling(action)} | {_cell_text(_help_of(action))} |\n"
        for action in parser._actions
        if action.help is not argparse.SUPPRESS
        and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    ]
    return "\n| argument | meaning |\n|---|---|\n" + "".join(rows) if rows else ""


def _spelling(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return f"`{metavar if action.required else f'[{metavar}]'}`"
    value = "" if action.nargs == 0 else f" {f'[{metavar}]' if action.nargs == '?' else metavar}"
    return f"`{', '.join(action.option_strings)}{value}`"


def _help_of(action: argparse.Action) -> str:
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    if action.choices is not None and not all(str(choice) in text for choice in action.choices):
        text += f": {', '.join(f'`{choice}`' for choice in action.choices)}"
    return text
