import unittest

from appsecgate.model import EvidenceReason
from appsecgate.scanners.requirements import Include, Requirement, is_public_file, parse_requirements

NONE = EvidenceReason.NONE
UNPINNED = EvidenceReason.UNPINNED_DEPENDENCY
UNSUPPORTED = EvidenceReason.UNSUPPORTED_DEPENDENCY
BROKEN = EvidenceReason.PARSE_FAILED

LINES = (
    ("django==3.2.0", "django", "3.2.0", NONE),
    ("Django == 3.2.0", "django", "3.2.0", NONE),
    ("zope.interface===5.0", "zope-interface", "5.0", NONE),
    ("requests[security,socks]==2.19.0", "requests", "2.19.0", NONE),
    ("requests (==2.19.0)", "requests", "2.19.0", NONE),
    ("requests==2.19.0,>=2", "requests", "2.19.0", NONE),
    ("requests==2.19.0,==2.20", "requests", None, UNSUPPORTED),
    ("requests==2.19,==2.19.0", "requests", "2.19.0", NONE),
    ('django==3.2.0 ; python_version < "3"', "django", "3.2.0", NONE),
    ('django==3.2.0;sys_platform=="win32"', "django", "3.2.0", NONE),
    ('django==3.2.0 ; extra == "a@b"', "django", "3.2.0", NONE),
    ("django==3.2.0 --hash=sha256:aa --hash=sha256:bb", "django", "3.2.0", NONE),
    ("django==3.2.0  # a comment", "django", "3.2.0", NONE),
    ("torch==2.0+cu118", "torch", "2.0+cu118", NONE),
    ("pytz==2004d", "pytz", None, UNSUPPORTED),
    ("django", "django", None, UNPINNED),
    ("django>=3.2", "django", None, UNPINNED),
    ("django~=3.2.0", "django", None, UNPINNED),
    ("django==3.2.*", "django", None, UNPINNED),
    ("django!=3.2.0", "django", None, UNPINNED),
    ("django ; python_version < '3'", "django", None, UNPINNED),
    ("pkg @ https://user:secret@host/pkg-1.0-py3-none-any.whl", "pkg", "1.0", UNSUPPORTED),
    ("pkg@git+https://host/pkg.git@v1", "pkg", None, UNSUPPORTED),
    ("pkg @ file:///tmp/pkg", "pkg", None, UNSUPPORTED),
    ("git+https://host/some/Django.git@main", "django", None, UNSUPPORTED),
    ("git+ssh://git@host/x#egg=Real_Name&subdirectory=y", "real-name", None, UNSUPPORTED),
    ("https://host/x/django-3.2.0.tar.gz", "django", "3.2.0", UNSUPPORTED),
    ("./wheels/django-3.2.0-py3-none-any.whl", "django", "3.2.0", UNSUPPORTED),
    ("C:\\wheels\\x", "x", None, UNSUPPORTED),
    ("-e ./pkg", "pkg", None, UNSUPPORTED),
    ("--editable=git+https://host/x.git#egg=foo", "foo", None, UNSUPPORTED),
    ("-e .[dev]", "", None, UNSUPPORTED),
    (".", "", None, UNSUPPORTED),
    ("pkg==${VERSION}", "", None, UNSUPPORTED),
    ("two words", "", None, BROKEN),
    ("==1.0", "", None, BROKEN),
    ("django=1.0", "django", None, BROKEN),
    ("<html>", "", None, BROKEN),
    ("--no-such-option x", "", None, BROKEN),
)
OPTIONS = "-i https://host/simple\n--extra-index-url=https://u:p@host/simple\n--no-index\n--pre\n-f ./wheels\n--trusted-host x\n--require-hashes"


def only(text: str) -> Requirement:
    (requirement,) = parse_requirements(text).requirements
    return requirement


class Requirements(unittest.TestCase):
    def test_each_form_of_a_line_gives_its_package_version_and_problem(self) -> None:
        for text, name, version, problem in LINES:
            with self.subTest(text=text):
                found = only(text)
                self.assertEqual((found.name, found.version, found.problem), (name, version, problem))

    def test_a_detail_holds_no_url_and_no_credentials(self) -> None:
        for text, *_ in LINES:
            with self.subTest(text=text):
                detail = only(text).detail
                self.assertNotIn("secret", detail)
                self.assertNotIn("//", detail)

    def test_continuations_are_joined_and_count_from_their_first_line(self) -> None:
        text = "# top\n\na==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\nb==\\\n2.0\n# comment \\\nc==3.0\nd==4.0 \\"
        found = [(item.name, item.version, item.line) for item in parse_requirements(text).requirements]
        self.assertEqual(found, [("a", "1.0", 3), ("b", "2.0", 6), ("c", "3.0", 9), ("d", "4.0", 10)])

    def test_includes_and_constraints_are_named_in_every_spelling(self) -> None:
        text = "-r base.txt\n-rbase2.txt\n--requirement=sub/x.txt # c\n--requirement 'a b.txt'\n-c c.txt\n--constraint=d.txt"
        want = [
            ("base.txt", False),
            ("base2.txt", False),
            ("sub/x.txt", False),
            ("a b.txt", False),
            ("c.txt", True),
            ("d.txt", True),
        ]
        includes = parse_requirements(text).includes
        self.assertEqual([(include.target, include.constraint) for include in includes], want)
        self.assertEqual(includes[2], Include("sub/x.txt", 3, False))

    def test_index_options_ask_for_nothing(self) -> None:
        self.assertEqual(parse_requirements(OPTIONS).requirements, ())

    def test_both_branches_of_a_marker_are_kept(self) -> None:
        text = "a==1.0 ; python_version<'3'\na==2.0 ; python_version>='3'"
        self.assertEqual([item.version for item in parse_requirements(text).requirements], ["1.0", "2.0"])

    def test_a_file_of_comments_asks_for_nothing(self) -> None:
        for text in ("", "\n\n", "# nothing\n   # here\n"):
            with self.subTest(text=text):
                self.assertEqual(parse_requirements(text).requirements, ())

    def test_what_lies_beyond_the_limit_is_named(self) -> None:
        found = parse_requirements("a==1\n" * 20_005).requirements
        self.assertEqual((len(found), found[-1].problem), (20_001, EvidenceReason.PARTIAL))

    def test_a_public_file_is_known_by_its_path(self) -> None:
        digest = "ab/cd/" + "0" * 60
        for url, want in (
            (f"https://files.example/packages/{digest}/x-1.0.tar.gz", True),
            (f"https://mirror.example/some/where/packages/{digest}/x-1.0.tar.gz", True),
            ("https://files.example/packages/x-1.0.tar.gz", False),
            (f"file:///packages/{digest}/x-1.0.tar.gz", False),
        ):
            with self.subTest(url=url):
                self.assertIs(is_public_file(url), want)
