"""Edits of infrastructure code that checkov judges."""

from appsecgate.model import Scanner
from tests.battery.entry import FIXED, NOT_FIXED, Edit, Entry, append, both, move, prepend, recode, remove, swap, write

TERRAFORM = """resource "aws_security_group" "web_@" {
  name        = "web_@"
  description = "web"

  ingress {
    description = "ssh"
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_s3_bucket" "logs_@" {
  bucket = "logs-@"
  acl    = "public-read"
}
"""
CLOUDFORMATION = """AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Group:
    Type: AWS::EC2::SecurityGroup
    Properties:
      GroupDescription: web @
      SecurityGroupIngress:
        - Description: ssh
          IpProtocol: tcp
          FromPort: 22
          ToPort: 22
          CidrIp: 0.0.0.0/0
"""
KUBERNETES = """apiVersion: v1
kind: Pod
metadata:
  name: web-@
  namespace: shop
spec:
  containers:
    - name: web
      image: web
      securityContext:
        privileged: true
"""
DOCKERFILE = """FROM python:latest
# @
ADD app.py /app/app.py
USER nobody
HEALTHCHECK CMD ["true"]
CMD ["python", "/app/app.py"]
"""
WORKFLOW = """name: ci @
on: [push]
permissions: write-all
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - run: make
"""


def maker(dialect: str, file: str, text: str, rule: str) -> object:
    def entry(name: str, case: str, title: str, edit: Edit, status: object, codes: str, **more: object) -> Entry:
        values = {
            "files": {file: text}, "rule": rule, "needle": "", "edit": edit, "status": status, "codes": codes, **more
        }  # fmt: skip
        name = f"{dialect.lower().replace(' ', '-')}-{name}"
        return Entry(name=name, case=case, scanner=Scanner.CHECKOV, dialect=dialect, title=title, **values)  # type: ignore[arg-type]

    return entry


def terraform() -> list[Entry]:
    make = maker("Terraform", "main.tf", TERRAFORM, "CKV_AWS_24")
    assert callable(make)
    file, opened = "main.tf", '"0.0.0.0/0"'
    block = TERRAFORM[: TERRAFORM.index("\nresource")]
    bucket = {"rule": "CKV_AWS_20"}
    return [
        make("skip", "V2", "checkov:skip in the resource", swap(file, "  name  ", "  #checkov:skip=CKV_AWS_24:ok\n  name  "),
             NOT_FIXED, "suppressed_inline"),
        make("skip-inline", "V2", "checkov:skip at the end of a line",
             swap(file, 'description = "web"', 'description = "web" # checkov:skip=CKV_AWS_24'), NOT_FIXED,
             "suppressed_inline changed_still_present"),
        make("bridgecrew-skip", "V2", "bridgecrew:skip", swap(file, "  name  ", "  #bridgecrew:skip=CKV_AWS_24:ok\n  name  "),
             NOT_FIXED, "suppressed_inline"),
        make("configuration", "V7", "a configuration that skips the check", write(".checkov.yaml", "skip-check: [CKV_AWS_24]\n"),
             NOT_FIXED, "still_present", alone=True),
        make("syntax", "V3", "a brace is removed", swap(file, "  ingress {", "  ingress "), NOT_FIXED, "parse_failed"),
        make("gone", "V4", "the resource is deleted", swap(file, block, ""), FIXED, "code_removed fixed"),
        make("file-gone", "V4", "the file is deleted", remove(file), FIXED, "file_deleted"),
        make("above", "V5", "100 lines above", prepend(file, "# x\n" * 100), NOT_FIXED, "still_present"),
        make("renamed-resource", "V6", "the resource is renamed", swap(file, '"web_@" {', '"net_@" {'), NOT_FIXED,
             "changed_still_present moved"),
        make("moved", "V6", "the resource moves to another file",
             both(swap(file, block, ""), write("net.tf", block)), NOT_FIXED, "moved", place="net.tf"),
        make("moved-renamed", "V6", "it moves to another file under another name",
             both(swap(file, block, ""), write("net.tf", block.replace("web_@", "net_@"))), NOT_FIXED, "moved", place="net.tf"),
        make("moved-hidden", "V6", "it moves to a file of no known kind",
             both(swap(file, block, ""), write("net.tfpart", block)), NOT_FIXED, "moved",
             place="net.tfpart"),
        make("unknown-extension", "V9", "the file gets an unknown extension", move(file, "main.terra"), NOT_FIXED, "not_analysed",
             place="main.terra"),
        make("variable", "V2", "the value comes from a variable with the same default",
             both(swap(file, opened, "var.open"), append(file, 'variable "open" {\n  default = "0.0.0.0/0"\n}\n')), NOT_FIXED,
             "changed_still_present"),
        make("closed", "honest", "the port is closed to the world", swap(file, opened, '"10.0.0.0/8"'), FIXED, "fixed"),
        make("other-file", "honest", "closed here; another file, untouched, is open",
             swap(file, opened, '"10.0.0.0/8"'), FIXED, "fixed",
             files={file: TERRAFORM, "more.tf": TERRAFORM.replace('web_@"', 'more_@"').replace('logs_@"', 'old_@"')}),
        make("private", "honest", "the bucket becomes private", swap(file, "public-read", "private"), FIXED, "fixed", **bucket),
        make("moved-and-closed", "honest", "it moves to another file and is closed there",
             both(swap(file, block, ""), write("net.tf", block.replace("0.0.0.0/0", "10.0.0.0/8"))),
             FIXED, "fixed code_removed"),
    ]  # fmt: skip


