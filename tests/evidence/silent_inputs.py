"""Files about which at least one scanner says "clean" without having looked, each with what must be said instead.

Measured on the plain scanners: exit status 0, no findings, no error. ``reason`` is the evidence that must name the
file; without one the file holds a weakness, and it must be found.
"""

from dataclasses import dataclass

from appsecgate.model import EvidenceReason as Why
from appsecgate.model import Scanner
from tests.support import AWS_KEY

SEMGREP, SECRETS, PIP, CHECKOV = Scanner.SEMGREP, Scanner.DETECT_SECRETS, Scanner.PIP_AUDIT, Scanner.CHECKOV
EVAL = "def f(q):\n    return eval(q)\n"
OTHER_KEY = AWS_KEY[:-1] + "Q"
POD = """apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  containers:
  - name: c
    image: nginx
    securityContext:
      privileged: true
"""
ALIAS_BOMB = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\na: &a [x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{','.join(['*' + chr(97 + level)] * 9)}]\n" for level in range(9)
)
BUCKET = 'resource "aws_s3_bucket" "b" {\n  bucket = "x"\n  acl    = "public-read"\n}\n'


@dataclass(frozen=True, slots=True)
class Silent:
    what: str
    scanner: Scanner
    path: str
    content: bytes
    reason: Why | None = None
    also: tuple[Why, ...] = ()
    """Other reasons that are as true."""
    beside: tuple[tuple[str, str], ...] = ()
    """Other files that it takes: (path, content); ``-> target`` for a link."""
    found: int = 1
    """How many findings there must be at least, where ``reason`` is none."""


def _silent(
    what: str, scanner: Scanner, path: str, content: str | bytes, reason: Why | None = None, *also: Why
) -> Silent:
    return Silent(what, scanner, path, content if isinstance(content, bytes) else content.encode(), reason, also)


