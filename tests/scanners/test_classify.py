"""What a file is, by its name and its content, never by what the repository says about it."""

import time
import unittest

from appsecgate.scanners.classify import (
    classify,
    file_kinds,
    file_language,
    promises_binary,
    promises_text,
)
from appsecgate.workspace import source_from_bytes

LANGUAGES = (
    ("a.py", "", "python"),
    ("A.PY", "", "python"),
    ("gui.pyw", "", "python"),
    ("stub.pyi", "", "python"),
    ("a.mjs", "", "javascript"),
    ("a.tsx", "", "typescript"),
    ("A.Java", "", "java"),
    ("a.h", "int f(void);\n", "c"),
    ("a.h", "namespace a {\n}\n", "cpp"),
    ("a.hpp", "", "cpp"),
    ("run", "#!/usr/bin/env python3\n", "python"),
    ("run", "#!/usr/bin/env -S FOO=1 node --x\n", "javascript"),
    ("run", "#!/bin/sh -e\n", "bash"),
    ("run", "#!\n", ""),
    ("run", "echo 1\n", ""),
    ("page", "<?php echo 1;", "php"),
    ("Rakefile", "", "ruby"),
    ("Dockerfile", "", "dockerfile"),
    ("Containerfile", "", "dockerfile"),
    ("Dockerfile.dev", "", "dockerfile"),
    ("dockerfile-prod", "", "dockerfile"),
    ("api.Dockerfile", "", "dockerfile"),
    ("dockerfile.py", "", "python"),
    ("Dockerfile.md", "", ""),
    ("main.TF", "", "terraform"),
    ("notes.txt", "", ""),
    (".bashrc", "", "bash"),
    ("legacy.pl", "", "perl"),
)

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n"
CLOUD = "Resources:\n  B:\n    Type: AWS::S3::Bucket\n"
KINDS = (
    ("requirements.txt", "", "manifest"),
    ("requirements-dev.txt", "", "manifest"),
    ("dev-requirements.txt", "", "manifest"),
    ("requirements/base.txt", "", "manifest"),
    ("constraints.txt", "", "manifest"),
    ("a/pyproject.toml", "", "manifest"),
    ("uv.lock", "", "manifest"),
    ("uv.lock", "", "lock"),
    ("pylock.dev.toml", "", "manifest"),
    ("Pipfile.lock", "", "manifest"),
    ("package-lock.json", "", "lock"),
    ("go.sum", "", "lock"),
    ("main.tf", "", "terraform"),
    ("main.TF", "", "terraform"),
    ("main.tf.json", "{}", "terraform"),
    ("Containerfile", "", "dockerfile"),
    ("pod.yaml", POD, "kubernetes"),
    ("pod.YML", POD, "kubernetes"),
    ("pod.json", '{"apiVersion": "v1", "kind": "Pod"}', "kubernetes"),
    ("pod.json", '{"kind":"Pod",\n"apiVersion":"v1"}', "kubernetes"),
    ("list.yaml", "#" * 100_000 + "\n" + POD, "kubernetes"),
    ("t.yaml", POD + "  labels: {{ .Values.a }}\n", "helm"),
    ("charts/a/values.yaml", "a: 1\n", "helm"),
    ("stack.yaml", CLOUD, "cloudformation"),
    ("stack.template", CLOUD, "cloudformation"),
    ("stack.json", '{"Resources": {"B": {"Type": "AWS::S3::Bucket"}}}', "cloudformation"),
    ("stack.yaml", "AWSTemplateFormatVersion: '2010-09-09'\n", "cloudformation"),
    (".github/workflows/ci.yml", "", "github_actions"),
    ("sub/.github/workflows/ci.yaml", "", "github_actions"),
    ("workflows/ci.yml", "on: push\njobs:\n  a:\n    steps: []\n", "github_actions"),
    (".gitlab-ci.yml", "", "gitlab_ci"),
    ("azure-pipelines.yml", "", "azure_pipelines"),
    ("ci/build.yml", "trigger:\n- main\npool:\n  vmImage: x\nsteps:\n- script: a\n", "azure_pipelines"),
    ("main.bicep", "", "bicep"),
    (
        "t.json",
        '{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"}',
        "arm",
    ),
    ("api.yaml", "openapi: 3.0.0\ninfo:\n  title: x\npaths: {}\n", "openapi"),
    ("api.json", '{"swagger": "2.0", "info": {}}', "openapi"),
    ("site.yml", "- hosts: all\n  tasks:\n    - name: x\n", "ansible"),
    ("roles/a/tasks/main.yml", "- name: x\n  apt: name=y\n", "ansible"),
    ("page.html", "<script>eval(x)</script>", "source"),
    ("view.erb", "", "source"),
    ("a.ipynb", "{}", "source"),
    ("a.rs", "", "source"),
)
NOT_KINDS = (
    ("page.html", "<script src=a.js></script>", "source"),
    ("notes.yaml", "kind: of\n", "kubernetes"),
    ("requirements.md", "", "manifest"),
    ("workflows.yml", "on: x\n", "github_actions"),
    ("a.py", "apiVersion: v1\nkind: Pod\n", "kubernetes"),
    ("data.json", '{"text": "Resources"}', "cloudformation"),
)


