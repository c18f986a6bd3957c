"""What the sweep tests share: an experiment, runs of it, comparisons, TAP."""
import json
import os
import subprocess
import sys
from pathlib import Path

FILES = ("points.jsonl", "results.csv", "summary.csv", "provenance.json")


def write_experiment(path, repeats=4, sizes=("64K", "1M", "4M", "16M")):
    path.write_text(json.dumps({
        "name": "sweep-test",
        "run": {"target": "dgx-h100*4", "collective": "all_reduce"},
        "axes": {"size": list(sizes), "env.NCCL_ALGO": ["Ring", "Tree", None], "cluster.fabric.oversubscription": [1, 2]},
        "repeat": repeats,
    }))
    return path


def environment(collsim):
    return os.environ | {"PATH": f"{Path(collsim).resolve().parent}:{os.environ['PATH']}"}


def sweep(collsim, experiment, out, *options, timeout=300):
    return subprocess.run([collsim, "sweep", str(experiment), "--out", str(out), *options], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, check=False)


def same(a, b):
    """Names of the files that differ between two folders of results."""
    return [name for name in FILES if not (b / name).exists() or (a / name).read_bytes() != (b / name).read_bytes()]


class Tap:
    def __init__(self):
        self.n, self.failed = 0, False

    def check(self, what, good, why=""):
        self.n += 1
        self.failed |= not good
        print(f"{'ok' if good else 'not ok'} {self.n} {what}", flush=True)
        if not good and why:
            print(f"# {why}", file=sys.stderr)

    def skip(self, what, why):
        self.n += 1
        print(f"ok {self.n} {what} # SKIP {why}", flush=True)

    def end(self):
        print(f"1..{self.n}")
        sys.exit(self.failed)
