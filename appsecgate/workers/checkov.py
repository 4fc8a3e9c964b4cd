"""Runs checkov's own runners in checkov's own interpreter: ``python -I checkov.py REQUEST.json``, or as a program of
``zygote.py``; ``python -I checkov.py --save DIRECTORY`` keeps what takes long to make in checkov's environment.

The command line says "clean" for files that it never parsed. Here each runner is asked which files it took in,
so that what did not parse is told apart from what has no faults. Every group (a Terraform module's directory,
or one file) is a run of its own in a process of its own: what is found in a file does not depend on what else is
scanned, and a file that crashes or hangs checkov takes no other with it. The groups marked as samples are ours;
they run first, in this process, so that every rule is loaded before the first fork.

Request:  {"groups": [{"framework": "terraform", "files": ["/abs/main.tf", …], "sample": false}, …], "group_s": 30}
Answer on stdout: {"worker": 1, "groups": [{"records": […], "parsed": […], "partial": {path: why}, "error": ""}, …]},
one group for each of the request's.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated,misc"
# checkov brings no types for what is used here

import functools
import gc
import getpass
import importlib
import json
import logging
import os
import re
import selectors
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

WORKER_PROTOCOL = 1
ENVIRONMENT = {
    "CHECKOV_PARALLELIZATION_TYPE": "none",
    "OPENBLAS_NUM_THREADS": "1",
    "BC_SKIP_MAPPING": "TRUE",
    "CKV_SKIP_PACKAGE_UPDATE_CHECK": "true",
    "LOG_LEVEL": "ERROR",
}
ANCHORS = re.compile(r"(?:^|[\s\[{,:-])([&*])([^\s\[\]{},]+)", re.MULTILINE)
MOST_VALUES = 1_000_000
GRAMMARS = "appsecgate-grammars"  # a directory of checkov's environment
NEEDED = {"bicep": ("arm",)}  # checks of one framework that register themselves with another
DOCKERFILE_WORDS = (
    "ADD ARG CMD COMMENT COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL"
    " USER VOLUME WORKDIR"
)
DOCKERFILE_INSTRUCTIONS = frozenset(DOCKERFILE_WORDS.split())


def main(arguments):
    """Answer one request; the exit status is 0 whenever an answer was written."""
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever checkov prints goes to stderr
    with open(arguments[0], encoding="utf-8") as file:
        request = json.load(file)
    gc.disable()  # what is loaded stays: looking for garbage in it would take a quarter of the time
    prepare()
    answer = {"worker": WORKER_PROTOCOL, "groups": scan_groups(request["groups"], float(request["group_s"]))}
    wire.write(json.dumps(answer).encode())
    wire.close()
    sys.stdout.flush()
    os._exit(0)  # checkov's exit handlers have nothing to do, slowly


def load(directory):
    """Have every runner and every rule loaded: by the samples in the directory, if there are any."""
    prepare()
    for request in Path(directory).glob("request.json"):
        for group in json.loads(request.read_bytes())["groups"]:
            scan_group({**group, "files": [f"{directory}/{name}" for name in group["files"]]})


def prepare():
    """What checkov's own start-up does without a key and without a network."""
    os.environ.update(ENVIRONMENT)
    sys.argv = ["checkov"]
    start_up()


@functools.cache
def start_up():
    use_saved_grammars()
    logging.disable(logging.WARNING)
    platform = importlib.import_module("checkov.common.bridgecrew.platform_integration").bc_integration
    features = importlib.import_module("checkov.common.bridgecrew.integration_features.integration_feature_registry")
    platform.skip_download = True
    platform.get_platform_run_config()
    features.integration_feature_registry.run_pre_scan()


