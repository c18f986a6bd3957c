#!/usr/bin/env python3
"""A sweep under mpirun with two ranks gives the files of -j 1; a killed rank is reported, and its points are done again. TAP.

Usage: mpi.py COLLSIM
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Tap, same, sweep, write_experiment

MPIRUN = ["mpirun", "--oversubscribe", "-np", "2"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in text]


def worker_of(mpirun):
    """The process of rank 1, once both are there."""
    for _ in range(400):
        ranks = [p for p in children(mpirun.pid) if b"OMPI_COMM_WORLD_RANK=1" in Path(f"/proc/{p}/environ").read_bytes()]
        if ranks:
            return ranks[0]
        time.sleep(0.01)
    return None


def main():
    collsim, tap = sys.argv[1], Tap()
    if not shutil.which("mpirun") or not (Path(collsim).parent / "collsim-mpi.so").exists():
        tap.skip("two ranks", "built without MPI, or no mpirun")
        tap.end()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        experiment = write_experiment(root / "e.json", repeats=6)
        alone = sweep(collsim, experiment, root / "alone")
        tap.check("-j 1", alone.returncode == 0, alone.stderr)
        command = MPIRUN + [collsim, "sweep", str(experiment), "--out"]
        both = subprocess.run(command + [str(root / "both")], text=True, capture_output=True, timeout=300, check=False)
        tap.check("two ranks", both.returncode == 0, both.stderr)
        tap.check("the same files", not same(root / "alone", root / "both"), f"different: {same(root / 'alone', root / 'both')}")
        mpirun = subprocess.Popen(command + [str(root / "killed")], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        worker, points = worker_of(mpirun), root / "killed" / "points.jsonl"
        while mpirun.poll() is None and (not points.exists() or points.read_bytes().count(b"\n") < 5):
            time.sleep(0.005)
        os.kill(worker, signal.SIGKILL)
        _, said = mpirun.communicate(timeout=60)
        tap.check("a killed rank is reported", mpirun.returncode != 0 and "signal 9" in said, f"exit code {mpirun.returncode}: {said}")
        again = subprocess.run(command + [str(root / "killed")], text=True, capture_output=True, timeout=300, check=False)
        tap.check("its points are done again", again.returncode == 0 and " 0 were there" not in again.stdout, again.stdout + again.stderr)
        tap.check("the same files again", not same(root / "alone", root / "killed"), f"different: {same(root / 'alone', root / 'killed')}")
    tap.end()


main()
