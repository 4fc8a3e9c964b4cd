"""Grammars that setup saved are found by whoever runs checkov later."""

import sys
import tempfile
import unittest
from pathlib import Path

from appsecgate.embedded import read_embedded
from appsecgate.process import Limits, base_environment, run

DIGEST = "0123456789abcdef" * 4
CALL = "import runpy, sys; sys.prefix = sys.argv[2]; runpy.run_path(sys.argv[1])['use_saved_grammars']()"


class SavedGrammarsTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="appsecgate-test-")
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)
        for name in ("tmp", "prefix/appsecgate-grammars"):
            (self.root / name).mkdir(parents=True)
        (self.root / "worker.py").write_text(read_embedded("workers/checkov.py"), encoding="utf-8")

    def use(self) -> dict[str, bytes]:
        completed = run(
            (sys.executable, "-I", "-c", CALL, str(self.root / "worker.py"), str(self.root / "prefix")),
            cwd=self.root,
            env=base_environment(self.root / "tmp"),
            limits=Limits(20),
        )
        self.assertEqual((completed.exit_code, completed.stderr), (0, b""))
        return {path.name: path.read_bytes() for path in (self.root / "tmp").iterdir()}

    def test_they_are_copied_under_the_name_of_the_present_user(self) -> None:
        saved = self.root / "prefix/appsecgate-grammars"
        (saved / f".lark_cache_some_body_{DIGEST}_3_11.tmp").write_bytes(b"grammar")
        (saved / ".lark_cache_odd").write_bytes(b"odd")
        [(name, content)] = self.use().items()
        self.assertRegex(name, rf"^\.lark_cache_(?!some_body).+_{DIGEST}_3_11\.tmp$")
        self.assertEqual(content, b"grammar")

    def test_there_need_be_none(self) -> None:
        (self.root / "prefix/appsecgate-grammars").rmdir()
        self.assertEqual(self.use(), {})


if __name__ == "__main__":
    unittest.main()