def save(directory):
    """Have every grammar built over our samples, and keep the results in this environment: Bicep's takes 6 s or more.

    They are pickles. Whoever can write there can change checkov itself, so they are not another thing to trust.
    """
    load(directory)
    Path(sys.prefix, GRAMMARS).mkdir(exist_ok=True)
    for built in Path(tempfile.gettempdir()).glob(".lark_cache_*"):
        draft = Path(sys.prefix, GRAMMARS, "draft")
        shutil.copyfile(built, draft)
        draft.replace(draft.with_name(built.name))


def use_saved_grammars():
    """Copies, where the grammar library looks for them: in the temporary directory, under the user's name."""
    try:
        user = getpass.getuser()
    except Exception:  # as the library does
        user = "unknown"
    for saved in Path(sys.prefix, GRAMMARS).glob(".lark_cache_*"):
        digest = re.search(r"_([0-9a-f]{64}_\d+_\d+\.tmp)$", saved.name)
        if digest:
            shutil.copyfile(saved, Path(tempfile.gettempdir(), f".lark_cache_{user}_{digest[1]}"))


def scan_groups(groups, group_s):
    """The answers in the order of the groups."""
    answers = [scan_group(group) if group.get("sample") else None for group in groups]
    gc.enable()
    for position, group in enumerate(groups):
        if answers[position] is None:
            answers[position] = scan_apart(group, group_s) if hasattr(os, "fork") else scan_group(group)
    return answers


