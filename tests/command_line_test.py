"""The verbs, Google Benchmark's flags, and calls that cannot be carried out.

command_line_test.py SUITE
"""

import json
import os
import sys
import unittest

from tests.command_line import Suite

SUITE = Suite(sys.argv.pop(1))
CPU = ("--preset=smoke", "--device=cpu")
GOOD = (*CPU, "--operator=good_at_the_end")
TIMED = ["good_at_the_end/rows=4/width=24/fp32/normal", "good_at_the_end/rows=4/width=24/bf16/normal"]
BENCHMARKS = [f"{case}/{implementation}/{pass_}" for case in TIMED
              for implementation in ("fused", "eager") for pass_ in ("forward", "backward", "step")]


class Verbs(unittest.TestCase):
    def test_help(self):
        code, out, err = SUITE("--help")
        self.assertEqual((code, err), (0, ""))
        for text in ("run", "list", "verify", "bench", "mutants", "(default)", "Exit codes: 0"):
            self.assertIn(text, out)
        for verb in ("run", "list", "verify", "bench", "mutants"):
            code, out, err = SUITE(verb, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertIn(f" {verb} [OPTIONS] [CASE...]", out)
            for option in ("--operator", "--axis", "--dtype", "--profile", "--device", "--preset",
                           "--seed", "--timeout"):
                self.assertIn(option, out)
            self.assertEqual("--out" in out, verb in ("run", "verify", "bench"), verb)
            self.assertEqual("--benchmark_filter" in out, verb in ("run", "bench"), verb)

    def test_list(self):
        code, out, _ = SUITE("list", *GOOD)
        self.assertEqual(code, 0)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^cpu \(.+\)$")
        self.assertEqual(lines[1:3], [f"  timed   {case}" for case in TIMED])
        self.assertIn("  verify  good_at_the_end/rows=3/width=24/layout=strided/fp32/normal", lines)
        self.assertRegex(lines[-1], r"^6 cases, 2 of them timed, about ")
        self.assertEqual(list(SUITE.folder.glob("tigon-results")), [])

    def test_filters(self):
        def listed(*arguments):
            code, out, err = SUITE("list", *CPU, *arguments)
            self.assertEqual(code, 0, err)
            return [line.split()[1] for line in out.splitlines() if line.startswith("  ")]

        self.assertEqual(listed("good/*"), [c.replace("good_at_the_end", "good") for c in TIMED])
        self.assertEqual(listed("/^good_at_the_end.*rows=4.*bf16/"), TIMED[1:])
        self.assertEqual(listed("--regex", "^good_at_the_end.*rows=4.*bf16"), TIMED[1:])
        self.assertEqual(listed("good_at_the_end/*", "--axis", "rows=4..9", "--dtype=fp32"), TIMED[:1])
        self.assertEqual(len(listed("good_at_the_end/*", "--axis", "layout=strided")), 2)
        self.assertEqual(len(listed("good*", "--profile=normal", "--axis=rows=3,4")), 8)

    def test_dry_run(self):
        code, out, _ = SUITE("run", *GOOD, "--dry-run", "--out=dry")
        self.assertEqual(code, 0)
        self.assertIn(f"  timed   {TIMED[0]}", out)
        self.assertFalse((SUITE.folder / "dry").exists())

    def test_verify(self):
        code, out, err = SUITE("verify", *GOOD, "--out=verify")
        self.assertEqual(code, 0, err)
        rows = SUITE.rows("verify")
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.assertEqual((row["pass"], row["status"], row["verdict"], row["time_us"]),
                             ("verify", "ok", "right", ""))
        tensors = {(r["implementation"], r["tensor"]) for r in SUITE.rows("verify", "precision.csv")}
        self.assertEqual(tensors, {(i, t) for i in ("fused", "eager") for t in ("y0", "dx")})
        self.assertIn("6 cases: 6 right, 0 wrong, 0 not measured", out)

    def test_bench(self):
        code, out, err = SUITE("bench", *GOOD, "--benchmark_repetitions=4", "--out=bench")
        self.assertEqual(code, 0, err)
        rows = SUITE.rows("bench")
        self.assertEqual([f"{r['case']}/{r['implementation']}/{r['pass']}" for r in rows], BENCHMARKS)
        for row in rows:
            self.assertGreater(float(row["time_us"]), 0)
            self.assertGreater(float(row["roof_us"]), 0)
        steps = [r for r in rows if r["pass"] == "step" and r["implementation"] == "fused"]
        for row in steps:
            self.assertGreater(int(row["peak_bytes"]), 0)
        for text in ("verdict", "forward", "backward", "vs eager", "memory", "records: "):
            self.assertIn(text, out)
        environment = SUITE.environment("bench")
        self.assertEqual((environment["preset"], environment["seed"]), ("smoke", 0))
        self.assertTrue(environment["roofs"]["cpu"])

    def test_results_land_below_the_callers_folder(self):
        code, out, _ = SUITE(*CPU, "good_at_the_end/rows=3/*fp32*")
        self.assertEqual(code, 0)
        (folder,) = SUITE.folder.glob("tigon-results/*")
        self.assertTrue((folder / "speed.csv").exists())
        self.assertIn(str(folder), out)

    def test_the_same_seed_gives_the_same_errors(self):
        for out, seed in (("seed-a", 7), ("seed-b", 7), ("seed-c", 8)):
            SUITE("verify", *CPU, "wrong_by_a_few_ulp/*", f"--out={out}", f"--seed={seed}")
        a, b, c = ([r["err_rms"] for r in SUITE.rows(out, "precision.csv")]
                   for out in ("seed-a", "seed-b", "seed-c"))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)


