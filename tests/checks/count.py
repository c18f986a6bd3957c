#!/usr/bin/env python3
"""tools/count-tests.py on logs made by hand: cases, skips, plain programs, a crash outside every case. TAP."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(sys.argv[1]) / "tools" / "count-tests.py"

GOOD_CASE = '<testcase name="a"/>'
BAD_CASE = '<testcase name="b"><failure/></testcase>'
SKIPPED_CASE = '<testcase name="c"><skipped/></testcase>'


def last_line(programs, status):
    """programs: name -> (meson's result, cases as XML or None for a plain program)."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        suites = "".join(f'<testsuite name="collsim.collsim:x / {name}">{cases}</testsuite>'
                         for name, (_, cases) in programs.items() if cases is not None)
        (logs / "testlog.junit.xml").write_text(f"<testsuites>{suites}</testsuites>")
        (logs / "testlog.json").write_text("".join(json.dumps({"name": f"collsim:x / {name}", "result": result}) + "\n"
                                                   for name, (result, _) in programs.items()))
        done = subprocess.run([sys.executable, str(TOOL), folder, str(status)], text=True, stdout=subprocess.PIPE)
        return done.stdout.splitlines()[-1], done.returncode


TESTS = [
    ("all good", {"p": ("OK", GOOD_CASE * 3), "q": ("OK", None)}, 0, ("4 passed, 0 failed", 0)),
    ("skips are named", {"p": ("OK", GOOD_CASE + SKIPPED_CASE), "q": ("SKIP", None)}, 0, ("1 passed, 0 failed, 2 skipped", 0)),
    ("a failed case", {"p": ("FAIL", GOOD_CASE + BAD_CASE)}, 1, ("1 passed, 1 failed", 1)),
    ("a failed program", {"p": ("FAIL", None), "q": ("OK", None)}, 1, ("1 passed, 1 failed", 1)),
    ("a crash after good cases", {"p": ("ERROR", GOOD_CASE)}, 1, ("1 passed, 1 failed", 1)),
    ("a timeout", {"p": ("TIMEOUT", GOOD_CASE * 2)}, 1, ("2 passed, 1 failed", 1)),
    ("meson failed, nobody knows why", {"p": ("OK", GOOD_CASE)}, 1, ("1 passed, 1 failed", 1)),
    ("nothing ran", {}, 0, ("0 passed, 0 failed", 1)),
]

print(f"1..{len(TESTS)}")
failed = False
for number, (what, programs, status, expected) in enumerate(TESTS, 1):
    got = last_line(programs, status)
    failed |= got != expected
    print(f"{'ok' if got == expected else 'not ok'} {number} {what}" + ("" if got == expected else f" # {got}"))
sys.exit(failed)
