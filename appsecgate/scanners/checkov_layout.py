"""Which files checkov's runners are given, in which groups and under which names.

checkov goes by names: it is silent about ``main.TF``, ``Containerfile`` or a workflow outside ``.github/workflows``.
Each group lies in a directory of its own below the run directory, under a name that the runner takes.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from appsecgate.embedded import embedded_names
from appsecgate.scanners.base import Batch, StagedFile
from appsecgate.scanners.classify import (
    KIND_ANSIBLE,
    KIND_ARM,
    KIND_AZURE_PIPELINES,
    KIND_BICEP,
    KIND_BITBUCKET,
    KIND_CIRCLECI,
    KIND_CLOUDFORMATION,
    KIND_DOCKERFILE,
    KIND_GITHUB_ACTIONS,
    KIND_GITLAB_CI,
    KIND_KUBERNETES,
    KIND_OPENAPI,
    KIND_TERRAFORM,
)

CHECKOV_FRAMEWORKS: Mapping[str, tuple[str, str]] = {
    KIND_TERRAFORM: ("main.tf", "CKV_AWS_24"),
    KIND_CLOUDFORMATION: ("template.yaml", "CKV_AWS_20"),
    KIND_KUBERNETES: ("manifest.yaml", "CKV_K8S_16"),
    KIND_DOCKERFILE: ("Dockerfile", "CKV_DOCKER_8"),
    KIND_GITHUB_ACTIONS: (".github/workflows/workflow.yaml", "CKV_GHA_1"),
    KIND_GITLAB_CI: (".gitlab-ci.yml", "CKV_GITLABCI_2"),
    KIND_AZURE_PIPELINES: ("azure-pipelines.yml", "CKV_AZUREPIPELINES_2"),
    KIND_BITBUCKET: ("bitbucket-pipelines.yml", "CKV_BITBUCKETPIPELINES_1"),
    KIND_CIRCLECI: (".circleci/config.yml", "CKV_CIRCLECIPIPELINES_1"),
    KIND_BICEP: ("main.bicep", "CKV_AZURE_3"),
    KIND_ARM: ("template.json", "CKV_AZURE_3"),
    KIND_OPENAPI: ("api.yaml", "CKV_OPENAPI_4"),
    KIND_ANSIBLE: ("playbook.yaml", "CKV_ANSIBLE_2"),
}
"""Runner (named like our kind) → the file name that it takes, and the check that its sample must fail."""

TERRAFORM_SUFFIXES = (".tf", ".tofu")


@dataclass(frozen=True, slots=True)
class CheckovGroup:
    """One run of one runner: a Terraform module's directory, or a single file."""

    framework: str
    files: tuple[tuple[str, StagedFile], ...]
    """(name below the run directory, file); empty for a sample."""
    sample: str = ""
    """The name below the run directory of the known-bad sample, for a group that is one."""
    values: tuple[tuple[str, StagedFile], ...] = ()
    """A Terraform module's variable files, weakest first."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.sample,) if self.sample else tuple(name for name, _ in self.files)


def checkov_frameworks(kinds: frozenset[str]) -> list[str]:
    """The runners that look at a file of these kinds, in a fixed order."""
    return [framework for framework in CHECKOV_FRAMEWORKS if framework in kinds]


def checkov_groups(batch: Batch) -> list[CheckovGroup]:
    """The samples of every runner that the batch needs, then the batch's files."""
    modules: dict[str, list[StagedFile]] = {}
    values: dict[str, list[StagedFile]] = {}
    single: list[tuple[str, StagedFile]] = []
    for file in batch.targets:
        for framework in checkov_frameworks(file.kinds):
            if framework == KIND_TERRAFORM:
                modules.setdefault(posixpath.dirname(file.path), [])
            else:
                single.append((framework, file))
    for file in (*batch.targets, *batch.companions):
        folder = posixpath.dirname(file.path)
        if folder in modules and is_terraform_source(file.path):
            modules[folder].append(file)
        elif folder in modules and is_terraform_values(file.path):
            values.setdefault(folder, []).append(file)
    needed = {framework for framework, _ in single} | ({KIND_TERRAFORM} if modules else set())
    groups = [
        CheckovGroup(name, (), f"samples/{name}/{staged_name}")
        for name, (staged_name, _) in CHECKOV_FRAMEWORKS.items()
        if name in needed
    ]
    for number, (folder, files) in enumerate(sorted(modules.items())):
        named = tuple(_module_names(f"modules/{number}", files))
        assigned = tuple(_values_names(f"values/{number}", values.get(folder, ())))
        groups.append(CheckovGroup(KIND_TERRAFORM, named, values=assigned))
    for number, (framework, file) in enumerate(single):
        name = f"files/{number}/{_canonical_name_for(framework, file)}"
        groups.append(CheckovGroup(framework, ((name, file),)))
    return groups


def is_terraform_source(path: str) -> bool:
    """A file of the configuration language; the JSON syntax has no runner that looks at single files."""
    return path.lower().endswith(TERRAFORM_SUFFIXES)


def is_terraform_values(path: str) -> bool:
    """A file from which Terraform takes variables without being told to."""
    name = posixpath.basename(path)
    return name in _TERRAFORM_VALUES or name.endswith((".auto.tfvars", ".auto.tfvars.json"))


_TERRAFORM_VALUES = ("terraform.tfvars", "terraform.tfvars.json")


def checkov_sample_name(framework: str) -> str:
    """The shipped sample of a runner, as ``embedded`` names it."""
    return next(name for name in embedded_names(f"samples/checkov_{framework}."))


def _module_names(folder: str, files: Sequence[StagedFile]) -> list[tuple[str, StagedFile]]:
    """Unique names that end in ``.tf``, whatever the letters' case or the alphabet of the project's names is."""
    named = []
    for number, file in enumerate(sorted(set(files), key=lambda file: file.path)):
        stem = re.sub(r"[^A-Za-z0-9_-]", "_", posixpath.splitext(posixpath.basename(file.path))[0])[:60]
        named.append((f"{folder}/{number:04d}_{stem}.tf", file))
    return named


def _values_names(folder: str, files: Sequence[StagedFile]) -> list[tuple[str, StagedFile]]:
    """In the order in which Terraform takes them, the last word counting."""

    def strength(file: StagedFile) -> tuple[int, str]:
        name = posixpath.basename(file.path)
        return (_TERRAFORM_VALUES.index(name) if name in _TERRAFORM_VALUES else len(_TERRAFORM_VALUES)), name

    ordered = sorted(set(files), key=strength)
    return [
        (f"{folder}/{number:04d}.tfvars{'.json' if file.path.endswith('.json') else ''}", file)
        for number, file in enumerate(ordered)
    ]


def _canonical_name_for(framework: str, file: StagedFile) -> str:
    name, _ = CHECKOV_FRAMEWORKS[framework]
    stem, dot, extension = name.rpartition(".")
    if dot and stem and extension == "yaml" and _is_json(file):
        return f"{stem}.json"
    return name


def _is_json(file: StagedFile) -> bool:
    if file.language == "json":
        return True
    if file.language == "yaml":
        return False
    with open(file.local, "rb") as content:
        return content.read(4096).lstrip()[:1] in (b"{", b"[")
