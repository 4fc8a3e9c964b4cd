import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from appsecgate.embedded import read_embedded
from appsecgate.model import EvidenceReason, EvidenceState, Json, Scanner, SentinelState, Severity
from appsecgate.process import Completed, Ending
from appsecgate.scanners.base import Batch, Installation, Report
from appsecgate.scanners.checkov import CheckovAdapter, check_facts
from appsecgate.scanners.checkov_layout import CHECKOV_FRAMEWORKS, checkov_groups, checkov_sample_name
from appsecgate.scanners.runner import ScannerRun, run_adapter
from tests.scanners.installed import require_installed
from tests.scanners.staging import StageCase, evidence_of

RUN = Path("/run")
NOBODY = Installation(Scanner.CHECKOV, "0", ("checkov",), python=Path("/nowhere/python"))
BUCKET = 'resource "aws_s3_bucket" "b" {\n  acl = var.acl\n}\n'
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n    - name: c\n      image: i\n      securityContext:\n        privileged: true\n"
WORKFLOW = "on: push\njobs:\n  a:\n    runs-on: x\n    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS: true\n    steps: [{run: x}]\n"
STACK = 'AWSTemplateFormatVersion: "2010-09-09"\nResources:\n  B:\n    Type: AWS::S3::Bucket\n    Properties:\n      AccessControl: PublicRead\n'


def record(path: str, check_id: str = "CKV_X_1", lines: tuple[int, int] = (1, 2), **fields: Json) -> dict[str, Json]:
    base: dict[str, Json] = {
        "check_id": check_id,
        "check_name": "Ensure x",
        "skipped": False,
        "path": path,
        "lines": list(lines),
        "resource": "r.x",
    }
    return {**base, **fields}


class CheckovCase(StageCase):
    def batch(self, files: Mapping[str, str | bytes], *companions: str) -> Batch:
        staged = {path: self.put(path, text) for path, text in files.items()}
        targets = [file for path, file in staged.items() if path not in companions]
        return Batch(tuple(targets), tuple(staged[path] for path in companions))

    def answer(self, batch: Batch, **by_framework: Mapping[str, Any]) -> bytes:
        """The worker's answer: every sample found, every file parsed, but for what is given for a framework."""
        groups: list[Json] = []
        for group in checkov_groups(batch):
            names = [str(RUN / name) for name in group.names]
            usual: dict[str, Any] = {"records": [], "parsed": names, "partial": {}, "error": ""}
            if group.sample:
                usual["records"] = [record(names[0], CHECKOV_FRAMEWORKS[group.framework][1])]
            else:
                usual |= dict(by_framework.get(group.framework, {}))
            groups.append(usual)
        return json.dumps({"worker": 1, "groups": groups}).encode()

    def parse(self, batch: Batch, stdout: bytes, exit_code: int = 0) -> Report:
        completed = Completed((), Ending.EXITED, exit_code, stdout, b"", 1)
        return CheckovAdapter().parse(completed, batch, NOBODY, RUN)