def scan_apart(group, group_s):
    """One run in a child; a child that dies or takes longer than ``group_s`` is an error of its group."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            with os.fdopen(write, "wb") as pipe:
                pipe.write(json.dumps(scan_group(group)).encode())
        finally:
            os._exit(0)
    os.close(write)
    chunks, in_time = read_until(read, time.monotonic() + group_s)
    os.close(read)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return json.loads(b"".join(chunks))
    except ValueError:
        return failed("died" if in_time else "timeout")


def read_until(descriptor, deadline):
    """(chunks, whether the other end closed before the deadline)."""
    chunks = []
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while (left_s := deadline - time.monotonic()) > 0:
            if selector.select(left_s):
                chunk = os.read(descriptor, 1 << 16)
                if not chunk:
                    return chunks, True
                chunks.append(chunk)
    return chunks, False


def failed(error):
    """The answer of a group that says nothing."""
    return {"records": [], "parsed": [], "partial": {}, "error": error}


def scan_group(group):
    """One run of one runner."""
    framework, files = group["framework"], group["files"]
    try:
        if any(expanded_size(path) > MOST_VALUES for path in files if path.endswith((".yaml", ".yml"))):
            return failed("its aliases multiply beyond bounds")
        for needed in NEEDED.get(framework, ()):
            importlib.import_module("checkov." + needed + ".runner")
        runner = importlib.import_module("checkov." + framework + ".runner").Runner()
        values, unread = variable_values(group.get("values") or ())
        if values:
            assign(runner, values)
        reports = run(runner, framework, files)
        unparsed = {str(path) for report in reports for path in report.parsing_errors}
        parsed = [path for path in files if path not in unparsed and was_parsed(runner, framework, path)]
        return {
            "records": [record for report in reports for record in plain_records(report)],
            "parsed": parsed,
            "partial": {path: why for path in parsed if (why := unread or left_over(runner, framework, path))},
            "error": "",
        }
    except Exception as error:  # one group must not hide the others
        return failed(type(error).__name__)


def expanded_size(path):
    """About how many values a YAML file stands for: an anchor weighs as much as what stands until the next one."""
    with open(path, encoding="utf-8", errors="replace") as file:
        marks = ANCHORS.findall(file.read())
    weights, name, weight, total = {}, "", 0, 0
    for mark, word in marks:
        if mark == "&":
            weights[name], name, weight = weight, word, 1
        weight = min(weight + weights.get(word, 1), MOST_VALUES + 1)
        total = min(total + weights.get(word, 1), MOST_VALUES + 1)
    return total


def variable_values(paths):
    """({variable: value as checkov's parser has it}, why some are missing). The last file's word counts."""
    read = importlib.import_module("checkov.terraform.parser_utils").load_or_die_quietly if paths else None
    values, unread = {}, ""
    for path in paths:
        data = read(path, {}, clean_definitions=False)
        if data is None:
            unread = "the values of its variables cannot be read"
        for name, value in (data or {}).items():
            values[name] = value if isinstance(value, list) and not path.endswith(".json") else [value]
    return values, unread


def assign(runner, values):
    """Have the values stand for the variables' defaults: without a directory checkov looks at no file of values."""
    parse = runner._parse_files

    def parse_and_assign(files, errors):
        parse(files, errors)
        for definition in runner.definitions.values():
            for block in definition.get("variable") or ():
                for name, body in block.items():
                    if name in values and isinstance(body, dict):
                        body["default"] = values[name]

    runner._parse_files = parse_and_assign


def run(runner, framework, files):
    """The reports of a run over these files alone."""
    runner_filter = importlib.import_module("checkov.runner_filter").RunnerFilter(
        framework=[framework],
        include_all_checkov_policies=True,
        download_external_modules=False,
        show_progress_bar=False,
    )
    result = runner.run(None, external_checks_dir=None, files=list(files), runner_filter=runner_filter)
    return result if isinstance(result, list) else [result]


def was_parsed(runner, framework, path):
    """Whether the runner holds the file's content; Terraform names what failed, and drops files without blocks."""
    if framework == "terraform" or says_nothing(path):
        return True
    held = {str(getattr(key, "file_path", key)): value for key, value in (runner.definitions or {}).items()}
    return bool(held.get(path))


def says_nothing(path):
    """Whether the file holds blank lines and comments alone."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return all(not line.strip() or line.lstrip().startswith("#") for line in file)


def left_over(runner, framework, path):
    """Why a part of a parsed file was passed over, or ""."""
    if framework == "dockerfile":
        unknown = sorted(set(map(str, runner.definitions.get(path) or ())) - DOCKERFILE_INSTRUCTIONS)
        return "unknown instruction " + unknown[0][:40] if unknown else ""
    if framework == "kubernetes" and path.endswith((".yaml", ".yml")):
        return kubernetes_left_over(path)
    if framework not in ("terraform", "bicep", "arm", "cloudformation") and path.endswith((".yaml", ".yml")):
        documents = load_documents(path)
        if len(documents) > 1:
            return f"only the first of {len(documents)} YAML documents is checked"
    return ""


def kubernetes_left_over(path):
    documents = [item for item in load_documents(path) if item is not None]
    resources = [item for item in documents if isinstance(item, dict) and item.get("kind") and item.get("apiVersion")]
    # an overlay is a recipe for resources, which nobody renders here
    resources = [item for item in resources if not str(item["apiVersion"]).startswith("kustomize.config.k8s.io/")]
    validator = importlib.import_module("checkov.kubernetes.parser.validatior").K8sValidator
    passed_over = [item for item in documents if item not in resources or not validator.is_valid_template(item)[0]]
    if not passed_over:
        return ""
    return f"{len(passed_over)} of {len(documents)} YAML documents are no Kubernetes resource that is checked"


def load_documents(path):
    yaml = importlib.import_module("yaml")
    with open(path, encoding="utf-8") as file:
        return list(yaml.load_all(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def plain_records(report):
    """Failed and skipped checks as plain values."""
    for outcome in ("failed_checks", "skipped_checks"):
        for record in getattr(report, outcome):
            result = record.check_result or {}
            yield {
                "check_id": record.check_id,
                "check_name": record.check_name,
                "skipped": outcome == "skipped_checks",
                "comment": str(result.get("suppress_comment") or ""),
                "path": record.file_abs_path,
                "lines": list(record.file_line_range or [])[:2],
                "resource": str(record.resource),
                "severity": getattr(record.severity, "name", None),
                "guideline": record.guideline,
            }


if __name__ == "__main__":
    if sys.argv[1] == "--save":
        save(sys.argv[2])
    else:
        main(sys.argv[1:])
