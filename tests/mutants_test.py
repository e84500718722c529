"""The verb mutants: all of the product's broken twins are caught, and one that is not broken survives.

mutants_test.py SUITES_ALL SYNTHETIC
"""

import collections
import re
import sys
import unittest

from tests.command_line import Suite

ALL = Suite(sys.argv.pop(1))
SYNTHETIC = Suite(sys.argv.pop(1))

LINE = re.compile(r"^  (\w+)\.(\w+) +(caught  |SURVIVED)  (.*)$", re.M)


class Mutants(unittest.TestCase):
    def test_all_of_the_products_are_caught(self):
        code, out, err = ALL("mutants", "--device=cpu", "--preset=smoke")
        self.assertEqual(code, 0, out + err)
        twins = LINE.findall(out)
        per_operator = collections.Counter(operator for operator, *_ in twins)
        for operator in ("rms_norm", "swiglu"):
            self.assertGreaterEqual(per_operator[operator], 6)
        for operator, fault, verdict, by in twins:
            with self.subTest(f"{operator}.{fault}"):
                self.assertEqual(verdict, "caught  ")
                self.assertRegex(by, rf"^by {operator}/\S+: \S")
        self.assertIn(f"{len(twins)} mutants, {len(twins)} caught, 0 survived", out)

    def test_one_that_is_right_survives(self):
        code, out, err = SYNTHETIC("mutants", "--device=cpu", "--operator=good_at_the_end")
        self.assertEqual(code, 11, out + err)
        self.assertEqual({fault: verdict.strip() for _, fault, verdict, _ in LINE.findall(out)},
                         {"right": "SURVIVED", "wrong": "caught", "crashes": "caught"})
        self.assertRegex(out, r"good_at_the_end\.right +SURVIVED  none of 4 cases rejected it")
        self.assertRegex(out, r"good_at_the_end\.crashes +caught .*killed by signal 11")
        self.assertIn("3 mutants, 2 caught, 1 survived", out)

    def test_an_operator_without_mutants_is_refused(self):
        code, _, err = SYNTHETIC("mutants", "--device=cpu", "--operator=writes_nothing")
        self.assertEqual(code, 13)
        self.assertEqual(err, "tigon: operator writes_nothing has no mutants\n")


if __name__ == "__main__":
    unittest.main()
