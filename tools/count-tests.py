#!/usr/bin/env python3
"""Closes a `meson test` run with one plain line: "N passed, N failed[, N skipped]".

Counted are the cases of every GLib (TAP) test; a test program of another kind counts as one, and so does a
program that crashed or ran out of time although none of its cases failed. Usage: count-tests.py LOGDIR STATUS,
STATUS being meson's own exit code. Exits 1 if anything failed or nothing ran.
"""
import json
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

GOOD = {"OK", "EXPECTEDFAIL"}


def case_counts(suites):
    """(passed, failed, skipped) over the cases of these <testsuite> elements, with the failed ones' names."""
    passed = failed = skipped = 0
    names = []
    for suite in suites:
        for case in suite.iter("testcase"):
            if case.find("skipped") is not None:
                skipped += 1
            elif case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                names.append(f"{suite.get('name')}: {case.get('name')}")
            else:
                passed += 1
    return passed, failed, skipped, names


def main():
    logs = Path(sys.argv[1])
    status = int(sys.argv[2])
    suites = {}
    for suite in xml.parse(logs / "testlog.junit.xml").getroot().iter("testsuite"):
        # meson: "project.project:suite / program"
        suites.setdefault(suite.get("name").split(" / ")[-1], []).append(suite)
    passed = failed = skipped = 0
    names = []
    with open(logs / "testlog.json") as lines:
        for line in lines:
            test = json.loads(line)
            name = test["name"].split(" / ")[-1]
            result = test["result"]
            p, f, s, bad = case_counts(suites.get(name, []))
            if p + f + s == 0:  # not TAP: the program is the case
                p, f, s = int(result in GOOD), int(result not in GOOD | {"SKIP"}), int(result == "SKIP")
                bad = [name] if f else []
            elif result not in GOOD | {"SKIP"} and f == 0:
                f, bad = 1, [f"{name}: {result.lower()} outside its cases"]
            passed, failed, skipped = passed + p, failed + f, skipped + s
            names += bad
    if status != 0 and failed == 0:
        failed, names = 1, ["meson test itself"]
    for name in names:
        print("failed:", name)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