class GoogleBenchmark(unittest.TestCase):
    def test_list_tests(self):
        code, out, _ = SUITE(*GOOD, "--benchmark_list_tests")
        self.assertEqual(code, 0)
        self.assertEqual([l for l in out.splitlines() if l.startswith("good")], BENCHMARKS)

    def test_filter(self):
        code, out, _ = SUITE(*GOOD, "--benchmark_list_tests", "--benchmark_filter=bf16.*/fused/step$")
        self.assertEqual(code, 0)
        self.assertEqual([l for l in out.splitlines() if l.startswith("good")],
                         [f"{TIMED[1]}/fused/step"])

    def test_out(self):
        code, out, err = SUITE(*GOOD, "--benchmark_filter=fp32", "--benchmark_repetitions=4",
                               "--benchmark_out=x.json", "--out=json")
        self.assertEqual(code, 0, err)
        report = json.loads((SUITE.folder / "x.json").read_text())
        self.assertEqual([b["name"].split("/iterations:")[0] for b in report["benchmarks"]],
                         BENCHMARKS[:6])
        for benchmark in report["benchmarks"]:
            self.assertGreater(benchmark["real_time"], 0)
        self.assertIn("context", report)
        self.assertIn("Benchmark", out)
        self.assertNotIn("DEBUG", out + err)

    def test_out_in_csv(self):
        code, _, err = SUITE(*GOOD, "--benchmark_filter=fp32", "--benchmark_repetitions=4",
                             "--benchmark_out=x.csv", "--benchmark_out_format=csv", "--out=csv")
        self.assertEqual(code, 0, err)
        text = (SUITE.folder / "x.csv").read_text()
        self.assertIn("name,iterations,real_time", text)
        self.assertEqual(text.count('"good_at_the_end/'), 6)


class BadCalls(unittest.TestCase):
    """One line on stderr that names the thing, exit 13, nothing written."""

    def refused(self, *arguments, says, **options):
        with self.subTest(" ".join(map(str, arguments))):
            code, out, err = SUITE(*arguments, **options)
            self.assertEqual((code, out), (13, ""), err)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertRegex(err, f"^tigon: .*{says}")

    def test_unknown_names(self):
        self.refused("verfy", says='verb "verfy".*verify')
        self.refused("list", "--presett=smoke", says="--presett")
        self.refused("list", "--preset=smok", says='--preset.*"smok".*smoke')
        self.refused("list", "--operator=goood", says='operator "goood".*good')
        self.refused("list", "--axis=row=4", says='axis "row".*rows')
        self.refused("list", "--axis=rows=5", says='"rows".*"5".*4')
        self.refused("list", "--axis=rows", says='"rows"')
        self.refused("list", "--axis=layout=strid", says='"layout".*"strid".*strided')
        self.refused("list", "--dtype=fp8", says='"fp8".*fp32')
        self.refused("list", "--profile=norml", says='profile "norml".*normal')
        self.refused("list", "--device=gpu", says='--device is "gpu".*cpu, cuda')
        self.refused("list", "--device=cuda:99", says='"cuda:99"')
        self.refused("list", "--seed=one", says="--seed.*one")
        self.refused("run", "--timeout=0", says="--timeout")
        self.refused("list", "--out=x", says="--out")
        self.refused("list", "--regex", "(", says=r'"\(" is no regular expression')

    def test_a_gpu_where_there_is_none(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        self.refused("run", "--device=cuda", says='--device is "cuda".*here: cpu')

    def test_nothing_left(self):
        self.refused("run", *CPU, "goood/*", says="none of the .* cases")
        self.refused("run", *CPU, "good/*", "--dtype=fp16", says="none of the .* cases")

    def test_google_benchmarks_other_flags(self):
        self.refused("--benchmark_min_time=1", says="--benchmark_min_time is not passed on")
        self.refused("--benchmark_filter=(", says=r'--benchmark_filter is "\("')
        self.refused("--benchmark_repetitions=0", says='--benchmark_repetitions is "0"')
        self.refused("--benchmark_out_format=xml", says='"xml".*json')
        self.refused("verify", "--benchmark_filter=x", says="go with run and bench")

    def test_folders_that_cannot_be_written(self):
        (SUITE.folder / "file").write_text("")
        self.refused("verify", *GOOD, "--out=file", says="cannot make folder .*file: Not a directory")
        self.refused("verify", *GOOD, "--out=file/below", says="file/below.*Not a directory")
        self.refused("verify", *GOOD, "--out=/proc/tigon", says="/proc/tigon")
        if os.geteuid() != 0:  # root writes where it likes
            (SUITE.folder / "locked").mkdir(mode=0o500)
            self.refused("verify", *GOOD, "--out=locked", says="locked.*Permission denied")

    def test_a_folder_that_holds_results(self):
        one = ("verify", *CPU, "good/*fp32*", "--out=taken")
        self.assertEqual(SUITE(*one)[0], 0)
        before = (SUITE.folder / "taken" / "speed.csv").read_bytes()
        self.refused(*one, says="taken holds the results of another run")
        self.assertEqual((SUITE.folder / "taken" / "speed.csv").read_bytes(), before)

    def test_a_report_that_cannot_be_written(self):
        code, _, err = SUITE("run", *CPU, "good/*fp32*", "--benchmark_repetitions=4",
                             "--benchmark_out=/dev/full", "--out=kept")
        self.assertEqual(code, 13)
        self.assertRegex(err.splitlines()[-1], "--benchmark_out: /dev/full cannot be written")
        self.assertEqual(len(SUITE.rows("kept")), 6)  # nothing measured is lost

    def test_a_worker_called_by_hand(self):
        code, _, err = SUITE("--worker", "--device=cpu")
        self.assertEqual(code, 13)
        self.assertIn("--worker is for the program's own use", err)


if __name__ == "__main__":
    unittest.main()
