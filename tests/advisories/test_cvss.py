import unittest

from appsecgate.advisories.cvss import cvss2_base_score, cvss3_base_score, severity_of_score, severity_of_word
from appsecgate.advisories.cvss4 import cvss4_score
from appsecgate.model import Severity

# vectors of the specifications' examples and of well-known flaws, with their published scores
CVSS3 = (
    ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8),
    ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 10.0),
    ("CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1),
    ("CVSS:3.0/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 6.4),
    ("CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", 3.1),
    ("CVSS:3.0/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H", 7.8),
    ("CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N", 7.5),
    ("CVSS:3.0/AV:P/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 6.8),
    ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0.0),
    ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:P/RL:O/RC:C", 9.8),
)
CVSS4 = (
    ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 10.0),
    ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 9.3),
    ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N", 6.9),
    ("CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 7.3),
    ("CVSS:4.0/AV:P/AC:H/AT:P/PR:H/UI:A/VC:L/VI:L/VA:L/SC:L/SI:L/SA:L", 1.0),
    ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N", 0.0),
)
ODD = (
    "", "CVSS:3.1/", "CVSS:3.1/AV:N", "CVSS:3.2/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "CVSS:4.0/AV:N",
    "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:X", "CVSS:3.1/AV:N/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
    "CVSS:4.0/AV:NA/AC:L/AT:N/PR:N/UI:N/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N", "9.8", "AV:N/AC:L/Au:N/C:N/I:N", "////",
)  # fmt: skip


class Scores(unittest.TestCase):
    def test_version_3_vectors_score_as_the_specification_says(self) -> None:
        for vector, score in CVSS3:
            with self.subTest(vector=vector):
                self.assertEqual(cvss3_base_score(vector), score)

    def test_version_4_vectors_score_as_the_specification_says(self) -> None:
        for vector, score in CVSS4:
            with self.subTest(vector=vector):
                self.assertEqual(cvss4_score(vector), score)

    def test_version_2_vectors_score_as_the_guide_says(self) -> None:
        for vector, score in (
            ("AV:N/AC:L/Au:N/C:N/I:N/A:C", 7.8),
            ("(AV:N/AC:L/Au:N/C:C/I:C/A:C)", 10.0),
            ("AV:L/AC:H/Au:N/C:C/I:C/A:C", 6.2),
            ("AV:N/AC:L/Au:N/C:N/I:N/A:N", 0.0),
        ):
            with self.subTest(vector=vector):
                self.assertEqual(cvss2_base_score(vector), score)

    def test_a_vector_with_a_missing_or_odd_metric_has_no_score(self) -> None:
        for vector in ODD:
            with self.subTest(vector=vector):
                self.assertEqual((cvss2_base_score(vector), cvss3_base_score(vector), cvss4_score(vector)), (None,) * 3)

    def test_ratings_begin_where_the_specification_lets_them_begin(self) -> None:
        for score, want in (
            (0.0, Severity.INFO), (0.1, Severity.LOW), (3.9, Severity.LOW), (4.0, Severity.MEDIUM), (6.9, Severity.MEDIUM),
            (7.0, Severity.HIGH), (8.9, Severity.HIGH), (9.0, Severity.CRITICAL), (10.0, Severity.CRITICAL),
        ):  # fmt: skip
            with self.subTest(score=score):
                self.assertIs(severity_of_score(score), want)

    def test_the_words_of_databases_are_understood(self) -> None:
        for word, want in (
            ("MODERATE", Severity.MEDIUM),
            (" High ", Severity.HIGH),
            ("CRITICAL", Severity.CRITICAL),
            ("?", None),
        ):
            with self.subTest(word=word):
                self.assertIs(severity_of_word(word), want)