class Layout(CheckovCase):
    def test_odd_names_reach_the_runner_under_names_that_it_takes(self) -> None:
        for path, text, framework, end in (
            ("main.TF", BUCKET, "terraform", ".tf"),
            ("infra/x.tofu", BUCKET, "terraform", ".tf"),
            ("Containerfile", "FROM x\n", "dockerfile", "/Dockerfile"),
            ("Dockerfile-prod", "FROM x\n", "dockerfile", "/Dockerfile"),
            (".github/workflows/a.yml", WORKFLOW, "github_actions", "/.github/workflows/workflow.yaml"),
            ("k8s/-x y;$(z).yml", POD, "kubernetes", "/manifest.yaml"),
            ("pod.json", json.dumps({"apiVersion": "v1", "kind": "Pod"}), "kubernetes", "/manifest.json"),
            ("a.template", STACK, "cloudformation", "/template.yaml"),
            (
                "a.template",
                json.dumps({"AWSTemplateFormatVersion": "1", "Resources": {}}),
                "cloudformation",
                "/template.json",
            ),
        ):
            with self.subTest(path=path):
                groups = [group for group in checkov_groups(self.batch({path: text})) if not group.sample]
                self.assertEqual([group.framework for group in groups], [framework])
                self.assertTrue(groups[0].names[0].endswith(end), groups[0].names)

    def test_a_terraform_module_stays_together_and_other_files_stay_alone(self) -> None:
        batch = self.batch(
            {"a/main.tf": BUCKET, "b/main.tf": BUCKET, "a/vars.tf": "", "p.yaml": POD, "q.yaml": POD}, "a/vars.tf"
        )
        groups = [
            (group.framework, [file.path for _, file in group.files])
            for group in checkov_groups(batch)
            if not group.sample
        ]
        self.assertEqual(
            groups,
            [
                ("terraform", ["a/main.tf", "a/vars.tf"]),
                ("terraform", ["b/main.tf"]),
                ("kubernetes", ["p.yaml"]),
                ("kubernetes", ["q.yaml"]),
            ],
        )

    def test_names_that_become_alike_stay_apart(self) -> None:
        (group,) = [
            g for g in checkov_groups(self.batch({"é.tf": "", "è.tf": "", "A.tf": "", "a.TF": ""})) if not g.sample
        ]
        self.assertEqual(len({name.lower() for name in group.names}), 4)

    def test_each_needed_runner_gets_its_sample_first(self) -> None:
        groups = checkov_groups(self.batch({"main.tf": BUCKET, "p.yaml": POD}))
        self.assertEqual([group.framework for group in groups if group.sample], ["terraform", "kubernetes"])
        self.assertTrue(groups[0].sample and groups[1].sample)
        for framework in CHECKOV_FRAMEWORKS:
            self.assertTrue(read_embedded(checkov_sample_name(framework)))

    def test_the_process_gets_no_path_of_the_project(self) -> None:
        batch = self.batch({"secret-name/main.tf": BUCKET})
        invocation = CheckovAdapter().invocation(batch, NOBODY, RUN, "")
        self.assertEqual(invocation.argv[:3], ("/nowhere/python", "-I", "/run/worker.py"))
        self.assertNotIn(b"secret-name", invocation.files["request.json"])
        self.assertEqual(list(invocation.links.values()), [batch.targets[0].local])

    def test_a_module_names_its_files_as_companions(self) -> None:
        listing = ["main.tf", "vars.TF", "x.tfvars", "README.md", "y.tf.json"]
        source = self.stage.source(self.put("m/main.tf", "").path)
        found = CheckovAdapter().companions("m/main.tf", source, lambda folder: listing if folder == "m" else [])
        self.assertEqual(list(found), ["m/main.tf", "m/vars.TF"])

    def test_what_it_cannot_look_at_is_refused_with_a_reason(self) -> None:
        for path, text, want in (
            ("main.tf", "", EvidenceReason.NONE),
            ("x.tf.json", "{}", EvidenceReason.UNSUPPORTED_FORMAT),
            ("serverless.yml", "service: x\n", EvidenceReason.UNSUPPORTED_FORMAT),
            ("chart/values.yaml", "a: b\n", EvidenceReason.NO_RULES),
            ("chart/Chart.yaml", "name: x\n", EvidenceReason.NOT_APPLICABLE),
            ("main.py", "", EvidenceReason.NOT_APPLICABLE),
            ("notes.yaml", "a: b\n", EvidenceReason.NOT_APPLICABLE),
        ):
            with self.subTest(path=path):
                staged = self.put(path, text)
                self.assertIs(CheckovAdapter().accepts(path, staged.language, staged.kinds), want)