ENCODINGS = (
    _silent("UTF-16 with its mark", SEMGREP, "enc/a.py", EVAL.encode("utf-16")),
    _silent("UTF-16, the other way round", SEMGREP, "enc/b.py", b"\xfe\xff" + EVAL.encode("utf-16-be")),
    _silent("UTF-16 without a mark", SEMGREP, "enc/c.py", EVAL.encode("utf-16-le")),
    _silent("UTF-32", SEMGREP, "enc/d.py", EVAL.encode("utf-32")),
    _silent("a byte order mark", SEMGREP, "enc/e.py", b"\xef\xbb\xbf" + EVAL.encode()),
    _silent("carriage returns alone", SEMGREP, "enc/f.py", EVAL.replace("\n", "\r")),
    _silent("Latin-1", SEMGREP, "enc/g.py", f"# \xe9\n{EVAL}".encode("latin-1")),
    _silent("a NUL in source", SEMGREP, "enc/h.py", f"x = 1\0\n{EVAL}", Why.BINARY),
    _silent("a program under a source's name", SEMGREP, "enc/i.js", b"\x7fELF\2\1\1\0\0\0" * 40, Why.BINARY),
    _silent("UTF-7: code in what looks like a comment", SEMGREP, "enc/j.py", "# coding: utf-7\nx = 1\n", Why.BINARY),
    _silent("a secret in Latin-1", SECRETS, "enc/k.txt", f"\xe9 {AWS_KEY}\n".encode("latin-1")),
    _silent("a secret in UTF-16", SECRETS, "enc/l.txt", f"key {AWS_KEY}\n".encode("utf-16")),
    _silent("a NUL in a list of secrets", SECRETS, "enc/m.txt", f"{AWS_KEY}\0\n", Why.BINARY),
    _silent("the same without an extension", SECRETS, "enc/keys", f"user = a\0\nkey = {AWS_KEY}\n" * 9, Why.BINARY),
)
NAMES = (
    _silent("an extension in capitals", SEMGREP, "names/A.PY", EVAL),
    _silent("a rare extension", SEMGREP, "names/w.pyw", EVAL),
    _silent("no extension, not executable", SEMGREP, "names/run", f"#!/usr/bin/env python3\n{EVAL}"),
    _silent("a name that says minified", SEMGREP, "names/x.min.js", "eval(location.hash);\n"),
    _silent("a directory called tests", SEMGREP, "tests/t.py", EVAL),
    _silent("a directory called build", SEMGREP, "build/b.py", EVAL),
    _silent("JavaScript in a page", SEMGREP, "names/x.html", "<p>é</p><script>eval(location.hash)</script>\n"),
    _silent("JavaScript in a component", SEMGREP, "names/x.vue", "<script>\neval(location.hash)\n</script>\n"),
    _silent("a notebook", SEMGREP, "names/x.ipynb", '{"cells": [{"source": ["eval(input())"]}]}', Why.NO_RULES),
    _silent("a script whose data looks like an address", SEMGREP, "pages/a.html", "<script data-src=x>eval(a)</script>\n"),
    _silent("a script with long attributes", SEMGREP, "pages/b.html", f"<script x='{'a' * 3000}'>eval(a)</script>\n"),
    _silent("a script of an old type", SEMGREP, "pages/c.html", "<script type=application/x-javascript>eval(a)</script>\n"),
    _silent("code in a handler", SEMGREP, "pages/d.html", '<b onclick="eval(location.hash)">\n', Why.PARTIAL, Why.NO_RULES),
    _silent("code in an address", SEMGREP, "pages/e.html", '<a href="javascript:eval(a)">\n', Why.PARTIAL, Why.NO_RULES),
    _silent("code in a component's handler", SEMGREP, "pages/f.vue", '<b @click="eval(a)"></b><script>a()</script>', Why.PARTIAL),
    _silent("a script of a strange type", SEMGREP, "pages/g.html", "<script type=x/y>eval(a)</script>\n", Why.PARTIAL, Why.NO_RULES),
    _silent("a script in a picture", SEMGREP, "pages/h.svg", "<svg><script>eval(a)</script></svg>\n", Why.NO_RULES),
    _silent("a script in a template", SEMGREP, "pages/i.j2", "<script>eval(a)</script>\n", Why.NO_RULES),
    _silent("a script in PHP", SEMGREP, "pages/j.php", "<script>eval(a)</script><?php f(); ?>\n", Why.PARTIAL),
    _silent("PHP behind markup", SEMGREP, "pages/k.inc", '<p></p>\n<?php eval($_GET["x"]); ?>\n'),
    _silent("an interpreter with a suffix", SEMGREP, "names/run-dbg", f"#!/opt/bin/python3-dbg\n{EVAL}"),
    _silent("an interpreter behind others", SEMGREP, "names/run-nice", f"#!/usr/bin/env -S nice python3\n{EVAL}"),
    _silent("an unknown interpreter", SEMGREP, "names/run-odd", "#!/opt/bin/odd\nx\n", Why.NO_RULES),
    _silent("an import when Python starts", SEMGREP, "names/evil.pth", "import os; eval(input())\n"),
    _silent("Python with commands", SEMGREP, "names/x.sage", EVAL, Why.NO_RULES),
    _silent("a composite action", SEMGREP, "names/action.yml", "runs:\n  using: composite\n", Why.NO_RULES),
    _silent("a language without rules", SEMGREP, "names/x.rs", "fn main() {}\n", Why.NO_RULES),
    _silent("a language without a parser", SEMGREP, "names/x.pl", "print 1;\n", Why.NO_RULES),
    _silent("a page of another language", SEMGREP, "names/x.jsp", "<% x(); %>\n", Why.NO_RULES),
    _silent("a path with swagger in it", SECRETS, "swagger/keys.txt", f"{AWS_KEY}\n"),
    _silent("a lock file", SECRETS, "names/package-lock.json", f'{{"a": "{AWS_KEY}"}}\n'),
    _silent("an extension taken for binary", SECRETS, "names/x.svg", f"<!-- {AWS_KEY} -->\n"),
    _silent("capitals", CHECKOV, "tf/a/main.TF", BUCKET),
    _silent("the other Dockerfile", CHECKOV, "docker/Containerfile", "FROM ubuntu:22.04\nUSER root\n"),
    _silent("a Dockerfile with a suffix", CHECKOV, "docker/Dockerfile-prod", "FROM ubuntu:22.04\nUSER root\n"),
    _silent(
        "a workflow that lies elsewhere", CHECKOV, "ci/deploy.yml",
        "on: push\njobs:\n  b:\n    runs-on: x\n    steps:\n    - run: echo\n",
    ),
)  # fmt: skip
BROKEN = (
    _silent("broken Python", SEMGREP, "broken/a.py", f"x = foo(1\n{EVAL}", Why.PARTIAL, Why.PARSE_FAILED),
    _silent("broken JavaScript", SEMGREP, "broken/a.js", "function ( { var x = ;;; }}}\n", Why.PARTIAL, Why.PARSE_FAILED),
    _silent("broken TypeScript", SEMGREP, "broken/a.ts", "const x: = <<< ;\n", Why.PARTIAL, Why.PARSE_FAILED),
    _silent("broken Go", SEMGREP, "broken/a.go", "package main\nfunc main( {\n", Why.PARTIAL, Why.PARSE_FAILED),
    _silent("broken Java", SEMGREP, "broken/A.java", "class A { void f( { int x = ; }\n", Why.PARTIAL, Why.PARSE_FAILED),
    _silent("broken C", SEMGREP, "broken/a.c", "int main( { return ;;;\n", Why.PARSE_FAILED, Why.PARTIAL),
    _silent("broken PHP", SEMGREP, "broken/a.php", "<?php function ( { ;\n", Why.PARTIAL, Why.PARSE_FAILED),
    _silent("broken Ruby", SEMGREP, "broken/a.rb", "class A\n def b\n  puts (\n", Why.PARSE_FAILED, Why.PARTIAL),
    _silent(
        "a broken script in a component", SEMGREP, "broken/a.vue", '<script lang="ts">\nconst x: = ;\n</script>\n',
        Why.PARTIAL, Why.PARSE_FAILED,
    ),
    _silent("broken Terraform", CHECKOV, "tf/b/main.tf", f"{BUCKET}resource {{\n", Why.PARSE_FAILED),
    _silent("Terraform as JSON", CHECKOV, "tf/c/main.tf.json", '{"resource": {}}\n', Why.UNSUPPORTED_FORMAT),
    _silent(
        "one bad YAML document among good ones", CHECKOV, "k8s/one.yaml",
        f"{POD.format(name='a')}---\n{POD.format(name='b')}  x: [y\n", Why.PARSE_FAILED,
    ),
    _silent("`test: =`", CHECKOV, "k8s/equals.yaml", POD.format(name="a\n  test: ="), Why.PARSE_FAILED),
    _silent("tabs in YAML", CHECKOV, "k8s/tabs.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n", Why.PARSE_FAILED),
    _silent("a Helm template", CHECKOV, "chart/templates/d.yaml", POD.format(name="{{ .Values.x }}"), Why.UNSUPPORTED_FORMAT),
    _silent("Helm values", CHECKOV, "chart/values.yaml", "privileged: true\n", Why.NO_RULES, Why.UNSUPPORTED_FORMAT),
    _silent("a document that is no resource", CHECKOV, "k8s/mixed.yaml", f"{POD.format(name='a')}---\nfoo: 1\n", Why.PARTIAL),
    _silent("an unknown instruction", CHECKOV, "docker/u/Dockerfile", "FROM ubuntu:22.04\nFOO bar\n", Why.PARTIAL),
    _silent("a broken workflow", CHECKOV, ".github/workflows/w.yml", "on: push\njobs:\n  a:\n   steps: [\n", Why.PARSE_FAILED),
    _silent(
        "a broken template", CHECKOV, "cfn/a.yaml",
        'AWSTemplateFormatVersion: "2010-09-09"\nResources:\n  B:\n    Type: AWS::S3::Bucket\n    Properties: [\n',
        Why.PARSE_FAILED,
    ),
    _silent("a broken API", CHECKOV, "api/openapi.yaml", "openapi: 3.0.0\ninfo: [\npaths: {}\n", Why.PARSE_FAILED),
    _silent("a broken playbook", CHECKOV, "play/p.yml", "- hosts: all\n  tasks:\n  - name: [\n", Why.PARSE_FAILED),
    _silent("serverless", CHECKOV, "sls/serverless.yml", "service: x\nprovider: aws\n", Why.UNSUPPORTED_FORMAT),
    _silent("a template in UTF-16", CHECKOV, "docker/v/Dockerfile", "FROM ubuntu:22.04\nUSER root\n".encode("utf-16")),
    _silent("a template in Latin-1", CHECKOV, "docker/w/Dockerfile", b"FROM ubuntu:22.04\n# \xe9\nUSER root\n"),
)  # fmt: skip
VARIABLE_BUCKET = 'variable "acl" {}\nresource "aws_s3_bucket" "b" {\n  acl = var.acl\n}\n'
PUBLIC = 'acl = "public-read"\n'
MODULES = (
    Silent("a weakness in another file of the module", CHECKOV, "mod/a/main.tf", VARIABLE_BUCKET.encode(),
           beside=(("mod/a/terraform.tfvars", PUBLIC),)),
    Silent("values that are taken by themselves", CHECKOV, "mod/b/main.tf", VARIABLE_BUCKET.encode(),
           beside=(("mod/b/x.auto.tfvars", PUBLIC),)),
    Silent("values behind a link", CHECKOV, "mod/c/main.tf", VARIABLE_BUCKET.encode(),
           beside=(("mod/c/terraform.tfvars", "-> ../a/terraform.tfvars"),)),
    Silent("values that cannot be read", CHECKOV, "mod/d/main.tf", VARIABLE_BUCKET.encode(), Why.PARTIAL,
           beside=(("mod/d/terraform.tfvars", "acl = [[[\n"),)),
    Silent("values from outside of the project", CHECKOV, "mod/e/main.tf", VARIABLE_BUCKET.encode(), Why.PARTIAL,
           beside=(("mod/e/terraform.tfvars", "-> ../../../outside.tfvars"),)),
    Silent("an overlay", CHECKOV, "kust/kustomization.yaml",
           b"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../k8s\n", Why.PARTIAL),
)  # fmt: skip
SECRET_PLACES = (
    _silent("a YAML comment", SECRETS, "secret/a.yaml", f"a: 1\n# {AWS_KEY}\n"),
    _silent("a comment in what looks like an ini file", SECRETS, "secret/a.ini", f"[x]\n# old {AWS_KEY}\na = 1\n"),
    _silent("on a line shaped like a call", SECRETS, "secret/b.py", f'k = "{AWS_KEY}"; y = f(x)\n'),
    Silent("two on a line", SECRETS, "secret/two.txt", f"{AWS_KEY} {OTHER_KEY}\n".encode(), found=2),
    _silent("aliases that multiply", SECRETS, "k8s/bomb.yaml", ALIAS_BOMB, Why.PARTIAL),
    _silent("aliases that multiply, again", CHECKOV, "k8s/bomb2.yaml", ALIAS_BOMB, Why.SCANNER_FAILED),
    _silent("allow-listed", SECRETS, "secret/c.py", f'k = "{AWS_KEY}"  # pragma: allowlist secret\n'),
    _silent("told to be ignored", SEMGREP, "secret/d.py", "def f(q):\n    return eval(q)  # nosemgrep\n"),
    _silent("a check skipped by a comment", CHECKOV, "tf/d/main.tf", BUCKET.replace("{\n", "{\n  #checkov:skip=CKV_AWS_20:no\n", 1)),
)
DEPENDENCIES = (
    _silent("unpinned", PIP, "pip/a/requirements.txt", "django>=2\n", Why.UNPINNED_DEPENDENCY),
    _silent("bare names", PIP, "pip/b/requirements.txt", "requests\n", Why.UNPINNED_DEPENDENCY),
    _silent("a URL", PIP, "pip/c/requirements.txt", "foo @ https://example.org/y.zip\n", Why.UNSUPPORTED_DEPENDENCY),
    _silent("version control", PIP, "pip/d/requirements.txt", "git+https://example.org/h.git\n", Why.UNSUPPORTED_DEPENDENCY),
    _silent("editable", PIP, "pip/e/requirements.txt", "-e .\n", Why.UNSUPPORTED_DEPENDENCY),
    _silent("a missing include", PIP, "pip/f/requirements.txt", "-r missing.txt\n", Why.FILE_MISSING),
    _silent("an include from outside", PIP, "pip/g/requirements.txt", "-r /etc/passwd\n", Why.PARTIAL, Why.FILE_MISSING),
    _silent("a private package", PIP, "pip/h/requirements.txt", "privatecorp-thing==1.0\n", Why.UNKNOWN_PACKAGE),
    _silent("a line that is no requirement", PIP, "pip/i/requirements.txt", "requests==2.31.0\n!!\n", Why.PARSE_FAILED),
    _silent("an empty lock", PIP, "pip/j/poetry.lock", "", Why.PARSE_FAILED),
    _silent("a broken lock", PIP, "pip/k/Pipfile.lock", "{", Why.PARSE_FAILED),
    _silent("a broken manifest", PIP, "pip/l/pyproject.toml", "a = [[[\n", Why.PARSE_FAILED),
    _silent("a manifest nested too deep", PIP, "pip/m/pyproject.toml", f"a = {'[' * 5000}{']' * 5000}\n", Why.PARSE_FAILED),
    _silent("a number that Python refuses", PIP, "pip/n/pyproject.toml", f"a = {'9' * 5000}\n", Why.PARSE_FAILED),
    _silent(
        "computed dependencies", PIP, "pip/o/pyproject.toml", '[project]\nname = "x"\ndynamic = ["dependencies"]\n',
        Why.UNSUPPORTED_DEPENDENCY, Why.UNPINNED_DEPENDENCY,
    ),
    _silent("ranges without a lock", PIP, "pip/p/pyproject.toml", '[tool.poetry.dependencies]\ndjango = "^3"\n', Why.UNPINNED_DEPENDENCY),
    _silent("a marker that is false here", PIP, "pip/q/requirements.txt", 'requests==2.19.0 ; python_version < "3"\n'),
    _silent("a platform that is not ours", PIP, "pip/r/requirements.txt", 'requests==2.19.0 ; sys_platform == "win32"\n'),
    _silent("in an included file", PIP, "pip/s/requirements.txt", "-r ../q/requirements.txt\n"),
    _silent("in Latin-1", PIP, "pip/t/requirements.txt", "# \xe9\nrequests==2.19.0\n".encode("latin-1")),
    _silent("versions that contradict", PIP, "pip/u/requirements.txt", "requests==2.31.0\nrequests==2.19.0\n"),
)  # fmt: skip
ALL = (*ENCODINGS, *NAMES, *BROKEN, *MODULES, *SECRET_PLACES, *DEPENDENCIES)