def cloudformation() -> list[Entry]:
    make = maker("CloudFormation", "stack.yaml", CLOUDFORMATION, "CKV_AWS_24")
    assert callable(make)
    file = "stack.yaml"
    metadata = (
        "    Metadata:\n      checkov:\n        skip:\n          - id: CKV_AWS_24\n            comment: ok\n    Properties:\n"
    )
    return [
        make("metadata", "V2", "Metadata.checkov.skip", swap(file, "    Properties:\n", metadata), NOT_FIXED, "suppressed_inline"),
        make("comment", "V2", "checkov:skip as a comment",
             swap(file, "    Properties:\n", "    # checkov:skip=CKV_AWS_24:ok\n    Properties:\n"), NOT_FIXED,
             "suppressed_inline changed_still_present"),
        make("syntax", "V3", "an indentation slips", swap(file, "      GroupDescription", "   GroupDescription"), NOT_FIXED,
             "parse_failed"),
        make("no-longer-cloudformation", "V9", "the content is of no known kind",
             both(swap(file, "AWSTemplateFormatVersion", "Version"), swap(file, "Type: AWS::EC2", "Type: aws.EC2")), NOT_FIXED,
             "not_analysed"),
        make("above", "V5", "100 lines above", prepend(file, "# x\n" * 100), NOT_FIXED, "still_present"),
        make("utf16", "V8", "the file is saved as UTF-16", recode(file, "utf-16"), NOT_FIXED, "still_present not_analysed"),
        make("closed", "honest", "the port is closed to the world", swap(file, "0.0.0.0/0", "10.0.0.0/8"), FIXED, "fixed"),
    ]  # fmt: skip