class Reading(CheckovCase):
    def test_findings_come_back_to_their_file_with_our_facts(self) -> None:
        batch = self.batch({"docker/Dockerfile": "FROM x\nUSER root\n"})
        path = str(RUN / "files/0/Dockerfile")
        records = [
            record(path, "CKV_DOCKER_8", (2, 9), resource=f"{path}.USER"),
            record(path, "CKV_DOCKER_2", (0, 2), resource=f"{path}.", skipped=True, comment="why"),
        ]
        found = self.parse(batch, self.answer(batch, dockerfile={"records": records}))
        first, second = found.hits
        self.assertEqual(
            (first.path, first.resource, first.line_start, first.line_end), ("docker/Dockerfile", "USER", 2, 3)
        )
        self.assertEqual((first.severity, first.cwe, first.suppressed_inline), (Severity.MEDIUM, ("CWE-250",), False))
        self.assertIn("last USER", str(first.metadata["remediation"]))
        self.assertEqual(
            (second.resource, second.line_start, second.suppressed_inline, second.metadata["suppress_comment"]),
            ("file", 1, True, "why"),
        )

    def test_one_finding_said_twice_is_one(self) -> None:
        batch = self.batch({"p.yaml": POD})
        path = str(RUN / "files/0/manifest.yaml")
        found = self.parse(
            batch, self.answer(batch, kubernetes={"records": [record(path), record(path), record(path, lines=(3, 4))]})
        )
        self.assertEqual(len(found.hits), 2)

    def test_hits_elsewhere_are_dropped_and_counted(self) -> None:
        batch = self.batch({"p.yaml": POD})
        found = self.parse(batch, self.answer(batch, kubernetes={"records": [record("/etc/passwd"), record("")]}))
        self.assertEqual((found.hits, found.dropped), ((), 2))

    def test_what_was_not_parsed_failed_or_was_cut_is_never_clean(self) -> None:
        path = str(RUN / "files/0/manifest.yaml")
        for answer, want in (
            ({}, EvidenceReason.NONE),
            ({"parsed": []}, EvidenceReason.PARSE_FAILED),
            ({"error": "ValueError", "parsed": []}, EvidenceReason.SCANNER_FAILED),
            ({"error": "timeout", "parsed": []}, EvidenceReason.SCANNER_TIMEOUT),
            ({"partial": {path: "1 of 2 documents"}}, EvidenceReason.PARTIAL),
            ({"parsed": 3, "records": "x", "partial": []}, EvidenceReason.PARSE_FAILED),
        ):
            with self.subTest(answer=answer):
                batch = self.batch({"p.yaml": POD})
                evidence = self.parse(batch, self.answer(batch, kubernetes=answer)).targets["p.yaml"]
                self.assertIs(evidence.reason, want)
                self.assertIs(evidence.state is EvidenceState.APPLIED, want is EvidenceReason.NONE)

    def test_a_runner_that_finds_nothing_of_its_own_in_a_well_formed_file_is_excused(self) -> None:
        batch = self.batch({"p.yaml": POD + "---\nopenapi: 3.0.0\ninfo: {}\n"})
        self.assertEqual({group.framework for group in checkov_groups(batch)}, {"kubernetes", "openapi"})
        one = self.parse(batch, self.answer(batch, openapi={"parsed": []})).targets["p.yaml"]
        both = self.parse(batch, self.answer(batch, openapi={"parsed": []}, kubernetes={"parsed": []})).targets[
            "p.yaml"
        ]
        self.assertEqual((one.reason, both.reason), (EvidenceReason.NONE, EvidenceReason.PARSE_FAILED))

    def test_a_silent_sample_is_a_dead_sentinel_that_names_its_runner(self) -> None:
        batch = self.batch({"main.tf": BUCKET, "p.yaml": POD})
        answer = json.loads(self.answer(batch))
        answer["groups"][1]["records"] = [record("x", "CKV_K8S_16", skipped=True)]
        found = self.parse(batch, json.dumps(answer).encode())
        self.assertEqual(
            (found.sentinel, found.detail), (SentinelState.MISSED, "the kubernetes sample was not reported")
        )

    def test_what_is_no_answer_is_a_failure(self) -> None:
        batch = self.batch({"main.tf": BUCKET})
        good = self.answer(batch)
        for stdout, exit_code in (
            (b"", 0),
            (b"[]", 0),
            (b"{}", 0),
            (b'{"worker": 1, "groups": []}', 0),
            (good, 1),
            (good[:-5], 0),
            (b"\xff" * 9, 0),
            (good.replace(b'"worker": 1', b'"worker": 2'), 0),
        ):
            with self.subTest(stdout=stdout[:20]):
                self.assertIs(self.parse(batch, stdout, exit_code).failure, EvidenceReason.SCANNER_FAILED)

    def test_facts_come_from_the_id_then_from_the_name_then_there_are_none(self) -> None:
        for check_id, name, want in (
            ("CKV_AWS_24", "", "high"),
            ("CKV_NEW_1", "Ensure the thing is not publicly accessible", "high"),
            ("CKV_NEW_1", "Ensure the queue is encrypted with a customer managed key", "low"),
            ("CKV_NEW_1", "Ensure the API uses at least TLS 1.2", "medium"),
            ("CKV_NEW_1", "Ensure something odd", None),
        ):
            with self.subTest(check_id=check_id, name=name):
                self.assertEqual(check_facts(check_id, name).get("severity"), want)


