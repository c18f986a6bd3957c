#!/usr/bin/env python3
"""A sweep killed at random ten times and resumed leaves the files of one that was left alone. TAP.

Usage: kill.py COLLSIM
"""
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import FILES, Tap, same, sweep, write_experiment

KILLS = 10


def lines(folder):
    path = folder / "points.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def main():
    collsim, tap, dice = sys.argv[1], Tap(), random.Random(7)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        experiment = write_experiment(root / "e.json", repeats=12)
        done = sweep(collsim, experiment, root / "whole", "-j", "2")
        tap.check("a sweep left alone", done.returncode == 0, done.stderr)
        n = lines(root / "whole")
        kills = 0
        while kills < KILLS and lines(root / "killed") < n:
            process = subprocess.Popen([collsim, "sweep", str(experiment), "-j", "2", "--out", str(root / "killed"), "-q"])
            target = lines(root / "killed") + dice.randint(1, n // KILLS)
            while process.poll() is None and lines(root / "killed") < target:
                time.sleep(0.002)
            time.sleep(dice.random() * 0.02)
            if process.poll() is None:
                process.kill()
                kills += 1
            process.wait()
        tap.check(f"killed {KILLS} times", kills == KILLS, f"{kills} of {KILLS}: too fast to be killed")
        there = lines(root / "killed")
        tap.check("what was done is kept", 0 < there < n, f"{there} of {n}")
        done = sweep(collsim, experiment, root / "killed")
        tap.check("resumed", done.returncode == 0 and f"{n} points" in done.stdout, done.stdout + done.stderr)
        computed = int(done.stdout.split(" computed")[0].split(", ")[-1])
        tap.check("only what was missing is computed", computed <= n - there + 1, f"{computed}, {n - there} were missing")
        differ = same(root / "whole", root / "killed")
        tap.check(f"the same {', '.join(FILES)}", not differ, f"different: {differ}")
    tap.end()


main()
