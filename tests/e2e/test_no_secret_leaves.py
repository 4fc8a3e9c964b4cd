"""Ten kinds of secrets are planted, every tool is run, and no byte written or sent holds one of them."""

import os
from pathlib import Path

from tests.support import OSV_EXAMPLES, PACKAGE, ScannerCase, mcp_client, run_cli

_PEM_BODY = "MIIEowIBAAKCAQEAx5V0Jm8Qk2pYb7Zc4vLr9TgWfE1uKdS3hNqXoRjAiBnGtUwP"


def planted() -> dict[str, str]:
    """Kind → secret, put together here so that this file holds none."""
    return {
        "aws": "AKIA" + "Q3EGKZ7N" + "P4ZWXM5T",
        "aws_secret": "wJalrXUtnFEMI" + "K7MDENGbPxRfiCY" + "q8ZtLmWvPk2s",
        "github": "ghp_" + "a8Kd93jfLQ0sXmN27Tz" + "Vb5Rw1yUe6Hc4Gp7d",
        "slack": "xoxb-" + "263594206564-" + "FGqddMF8t08v8N7Oq4i57vs1",
        "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
        + "eyJzdWIiOiIxMjM0NTY3ODkwIn0."
        + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "url": "s3cr3t" + "Pa55w0rd" + "Zx91",
        "password": "hunter2" + "-Zq81x" + "LmPq",
        "azure": "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw" + "==",
        "npm": "npm_" + "Qm8ZrT5vKx2WnB7yLs3" + "DfG9hJ4pC6aE1uV0t",
        "pem": _PEM_BODY,
    }


def _python(s: dict[str, str]) -> str:
    return f'''
import subprocess

aws_access_key_id = "{s["aws"]}"
aws_secret_access_key = "{s["aws_secret"]}"
DATABASE_URL = "postgres://shop:{s["url"]}@db.internal/shop"


def deploy(target):
    token = "{s["github"]}"
    password = "{s["password"]}"
    return subprocess.run("deploy " + target + " {s["password"]}", shell=True)


HEADERS = {{"Authorization": "Bearer {s["jwt"]}"}}
CONN = "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={s["azure"]};EndpointSuffix=core.windows.net"
KEY = """-----BEGIN RSA PRIVATE KEY-----
{s["pem"]}
{s["pem"][::-1]}
-----END RSA PRIVATE KEY-----"""
'''


class NoSecretLeaves(ScannerCase):
    def setUp(self) -> None:
        super().setUp()
        self.secrets = planted()
        self.write("app.py", _python(self.secrets))
        self.write("config.yaml", f"slack: {self.secrets['slack']}\nstripe_key: {self.secrets['stripe']}\n")
        self.write(".npmrc", f"//registry.npmjs.org/:_authToken={self.secrets['npm']}\n")
        self.write(
            "main.tf",
            f'resource "aws_db_instance" "db" {{\n  password = "{self.secrets["password"]}"\n'
            '  publicly_accessible = true\n}\n',
        )
        run_cli(PACKAGE, self.data, "advisories", "import", str(OSV_EXAMPLES))

    def test_no_planted_secret_is_in_any_byte_written_or_sent(self) -> None:
        sent = self._use_every_tool()
        written = {path: path.read_bytes() for path in _files(self.data)}
        self.assertTrue(any(path.name == "appsecgate.db" for path in written))
        for kind, secret in self.secrets.items():
            for name, content in {**{str(p): c for p, c in written.items()}, "wire and stderr": sent}.items():
                with self.subTest(kind=kind, where=name):
                    self.assertNotIn(secret.encode(), content)
                    self.assertNotIn(secret.encode("utf-16-le"), content)

    def _use_every_tool(self) -> bytes:
        s = self.secrets
        with mcp_client(PACKAGE, self.project, self.data) as client:
            found = client.call("scan_project")
            self.assertGreaterEqual(found["summary"]["by_category"]["secret"], 8, found["summary"])
            ids: list[str] = []
            for path in ("app.py", "config.yaml", ".npmrc", "main.tf"):
                ids += [f["logical_id"] for f in client.call("scan_file", path=path)["findings"]]
            for finding_id in ids:
                client.call("get_fix_context", finding_id=finding_id)
            client.call("get_fix_context_batch", finding_ids=ids[:20])
            client.call("verify_fix", finding_id=ids[0], status="wont_fix", note=f"it is only {s['password']}")
            client.call("verify_fix_batch", attempts=[{"finding_id": i, "status": "fixed"} for i in ids[1:8]])
            client.call("query_findings_db", sql="SELECT * FROM v_findings WHERE message <> ?", params=[s["github"]])
            client.refusal("query_findings_db", sql=f"SELECT '{s['aws']}' FROM nowhere")
            client.refusal("get_fix_context", finding_id=s["stripe"])
            client.refusal("scan_file", path=f"/elsewhere/{s['github']}.py")
            client.call("submit_feedback", finding_id=ids[0], verdict="FALSE_POSITIVE", comment=f"not {s['slack']}")
            client.call("suppress_finding", finding_id=ids[1], reason=f"known: {s['aws']}")
            client.call("get_scan_history")
            client.call("get_config")
            client.call("update_config", patch={"project.alias": f"shop {s['github']}"})
            client.refusal("update_config", patch={f"key.{s['stripe']}": 1})
            client.call("export_snapshot", path="all", format="ndjson")
            _, stderr = client.end()
            return client.received + stderr


def _files(root: Path) -> list[Path]:
    found = []
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name != "scanners"]
        found += [Path(directory, name) for name in files]
    return found