class RealCheckov(CheckovCase):
    tool: Installation

    @classmethod
    def setUpClass(cls) -> None:
        cls.tool = require_installed(Scanner.CHECKOV)

    def check(self, files: Mapping[str, str | bytes], *companions: str) -> ScannerRun:
        batch = self.batch(files, *companions)
        return run_adapter(CheckovAdapter(), self.tool, batch.targets, batch.companions, stage=self.stage)

    def test_every_runner_finds_its_sample_and_accounts_for_a_file_of_its_kind(self) -> None:
        files = {
            "main.tf": BUCKET, "stack.yaml": STACK, "pod.yaml": POD, "Containerfile": "FROM x:latest\n", ".github/workflows/w.yml": WORKFLOW,
            ".gitlab-ci.yml": "job:\n  script: [x]\n", "azure-pipelines.yml": "jobs:\n- job: a\n  container: u:1\n  steps: [{script: x}]\n",
            "bitbucket-pipelines.yml": "image: x:latest\npipelines: {}\n", ".circleci/config.yml": "version: 2.1\njobs: {}\n",
            "arm.json": read_embedded("samples/checkov_arm.json"), "api.yaml": read_embedded("samples/checkov_openapi.yaml"),
            "play.yml": read_embedded("samples/checkov_ansible.yaml"), "main.bicep": read_embedded("samples/checkov_bicep.bicep"),
        }  # fmt: skip
        run = self.check(files)
        self.assertIs(run.sentinel, SentinelState.ALIVE, run.detail)
        self.assertEqual({item.path: str(item.reason) for item in run.targets}, dict.fromkeys(files, ""))
        for path in (
            "main.tf",
            "stack.yaml",
            "pod.yaml",
            "Containerfile",
            ".github/workflows/w.yml",
            "arm.json",
            "api.yaml",
            "play.yml",
            "main.bicep",
        ):
            with self.subTest(path=path):
                self.assertTrue([hit for hit in run.hits if hit.path == path])

    def test_the_findings_are_those_of_the_command_line(self) -> None:
        files = {
            "main.tf": BUCKET,
            "vars.tf": 'variable "acl" {\n  default = "public-read"\n}\n',
            "pod.yaml": POD,
            "stack.yaml": STACK,
            ".github/workflows/w.yml": WORKFLOW,
            "Dockerfile": "FROM x:latest\nUSER root\n",
        }
        run = self.check(files)
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text)
            self.assertEqual(
                sorted((hit.path, hit.rule_id, hit.line_start) for hit in run.hits),
                self.command_line(Path(folder), list(files)),
            )

    def command_line(self, folder: Path, names: list[str]) -> list[tuple[str, str, int]]:
        """What checkov's own command line says about the files, in a private empty directory."""
        for name in ("cwd", "tmp"):
            (folder / name).mkdir()
        frameworks = "terraform,kubernetes,cloudformation,github_actions,dockerfile"
        done = subprocess.run(
            [*self.tool.command, "-f", *(str(folder / name) for name in names), "--framework", frameworks, "-o", "json", "--skip-download"],
            cwd=folder / "cwd", capture_output=True, timeout=300, check=False,
            env={"PATH": os.defpath, "HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp"), "LANG": "C.UTF-8", "CKV_SKIP_PACKAGE_UPDATE_CHECK": "true"},
        )  # fmt: skip
        failed = [item for report in json.loads(done.stdout) for item in report["results"]["failed_checks"]]
        found = [
            (os.path.relpath(item["file_abs_path"], folder), item["check_id"], max(item["file_line_range"][0], 1))
            for item in failed
        ]
        return sorted(found)

    def test_a_variable_of_another_file_of_the_module_counts_and_one_of_another_module_does_not(self) -> None:
        public = 'variable "acl" {\n  default = "public-read"\n}\n'
        files = {
            "a/main.tf": BUCKET,
            "a/vars.tf": public,
            "b/main.tf": BUCKET,
            "b/vars.tf": public.replace("public-read", "private"),
        }
        for companions in ((), ("a/vars.tf", "b/vars.tf")):
            with self.subTest(companions=companions):
                run = self.check(files, *companions)
                self.assertEqual([hit.path for hit in run.hits if hit.rule_id == "CKV_AWS_20"], ["a/main.tf"])

    def test_what_checkov_passes_over_in_silence_is_named(self) -> None:
        silent: dict[str, tuple[str | bytes, EvidenceReason]] = {
            "equals.yaml": (POD + "---\n" + POD + "test: =\n", EvidenceReason.PARSE_FAILED),
            "tabs.yaml": ("apiVersion: v1\nkind: Pod\n\tmetadata: x\n", EvidenceReason.PARSE_FAILED),
            "templates/helm.yaml": ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.x }}\n", EvidenceReason.UNSUPPORTED_FORMAT),
            ".github/workflows/bad.yml": ("on: push\njobs:\n  a:\n steps: [\n", EvidenceReason.PARSE_FAILED),
            "bad/main.tf": ('resource "a" {', EvidenceReason.PARSE_FAILED),
            "bad/stack.yaml": (STACK + "   X: [\n", EvidenceReason.PARSE_FAILED),
            "bad/Dockerfile": ("FROM x\nRUM y\n", EvidenceReason.PARTIAL),
            "latin/Dockerfile": ("FROM x:latest\n# caf\xe9\n".encode("latin-1"), EvidenceReason.NONE),
            "u16/Dockerfile": ("FROM x:latest\n".encode("utf-16"), EvidenceReason.NONE),
            "u16.yaml": (POD.encode("utf-16"), EvidenceReason.NONE),
            "crlf.yaml": (POD.replace("\n", "\r\n"), EvidenceReason.NONE),
            "bom.yaml": (POD.encode("utf-8-sig"), EvidenceReason.NONE),
            "empty/main.tf": ("", EvidenceReason.NONE),
            "empty/Dockerfile": ("# nothing\n", EvidenceReason.NONE),
        }  # fmt: skip
        run = self.check({path: text for path, (text, _) in silent.items()})
        for path, (_, want) in silent.items():
            with self.subTest(path=path):
                self.assertIs(evidence_of(run, path).reason, want)
        found = {hit.path for hit in run.hits}
        self.assertTrue({"latin/Dockerfile", "u16/Dockerfile", "u16.yaml", "crlf.yaml", "bom.yaml"} <= found)

    def test_inline_suppressions_of_every_dialect_are_reported_as_such(self) -> None:
        files = {
            "main.tf": 'resource "aws_s3_bucket" "b" {\n  # checkov:skip=CKV_AWS_21:reviewed\n}\n',
            "pod.yaml": POD.replace(
                "  name: p\n", "  name: p\n  annotations:\n    checkov.io/skip1: CKV_K8S_16=reviewed\n"
            ),
            "stack.yaml": STACK.replace(
                "    Properties",
                "    Metadata:\n      checkov:\n        skip:\n        - id: CKV_AWS_18\n          comment: reviewed\n    Properties",
            ),
            "Dockerfile": "# checkov:skip=CKV_DOCKER_3:reviewed\nFROM x:latest\n",
            ".github/workflows/w.yml": WORKFLOW.replace(
                "    env:\n", "    env:\n      # checkov:skip=CKV_GHA_1:reviewed\n"
            ),
        }
        run = self.check(files)
        silenced = {(hit.path, hit.rule_id) for hit in run.hits if hit.suppressed_inline}
        want = {
            ("main.tf", "CKV_AWS_21"),
            ("pod.yaml", "CKV_K8S_16"),
            ("stack.yaml", "CKV_AWS_18"),
            ("Dockerfile", "CKV_DOCKER_3"),
            (".github/workflows/w.yml", "CKV_GHA_1"),
        }
        self.assertEqual(silenced, want)
        self.assertFalse({(hit.path, hit.rule_id) for hit in run.hits if not hit.suppressed_inline} & want)

    def test_the_repository_cannot_run_code_or_reach_outside(self) -> None:
        with tempfile.TemporaryDirectory() as outside:
            marker = Path(outside) / "marker"
            (Path(outside) / "main.tf").write_text('resource "aws_s3_bucket" "outside" {}\n')
            code = f"open({str(marker)!r}, 'w')\n"
            files = {
                "main.tf": f'{BUCKET}module "a" {{\n  source = "{outside}"\n}}\nmodule "b" {{\n  source = "git::https://127.0.0.1:9/x.git"\n}}\n',
                ".checkov.yaml": "external-checks-dir: [evil]\nskip-check: ['CKV*']\n", ".checkov.yml": "external-checks-dir: [evil]\n",
                "evil/__init__.py": code, "evil/check.py": code, "checkov.py": code, "json.py": code, "sitecustomize.py": code,
            }  # fmt: skip
            batch = self.batch(files)
            run = run_adapter(CheckovAdapter(), self.tool, [batch.targets[0]], stage=self.stage)
            self.assertFalse(marker.exists())
        self.assertIn("CKV_AWS_18", {hit.rule_id for hit in run.hits})
        self.assertFalse([hit for hit in run.hits if "outside" in (hit.resource or "")])
        self.assertEqual(run.dropped, 0)

    def test_a_file_that_hangs_or_floods_checkov_takes_no_other_with_it(self) -> None:
        lines = "".join(f'  l{n} = "${{local.l{n - 1}}}${{local.l{n - 1}}}"\n' for n in range(1, 27))
        bomb = f'locals {{\n  l0 = "xxxxxxxxxxxxxxxx"\n{lines}}}\nresource "aws_s3_bucket" "b" {{\n  bucket = local.l26\n}}\n'
        batch = self.batch({"bomb/main.tf": bomb, "ok/Dockerfile": "FROM x:latest\n"})
        run = run_adapter(CheckovAdapter(group_s=3), self.tool, batch.targets, stage=self.stage)
        self.assertIn(
            evidence_of(run, "bomb/main.tf").reason, {EvidenceReason.SCANNER_TIMEOUT, EvidenceReason.SCANNER_FAILED}
        )
        self.assertIs(evidence_of(run, "ok/Dockerfile").state, EvidenceState.APPLIED)
        self.assertTrue(run.hits)

    def test_strange_paths_are_scanned_and_come_back_as_they_are(self) -> None:
        paths = [
            "a b/Dockerfile",
            "-x/Dockerfile",
            "$(touch x);/Dockerfile",
            "нет/Dockerfile",
            "new\nline/Dockerfile",
            b"\xff\xfe/Dockerfile".decode("utf-8", "surrogateescape"),
        ]
        run = self.check(dict.fromkeys(paths, "FROM x:latest\n"))
        self.assertEqual({item.path for item in run.targets if item.state is EvidenceState.APPLIED}, set(paths))
        self.assertEqual({hit.path for hit in run.hits}, set(paths))
