"""What is shipped beside the code says what it must: the container, the scripts, the licence, the example."""

import json
import os
import re
import subprocess
import tomllib
import unittest
from pathlib import Path

from appsecgate.model import Scanner
from appsecgate.settings import SETTING_BY_KEY

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = (ROOT / "compose.yaml").read_text("utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


class ContainerTest(unittest.TestCase):
    def test_the_service_has_no_network_no_rights_and_a_read_only_root(self) -> None:
        for line in (
            "network_mode: none",
            "read_only: true",
            "cap_drop: [ALL]",
            'security_opt: ["no-new-privileges:true"]',
            'user: "10001:10001"',
            "- appsecgate-data:/data",
        ):
            with self.subTest(line):
                self.assertRegex(COMPOSE, rf"(?m)^ +{re.escape(line)}$")
        self.assertRegex(COMPOSE, r"(?m)^ +- /tmp:size=")
        self.assertNotRegex(COMPOSE, r"privileged: true|ports:|docker\.sock|cap_add")

    def test_the_project_is_mounted_read_only_at_the_hosts_own_path(self) -> None:
        mount = re.search(r"type: bind\n +source: (.*)\n +target: (.*)\n +read_only: true\n", COMPOSE)
        assert mount is not None
        self.assertEqual(mount[1], mount[2])
        self.assertIn("APPSECGATE_PROJECT: ${PROJECT:?", COMPOSE)

    def test_the_image_runs_as_somebody_else_and_keeps_its_data_in_the_volume(self) -> None:
        lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
        self.assertLess(lines.index("USER appsecgate"), lines.index("VOLUME /data"))
        self.assertIn("--uid 10001", DOCKERFILE)
        self.assertIn("APPSECGATE_DATA_DIR=/data", DOCKERFILE)
        self.assertNotRegex(DOCKERFILE, r"FROM \S+:latest|curl|wget|sudo")

    def test_the_image_names_every_scanner_by_a_setting_that_there_is(self) -> None:
        for scanner in Scanner:
            variable = f"APPSECGATE_SCANNERS_{scanner.upper().replace('-', '_')}_COMMAND"
            with self.subTest(scanner):
                self.assertIn(f"{variable}=/opt/appsecgate/bin/{scanner}", DOCKERFILE)
                self.assertIn(f"scanners.{scanner}.command", SETTING_BY_KEY)


class ProjectFilesTest(unittest.TestCase):
    def test_the_package_needs_nothing_and_is_under_the_apache_licence(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        self.assertEqual(project["dependencies"], [])
        self.assertEqual(project["license"], "Apache-2.0")
        self.assertIn("Version 2.0, January 2004", (ROOT / "LICENSE").read_text("utf-8"))

    def test_ci_runs_the_command_of_the_readme(self) -> None:
        script = (ROOT / ".ci/run").read_text("utf-8")
        self.assertTrue(os.access(ROOT / ".ci/run", os.X_OK))
        self.assertTrue(script.rstrip().endswith("exec python3 scripts/test.py"))
        subprocess.run(["bash", "-n", str(ROOT / ".ci/run")], check=True)

    def test_make_prints_every_target_with_its_words(self) -> None:
        makefile = (ROOT / "Makefile").read_text("utf-8")
        targets = re.findall(r"^(\w+):", makefile, re.M)
        described = re.findall(r"^(\w+):.*## +\S", makefile, re.M)
        self.assertEqual(targets, described)
        phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
        assert phony is not None
        self.assertEqual(set(phony[1].split()), set(targets))

    def test_the_scripts_explain_themselves(self) -> None:
        for path in sorted((ROOT / "scripts").glob("*.py")):
            with self.subTest(path.name):
                self.assertTrue(path.read_text("utf-8").startswith('"""'))


class ExampleTest(unittest.TestCase):
    def test_every_pinned_package_of_the_example_has_advisories(self) -> None:
        records = [json.loads(path.read_text("utf-8")) for path in (ROOT / "examples/advisories").glob("*.json")]
        known = {affected["package"]["name"] for record in records for affected in record["affected"]}
        requirements = (ROOT / "examples/vulnerable-shop/requirements.txt").read_text("utf-8").splitlines()
        for line in requirements:
            with self.subTest(line):
                name, pinned, _ = line.partition("==")
                self.assertTrue(pinned)
                self.assertIn(name.lower(), known)

    def test_the_records_are_osv_and_their_source_is_named(self) -> None:
        for path in (ROOT / "examples/advisories").glob("*.json"):
            record = json.loads(path.read_text("utf-8"))
            with self.subTest(path.name):
                self.assertEqual(record["id"], path.stem)
                self.assertRegex(record["modified"], r"\A\d{4}-\d\d-\d\dT.*Z\Z")
                self.assertRegex(record["schema_version"], r"\A1\.")
        words = (ROOT / "examples/advisories/ATTRIBUTION.md").read_text("utf-8")
        self.assertIn("CC-BY-4.0", words)
        self.assertIn("github.com/pypa/advisory-database", words)

    def test_the_example_says_what_each_file_is_for(self) -> None:
        shop = ROOT / "examples/vulnerable-shop"
        words = (shop / "README.md").read_text("utf-8")
        for path in shop.rglob("*"):
            name = path.relative_to(shop).as_posix()
            if path.is_file() and path.name not in ("README.md", "__init__.py"):
                with self.subTest(name):
                    self.assertIn(f"`{name}`", words)


if __name__ == "__main__":
    unittest.main()
