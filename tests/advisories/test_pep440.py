import itertools
import unittest

from appsecgate.advisories.pep440 import canonical_name, parse_version

# PEP 440's own example of an order, then its corners; every entry is smaller than the next
ASCENDING_TEXT = """
1.dev0 1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 1.0b2.post345.dev456 1.0b2.post345
1.0rc1.dev456 1.0rc1 1.0 1.0+abc.5 1.0+abc.7 1.0+5 1.0+5.0 1.0.post456.dev34 1.0.post456 1.0.15 1.1.dev1 1.1 1.10 2 1!0.1
"""
ASCENDING = ASCENDING_TEXT.split()
SAME = (
    ("1.0", "1"), ("1.0", "1.0.0.0"), ("1.0RC1", "1.0rc1"), ("1.0-rc.1", "1.0c1"), ("v1.0", "1.0"), ("1.0-1", "1.0.post1"),
    ("1.0.r3", "1.0post3"), ("1.0-alpha", "1.0a0"), ("1.0_dev", "1.0.dev0"), ("1.0+Ubuntu-1", "1.0+ubuntu.1"), (" 1.0 ", "1.0"),
    ("0!1.0", "1.0"), ("1.0+01", "1.0+1"),
)  # fmt: skip
NONE = (
    "",
    "x",
    "1.0.x",
    "2004d",
    "1.0+",
    "1..0",
    "1.0a1b2",
    "1.0!2",
    "==1.0",
    "1,0",
    "٣.1",
    "1" * 201,
    "1.0 2.0",
    "1.0\n2",
)


class VersionOrder(unittest.TestCase):
    def test_versions_are_ordered_as_pep_440_says(self) -> None:
        for smaller, larger in itertools.combinations(ASCENDING, 2):
            with self.subTest(smaller=smaller, larger=larger):
                first, second = parse_version(smaller), parse_version(larger)
                assert first is not None and second is not None
                self.assertLess(first.key, second.key)

    def test_spellings_of_one_version_are_equal_and_normalised_alike(self) -> None:
        for one, other in SAME:
            with self.subTest(one=one, other=other):
                first, second = parse_version(one), parse_version(other)
                assert first is not None and second is not None
                self.assertEqual(first.key, second.key)
        spelled = parse_version("1!01.0-RC.2_post3.DEV4+Ubuntu_01")
        assert spelled is not None
        self.assertEqual(spelled.text, "1!1.0rc2.post3.dev4+ubuntu.1")

    def test_text_that_is_no_version_gives_none(self) -> None:
        for text in NONE:
            with self.subTest(text=text):
                self.assertIsNone(parse_version(text))

    def test_prereleases_local_versions_and_majors_are_known(self) -> None:
        for text, prerelease, local, major in (
            ("1.0", False, False, (0, 1)),
            ("2.0rc1", True, False, (0, 2)),
            ("1.0.dev1", True, False, (0, 1)),
            ("3.1.post1", False, False, (0, 3)),
            ("1!0.5+cu118", False, True, (1, 0)),
        ):
            with self.subTest(text=text):
                found = parse_version(text)
                assert found is not None
                self.assertEqual((found.prerelease, found.local, found.major), (prerelease, local, major))

    def test_names_are_normalised_as_pep_503_says(self) -> None:
        for text, want in (("Django", "django"), ("ruamel.yaml_clib", "ruamel-yaml-clib"), ("A__-.b", "a-b")):
            with self.subTest(text=text):
                self.assertEqual(canonical_name(text), want)
