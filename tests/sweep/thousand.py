#!/usr/bin/env python3
"""A thousand points on 1024 GPUs: all there, within four minutes of processor time, which are two on two cores. TAP.

Usage: thousand.py COLLSIM SOURCE_ROOT
"""
import resource
import sys
import tempfile
from pathlib import Path

from common import Tap, sweep

LIMIT_S = 240


def main():
    collsim, source, tap = sys.argv[1], Path(sys.argv[2]), Tap()
    with tempfile.TemporaryDirectory() as scratch:
        done = sweep(collsim, source / "tests" / "sweep" / "thousand.json", Path(scratch) / "out", "-j", "2", timeout=1500)
        tap.check("a thousand points", done.returncode == 0 and "1000 points, 1000 computed" in done.stdout, done.stdout + done.stderr)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = used.ru_utime + used.ru_stime
        print(f"# {seconds:.0f} s of processor time")
        tap.check(f"within {LIMIT_S} s of processor time", seconds < LIMIT_S, f"{seconds:.0f} s")
    tap.end()


main()
