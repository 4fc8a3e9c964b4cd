import unittest

from appsecgate.advisories.osv import parse_osv
from appsecgate.advisories.yaml_subset import parse_yaml_subset

RECORD = """\
---
id: PYSEC-2026-9
# a comment
details: "A quoted text that goes
  on, with \\"quotes\\", an \\u00e9 and a break:\\n\\
  and its end."
summary: 'it''s plain '
affected:
- package:
    ecosystem: PyPI
    name: pkg
  ranges:
  - type: ECOSYSTEM
    events:
    - introduced: "0"
    - fixed: 1.10   # a string, not 1.1
  versions: ["1.0", 1.1,'1.2']
aliases:
  - CVE-2026-9
  - GHSA-9
references: []
database_specific: {cwe_ids: [CWE-79], severity: HIGH}
modified: 2026-01-01T00:00:00Z
withdrawn: null
"""
SCALARS = (
    ("a: b c\n  d\n\n  e", "b c d\ne"),
    ("a: |\n  x\n   y\n\n  z\n", "x\n y\n\nz\n"),
    ("a: |-\n  x\n  y\n", "x\ny"),
    ("a: |+\n  x\n\nb: c", "x\n\n"),
    ("a: >\n  x\n  y\n\n  z\n", "x y\nz\n"),
    ("a: >-\n  x\n    code\n  y", "x\n  code\ny"),
    ("a: 'x\n\n  y\n  '", "x\ny "),
    ("a: http://x/#y", "http://x/#y"),
    ("a: x # y", "x"),
    ("a:\n  'q'", "q"),
    ("a: ''", ""),
    ("a:", None),
    ("a: ~", None),
    ("a: true", True),
    ("a: 1.10", "1.10"),
    ("a: -5", "-5"),
    ('a: "\\x41\\u00e9\\U0001f600\\t"', "Aé😀\t"),
)
REFUSED = (
    "a: &x b", "a: *x", "a: !!python/object:os.system b", "<<: *x", "a: [b", "a: 'b", "a: |x\n b", "a: b\na: c", "- a\nb: c", "\ta: b",
    "a: b\n---\nc: d", "%YAML 1.2", "a: {b}", 'a: "\\q"', "a: 'b' c", "- " * 60 + "a",
)  # fmt: skip


class Yaml(unittest.TestCase):
    def test_a_record_is_read(self) -> None:
        document = parse_yaml_subset(RECORD)
        record = parse_osv(document)
        assert isinstance(document, dict)
        self.assertEqual(
            document["details"], 'A quoted text that goes on, with "quotes", an é and a break:\nand its end.'
        )
        self.assertEqual(document["summary"], "it's plain ")
        self.assertEqual(
            (record.id, record.aliases, record.cwe), ("PYSEC-2026-9", ("CVE-2026-9", "GHSA-9"), ("CWE-79",))
        )
        self.assertEqual([event.version for event in record.packages[0].ranges[0]], ["0", "1.10"])
        self.assertFalse(record.withdrawn)

    def test_scalars_read_as_yaml_says(self) -> None:
        for text, want in SCALARS:
            with self.subTest(text=text):
                document = parse_yaml_subset(text)
                assert isinstance(document, dict)
                self.assertEqual(document["a"], want)

    def test_collections_nest(self) -> None:
        for text, want in (
            ("- - a\n  - b\n- c", [["a", "b"], "c"]),
            ("-\n  a: b\n-\n", [{"a": "b"}, None]),
            ("a:\n- b\n- c: d\n  e: f\ng: h", {"a": ["b", {"c": "d", "e": "f"}], "g": "h"}),
            ('"a b": {c: [d, "e, f"], g: {}}', {"a b": {"c": ["d", "e, f"], "g": {}}}),
            ("a: b\r\nc: d\r\n", {"a": "b", "c": "d"}),
            ("", None),
        ):
            with self.subTest(text=text):
                self.assertEqual(parse_yaml_subset(text), want)

    def test_what_is_not_read_is_refused(self) -> None:
        for text in REFUSED:
            with self.subTest(text=text), self.assertRaises(ValueError):
                parse_yaml_subset(text)
