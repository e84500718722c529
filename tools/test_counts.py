#!/usr/bin/env python3
"""Counts test cases in the results that Bazel names in its build event file.

    tools/test_counts.py EVENTS.json

Prints two numbers, passed and failed. A target that fails without a failing case in its test.xml (a
crash, a time-out), or that was not built or run, counts as one failure. A target that ran no case at
all counts as one too, unless it skipped them (tests that want a GPU); skipped cases are counted on
stderr.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree


def cases(path):
    """(passed, failed, skipped) of one test.xml."""
    passed = failed = skipped = 0
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(events_file):
    wanted = set()  # every test target that the patterns named
    last = {}  # the last attempt's result by (target, run, shard)
    with open(events_file, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            identity = event.get("id", {})
            if "targetConfigured" in identity:
                if event.get("configured", {}).get("testSize"):
                    wanted.add(identity["targetConfigured"]["label"])
            elif "testResult" in identity and "testResult" in event:
                key = identity["testResult"]
                last[key["label"], key.get("run"), key.get("shard")] = event["testResult"]

    passed = failed = skipped = 0
    for (label, _, _), result in last.items():
        good = bad = passed_over = 0
        for output in result.get("testActionOutput", []):
            if output["name"] == "test.xml" and output.get("uri", "").startswith("file://"):
                try:
                    good, bad, passed_over = cases(urllib.parse.unquote(output["uri"][len("file://"):]))
                except (OSError, xml.etree.ElementTree.ParseError):
                    pass  # killed before it could write its results
        if result["status"] == "PASSED":
            if good == 0 and bad == 0 and passed_over == 0:
                print(f"{label} passed without running a case", file=sys.stderr)
                bad = 1
        elif bad == 0:
            print(f"{label}: {result['status']}", file=sys.stderr)
            bad = 1
        passed += good
        failed += bad
        skipped += passed_over
    for label in sorted(wanted - {label for label, _, _ in last}):
        print(f"{label} was not run", file=sys.stderr)
        failed += 1
    if skipped:
        print(f"{skipped} cases were skipped", file=sys.stderr)
    print(passed, failed)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
