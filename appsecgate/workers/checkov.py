"""Runs checkov's own runners in checkov's own interpreter: ``python -I checkov.py REQUEST.json``.

The command line says "clean" for files that it never parsed. Here each runner is asked which files it took in,
so that what did not parse is told apart from what has no faults. Every group (a Terraform module's directory,
or one file) is a run of its own in a process of its own: what is found in a file does not depend on what else is
scanned, and a file that crashes or hangs checkov takes no other with it. The groups marked as samples are ours;
they run first, in this process, so that every rule is loaded before the first fork.

Request:  {"groups": [{"framework": "terraform", "files": ["/abs/main.tf", …], "sample": false}, …], "group_s": 30}
Answer on stdout: {"worker": 1, "groups": [{"records": […], "parsed": […], "partial": {path: why}, "error": ""}, …]},
one group for each of the request's.
"""

import importlib
import json
import logging
import os
import selectors
import signal
import sys
import time

WORKER_PROTOCOL = 1
ENVIRONMENT = {
    "CHECKOV_PARALLELIZATION_TYPE": "none",
    "OPENBLAS_NUM_THREADS": "1",
    "BC_SKIP_MAPPING": "TRUE",
    "CKV_SKIP_PACKAGE_UPDATE_CHECK": "true",
    "LOG_LEVEL": "ERROR",
}
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
    prepare()
    answer = {"worker": WORKER_PROTOCOL, "groups": scan_groups(request["groups"], float(request["group_s"]))}
    wire.write(json.dumps(answer).encode())
    wire.close()
    sys.stdout.flush()
    os._exit(0)  # checkov's exit handlers have nothing to do, slowly


def prepare():
    """What checkov's own start-up does without a key and without a network."""
    os.environ.update(ENVIRONMENT)
    sys.argv = ["checkov"]
    logging.disable(logging.WARNING)
    platform = importlib.import_module("checkov.common.bridgecrew.platform_integration").bc_integration
    features = importlib.import_module("checkov.common.bridgecrew.integration_features.integration_feature_registry")
    platform.skip_download = True
    platform.get_platform_run_config()
    features.integration_feature_registry.run_pre_scan()


def scan_groups(groups, group_s):
    """The answers in the order of the groups."""
    answers = [scan_group(group) if group.get("sample") else None for group in groups]
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
        for needed in NEEDED.get(framework, ()):
            importlib.import_module("checkov." + needed + ".runner")
        runner = importlib.import_module("checkov." + framework + ".runner").Runner()
        reports = run(runner, framework, files)
        failed = {str(path) for report in reports for path in report.parsing_errors}
        parsed = [path for path in files if path not in failed and was_parsed(runner, framework, path)]
        return {
            "records": [record for report in reports for record in plain_records(report)],
            "parsed": parsed,
            "partial": {path: why for path in parsed if (why := left_over(runner, framework, path))},
            "error": "",
        }
    except Exception as error:  # one group must not hide the others
        return failed(type(error).__name__)


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
    main(sys.argv[1:])