class ClassifyTest(unittest.TestCase):
    def test_the_language_of_a_file(self) -> None:
        for path, text, language in LANGUAGES:
            with self.subTest(path=path, text=text[:20]):
                self.assertEqual(file_language(path, text), language)
                self.assertEqual(classify(source_from_bytes(path, text.encode())).language, language)

    def test_what_else_a_file_is(self) -> None:
        for path, text, kind in KINDS:
            with self.subTest(path=path, kind=kind):
                self.assertIn(kind, classify(source_from_bytes(path, text.encode())).kinds)

    def test_what_a_file_is_not(self) -> None:
        for path, text, kind in NOT_KINDS:
            with self.subTest(path=path, kind=kind):
                self.assertNotIn(kind, file_kinds(path, text))

    def test_a_utf16_manifest_is_seen_for_what_it_is(self) -> None:
        kind = classify(source_from_bytes("pod.yaml", POD.encode("utf-16")))
        self.assertLessEqual({"text", "kubernetes"}, kind.kinds)

    def test_binary_content_keeps_what_the_name_promised(self) -> None:
        data = bytes(range(256)) * 4
        cases = (
            ("app.py", "python", {"binary", "text", "source"}),
            ("main.tf", "terraform", {"binary", "text", "terraform"}),
            ("requirements.txt", "", {"binary", "text", "manifest"}),
            ("logo.png", "", {"binary"}),
            ("program", "", {"binary"}),
        )
        for path, language, kinds in cases:
            with self.subTest(path):
                kind = classify(source_from_bytes(path, data))
                self.assertEqual((kind.language, set(kind.kinds)), (language, kinds))

    def test_a_name_alone_promises_text_or_denies_it(self) -> None:
        for path, text, binary in (
            ("a.py", True, False),
            (".env.local", True, False),
            ("id_rsa", True, False),
            ("Makefile", True, False),
            ("x.PNG", False, True),
            ("x.whl", False, True),
            ("unknown.xyz", False, False),
        ):
            with self.subTest(path):
                self.assertEqual((promises_text(path), promises_binary(path)), (text, binary))

    def test_a_file_that_was_not_read_counts_as_text_unless_its_name_denies_it(self) -> None:
        self.assertIn("text", file_kinds("dump.xyz"))
        self.assertNotIn("text", file_kinds("movie.mp4"))

    def test_hostile_text_takes_no_long_time(self) -> None:
        for path, text in (
            ("a.html", "<script " * 300_000),
            ("a.yaml", "- " * 1_000_000 + "x"),
            ("a.json", '{"Type":' * 200_000),
            ("a.h", "\n \t" * 500_000),
            ("a.yaml", "apiVersion" * 200_000),
        ):
            with self.subTest(path=path, text=text[:10]):
                begun = time.monotonic()
                file_kinds(path, text)
                self.assertLess(time.monotonic() - begun, 10)
