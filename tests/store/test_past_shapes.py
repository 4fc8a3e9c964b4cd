"""Earlier shapes of files: kept where something was last seen in them, and only the last few."""

from dataclasses import replace

from appsecgate.store.files import PAST_SHAPES
from appsecgate.store.scans import FileShape
from tests.store.ledger import PROJECT, LedgerCase, make_finding


class PastShapesTest(LedgerCase):
    def put(self, sha256: str) -> None:
        with self.store.write() as writer:
            writer.put_shapes(PROJECT, [FileShape("a.py", sha256, sha256.encode(), "")])

    def past(self, sha256: str) -> bytes | None:
        with self.store.read() as reader:
            return reader.past_shape(PROJECT, "a.py", sha256)

    def test_a_shape_is_kept_where_a_finding_was_last_seen_in_it(self) -> None:
        self.scan([replace(make_finding("one"), file_path="a.py")])
        with self.store.read() as reader:
            seen = reader.findings(PROJECT)[0].source_sha256
        self.put(seen)
        self.put("other")
        self.put("third")
        self.assertEqual(self.past(seen), seen.encode() if seen else None)
        self.assertIsNone(self.past("other"), "nothing was found in it")
        self.assertEqual(self.past("third"), b"third")
        self.assertGreater(PAST_SHAPES, 1)
