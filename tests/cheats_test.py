"""Every implementation that only looks right is rejected, for its own reason.  cheats_test.py SUITE"""

import sys
import unittest

from tests.command_line import Suite

SUITE = Suite(sys.argv.pop(1))
CPU = ("--preset=smoke", "--device=cpu")

# cheat: what the harness says of it. An error in place of a verdict is a rejection too.
CHEATS = {
    "writes_nothing": "wrong: y0: 96 of 96 elements are NaN",
    "leaves_the_last_element": "wrong: y0: 1 of 96 elements are NaN",
    "writes_past_its_output": r"wrong: 1 of \d+ guard bytes after a block",
    "writes_before_its_output": r"wrong: 1 of \d+ guard bytes before a block",
    "writes_past_its_gradient": r"wrong: 1 of \d+ guard bytes after a block",
    "reads_uninitialised_workspace": "wrong: y0: 96 of 96 elements are NaN",
    "changes_its_input": "wrong: input x was changed",
    "changes_the_gaps_of_its_input": "wrong: input x was changed",
    "changes_the_upstream_gradient": "wrong: upstream gradient of y0 was changed",
    "takes_a_shared_upstream_gradient": "wrong: dx shares memory with upstream gradient of y0",
    "spoils_an_upstream_gradient_of_its_own":
        "wrong: where nobody else holds the upstream gradient: dx has other bits",
    "returns_its_input": "wrong: y0 shares memory with input x",
    "second_output_is_the_first": "wrong: y1 shares memory with y0",
    "right_only_the_first_time": "wrong: in a second run: y0 has other bits",
    "right_until_it_is_timed": "wrong: what the timed launches wrote is wrong: y0: RMS error",
    "caches_by_pointer": "wrong: with new values in the same memory: y0",
    "differs_from_call_to_call": "wrong: in a second run: y0 has other bits",
    "wrong_by_a_few_ulp": "wrong: y0: RMS error .* is over its limit",
    "wrong_in_one_place": "wrong: y0: RMS error .* is over its limit",
    "nan_in_one_place": "wrong: y0: 1 of 96 elements are NaN or infinite",
    "infinite_in_one_place": "wrong: y0: 1 of 96 elements are NaN or infinite",
    "wrong_backward": "wrong: dx: RMS error .* is over its limit",
    "ignores_the_upstream_gradient": "wrong: dx: RMS error .* is over its limit",
    "gives_no_gradient": "wrong: dx: no gradient was given",
    "is_not_differentiable": "error: .*does not require grad",
    "ignores_strides": "wrong: y0: ",
    "output_of_another_dtype": "wrong: y0: dtype is Float, expected BFloat16",
    "output_of_another_shape": "error: .*shape",
    "gradient_of_another_shape": "error: .*invalid gradient",
    "saves_more_than_it_claims": r"wrong: keeps \d+ bytes for the backward, claims at most 0",
    "takes_more_workspace_than_it_claims": r"wrong: takes \d+ bytes of workspace, claims at most",
}
# Only where a run measures does it see these.
TIMED = {"right_until_it_is_timed", "saves_more_than_it_claims", "takes_more_workspace_than_it_claims"}
# Wrong in some cases only: where rows lie apart; where the process has not called it before.
SOMETIMES_RIGHT = {"ignores_strides", "caches_by_pointer"}
NO_CHEATS = {"good", "good_at_the_end", "segfaults", "aborts", "exits", "hangs", "exhausts_memory",
             "wants_too_much", "throws"}


class Cheats(unittest.TestCase):
    def test_all_are_here(self):
        _, out, _ = SUITE("list", *CPU)
        operators = {line.split()[1].split("/")[0] for line in out.splitlines()
                     if line.startswith("  ")}
        self.assertEqual(operators - NO_CHEATS, set(CHEATS))

    def check(self, out, cheats):
        for cheat in sorted(cheats):
            with self.subTest(cheat):
                rows = [r for r in SUITE.rows(out)
                        if r["op"] == cheat and r["implementation"] == "fused"]
                said = [f"{r['status']}: {r['reason']}" for r in rows]
                self.assertTrue(said)
                self.assertRegex("\n".join(said), f"(?m)^{CHEATS[cheat]}")
                if cheat not in SOMETIMES_RIGHT:
                    self.assertFalse({r["status"] for r in rows} - {"wrong", "error"}, said)
                for row in rows:
                    if row["status"] == "wrong":  # no figure for what is not right
                        self.assertEqual((row["time_us"], row["verdict"]), ("", "wrong"))

    def test_verification_rejects_them(self):
        cheats = set(CHEATS) - TIMED
        code, _, _ = SUITE("verify", *CPU, "--out=verified", "--operator", ",".join(sorted(cheats)))
        self.assertEqual(code, 11)
        self.check("verified", cheats)

    def test_measurement_rejects_them(self):
        code, _, _ = SUITE("bench", *CPU, "--dtype=fp32", "--benchmark_repetitions=4",
                           "--out=measured", "--operator", ",".join(sorted(TIMED)))
        self.assertEqual(code, 11)
        self.check("measured", TIMED)

    def test_what_is_right_is_not_rejected(self):
        code, _, err = SUITE("verify", *CPU, "--out=right", "--operator=good,good_at_the_end")
        self.assertEqual(code, 0, err)
        self.assertEqual({r["status"] for r in SUITE.rows("right")}, {"ok"})


if __name__ == "__main__":
    unittest.main()