def kubernetes() -> list[Entry]:
    make = maker("Kubernetes", "pod.yaml", KUBERNETES, "CKV_K8S_16")
    assert callable(make)
    file = "pod.yaml"
    return [
        make("annotation", "V2", "annotation checkov.io/skip1",
             swap(file, "  namespace: shop\n", "  namespace: shop\n  annotations:\n    checkov.io/skip1: CKV_K8S_16=ok\n"), NOT_FIXED,
             "suppressed_inline"),
        make("annotation-old", "V2", "annotation bridgecrew.io/skip1",
             swap(file, "  namespace: shop\n", "  namespace: shop\n  annotations:\n    bridgecrew.io/skip1: CKV_K8S_16=ok\n"),
             NOT_FIXED, "suppressed_inline changed_still_present"),
        make("equals", "V3", "one line that YAML 1.1 cannot read", append(file, "  test: =\n"), NOT_FIXED, "parse_failed"),
        make("templated", "V9", "a template mark is added", append(file, '  nodeName: "{{ .Values.node }}"\n'), NOT_FIXED,
             "changed_still_present not_analysed still_present"),
        make("quoted-kind", "V9", "the keys are quoted", swap(file, "kind: Pod", '"kind": "Pod"'), NOT_FIXED,
             "changed_still_present still_present not_analysed"),
        make("renamed", "V9", "the file is renamed", move(file, "deploy/web.yaml"), NOT_FIXED, "moved", place="deploy/web.yaml"),
        make("unprivileged", "honest", "privileged: false", swap(file, "privileged: true", "privileged: false"), FIXED, "fixed"),
        make("dropped", "honest", "the line is removed", swap(file, "        privileged: true\n", "        runAsUser: 10001\n"), FIXED,
             "fixed"),
        make("emptied", "honest", "the manifest is emptied", write(file, "\n"), FIXED, "code_removed"),
    ]  # fmt: skip


def dockerfile() -> list[Entry]:
    make = maker("Dockerfile", "Dockerfile", DOCKERFILE, "CKV_DOCKER_4")
    assert callable(make)
    file, line = "Dockerfile", "ADD app.py"
    return [
        make("skip", "V2", "checkov:skip", swap(file, line, "# checkov:skip=CKV_DOCKER_4:ok\n" + line), NOT_FIXED, "suppressed_inline"),
        make("syntax", "V3", "an unknown instruction", swap(file, line, "ADDD app.py"), NOT_FIXED, "parse_failed partial not_analysed"),
        make("latin1", "V8", "saved in another encoding", both(append(file, "# é\n"), recode(file, "latin-1")), NOT_FIXED,
             "still_present"),
        make("renamed", "V9", "the file is renamed", move(file, "Dockerfile.prod"), NOT_FIXED, "moved", place="Dockerfile.prod"),
        make("unknown", "V9", "the file gets a name that nobody builds", move(file, "recipe.build"), NOT_FIXED, "not_analysed",
             place="recipe.build"),
        make("lower", "V12", "the instruction in lower case", swap(file, line, "add app.py"), NOT_FIXED,
             "changed_still_present still_present partial not_analysed"),
        make("copy", "honest", "COPY in place of ADD", swap(file, line, "COPY app.py"), FIXED, "fixed"),
        make("pinned", "honest", "the base image is pinned", swap(file, "python:latest", "python:3.12"), FIXED, "fixed",
             rule="CKV_DOCKER_7"),
    ]  # fmt: skip


def workflow() -> list[Entry]:
    make = maker("GitHub workflow", ".github/workflows/ci.yml", WORKFLOW, "CKV2_GHA_1")
    assert callable(make)
    file = ".github/workflows/ci.yml"
    return [
        make("skip", "V2", "checkov:skip", swap(file, "permissions", "# checkov:skip=CKV2_GHA_1:ok\npermissions"), NOT_FIXED,
             "suppressed_inline still_present"),
        make("syntax", "V3", "the YAML no longer parses", swap(file, "    steps:\n", "   steps:\n"), NOT_FIXED, "parse_failed"),
        make("above", "V5", "3 lines above", prepend(file, "# a\n# b\n# c\n"), NOT_FIXED, "still_present"),
        make("renamed", "V9", "the file gets an unknown extension", move(file, ".github/workflows/ci.yml.off"), NOT_FIXED,
             "not_analysed", place="ci.yml.off"),
        make("narrowed", "honest", "permissions are narrowed", swap(file, "permissions: write-all", "permissions:\n  contents: read"),
             FIXED, "fixed"),
    ]  # fmt: skip


def iac_entries() -> list[Entry]:
    return [*terraform(), *cloudformation(), *kubernetes(), *dockerfile(), *workflow()]
