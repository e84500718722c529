"""Whatever an operator does to its process costs one row, and no other case.  faults_test.py SUITE"""

import shlex
import signal
import sys
import time
import unittest

from tests.command_line import Suite, is_running, kill, wait_until, workers_of

SUITE = Suite(sys.argv.pop(1))

# Timed in as few rounds as there can be: it is not the figures that matter here.
QUICK = ("--preset", "smoke", "--dtype", "fp32", "--device", "cpu", "--benchmark_repetitions=4")
PASSES = [(i, p) for i in ("fused", "eager") for p in ("forward", "backward", "step")]

# operator: status, signal, what the reason says
FAULTS = {
    "segfaults": ("crash", "SIGSEGV", r"killed by signal 11"),
    "aborts": ("crash", "SIGABRT", r"killed by signal 6"),
    "exits": ("crash", "", r"exited with code 3"),
    "hangs": ("timeout", "", r"no sign of life for 10 s"),
    "exhausts_memory": ("oom", "", r"bad_alloc"),
    "wants_too_much": ("oom", "", r"can't allocate memory"),
    "throws": ("error", "", r"the synthetic operator throws"),
}


class Faults(unittest.TestCase):
    def check_measured(self, rows, operator):
        self.assertEqual([(r["implementation"], r["pass"]) for r in rows], PASSES, operator)
        for row in rows:
            self.assertIn(row["status"], ("ok", "noisy"))
            self.assertGreater(float(row["time_us"]), 0)

    def check_fault(self, rows, operator, status, signal_name, reason):
        self.assertEqual(len(rows), 1, rows)
        row = rows[0]
        self.assertEqual((row["status"], row["signal"], row["stage"]),
                         (status, signal_name, "verify"), row)
        self.assertRegex(row["reason"], reason)
        self.assertEqual(row["time_us"], "")
        self.assertIn(f"'{row['case']}'", row["reproduce"])

    def of(self, rows, operator):
        return [r for r in rows if r["op"] == operator]

    def test_each_fault_costs_one_row(self):
        code, out, _ = SUITE("run", *QUICK, "--timeout=10", "--out=faults", "--operator",
                             ",".join(["good", *FAULTS, "good_at_the_end"]))
        self.assertEqual(code, 12)
        rows = SUITE.rows("faults")
        for operator, expected in FAULTS.items():
            with self.subTest(operator):
                self.check_fault(self.of(rows, operator), operator, *expected)
        for operator in ("good", "good_at_the_end"):
            self.check_measured(self.of(rows, operator), operator)
        self.assertRegex(out, r"9 cases: 2 right, 0 wrong, 7 not measured")

        # The row says how to see it again.
        (row,) = self.of(rows, "segfaults")
        again = shlex.split(row["reproduce"])
        code, _, _ = SUITE(*again[again.index("--") + 1:], "--out=again")
        self.assertEqual(code, 12)
        self.assertEqual([(r["case"], r["status"]) for r in SUITE.rows("again")],
                         [(row["case"], "crash")])

    def start_and_wait_for_the_hanging_case(self, out):
        process = SUITE.start("run", *QUICK, "--timeout=200", f"--out={out}", "--operator",
                              "good,hangs,good_at_the_end")
        SUITE.wait_for_rows(out, "good", len(PASSES))
        time.sleep(1)  # the worker takes the next case at once
        (worker,) = workers_of(process)
        return process, worker

    def test_a_killed_worker_costs_one_row(self):
        process, worker = self.start_and_wait_for_the_hanging_case("killed")
        kill(worker)
        code, _, _ = SUITE.finish(process)
        self.assertEqual(code, 12)
        rows = SUITE.rows("killed")
        self.check_fault(self.of(rows, "hangs"), "hangs", "crash", "SIGKILL", "killed by signal 9")
        for operator in ("good", "good_at_the_end"):
            self.check_measured(self.of(rows, operator), operator)

    def check_stops(self, number):
        out = f"stopped-{number}"
        process, worker = self.start_and_wait_for_the_hanging_case(out)
        process.send_signal(number)
        code, _, err = SUITE.finish(process)
        self.assertEqual(code, 12)
        self.assertIn(f"stopped by signal {int(number)}", err)
        rows = SUITE.rows(out)
        self.check_measured(rows, "good")  # what was measured is kept, and nothing else is there
        self.assertTrue(SUITE.rows(out, "precision.csv"))
        self.assertIn("cpu", SUITE.environment(out)["devices"])
        wait_until(lambda: not is_running(worker))

    def test_sigint_keeps_the_rows_so_far(self):
        self.check_stops(signal.SIGINT)

    def test_sigterm_keeps_the_rows_so_far(self):
        self.check_stops(signal.SIGTERM)

    def test_a_full_disk_is_one_line(self):
        def limit_files():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        code, _, err = SUITE("verify", "w*/*", "r*/*", "--preset=smoke", "--device=cpu", "--out=full",
                             preexec_fn=limit_files, restore_signals=False)
        self.assertEqual(code, 13, err)
        self.assertRegex(err.splitlines()[-1], r"^tigon: .*full/\S+\.csv.*File too large")
        self.assertGreater(len(SUITE.rows("full")), 4)  # nothing measured is lost


if __name__ == "__main__":
    unittest.main()
