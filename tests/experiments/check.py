#!/usr/bin/env python3
"""Runs every experiment of a folder, and holds its README's statements against the results. TAP, one case a file and a statement.

Usage: check.py COLLSIM FOLDER [JOBS]

A statement in README.md is preceded by one or more lines

    <!-- check NAME: EXPRESSION -->

NAME is that of NAME.json. The expression is Python over the rows of results.csv:

    median(COLUMN, axis="label", ...)   of the rows whose cells are these texts; an axis with dots in a dictionary: {"env.NCCL_ALGO": "Ring"}
    values(COLUMN, ...)                 all of them, in order
    texts(COLUMN, ...)                  the same for columns of text
    rows(...)                           how many there are
    bw(...), us(...)                    median of busbw_gbps, of time_us

A condition that no row meets is an error, not an empty list.
"""
import csv
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECK = re.compile(r"<!-- check (\w[\w-]*): (.*?) -->", re.DOTALL)


class Results:
    def __init__(self, path):
        with open(path, newline="", encoding="utf-8") as text:
            self.table = list(csv.DictReader(text))

    def select(self, *paths, **axes):
        wanted = {**axes, **{k: v for path in paths for k, v in path.items()}}
        for name in wanted:
            if name not in self.table[0]:
                raise KeyError(f"no column {name}")
        found = [row for row in self.table if all(row[k] == str(v) for k, v in wanted.items())]
        if not found:
            raise LookupError(f"no row with {wanted}")
        return found

    def names(self):
        def texts(column, *paths, **axes):
            return [row[column] for row in self.select(*paths, **axes)]

        def values(column, *paths, **axes):
            return [float(text) for text in texts(column, *paths, **axes) if text]

        def median(column, *paths, **axes):
            return statistics.median(values(column, *paths, **axes))

        return {
            "texts": texts, "values": values, "median": median,
            "rows": lambda *paths, **axes: len(self.select(*paths, **axes)),
            "bw": lambda *paths, **axes: median("busbw_gbps", *paths, **axes),
            "us": lambda *paths, **axes: median("time_us", *paths, **axes),
        }


def evaluate(expression, results):
    builtins = {"abs": abs, "max": max, "min": min, "all": all, "any": any, "set": set, "len": len, "sum": sum, "sorted": sorted, "zip": zip, "range": range}
    return eval(expression, {"__builtins__": builtins, **results.names()})  # our own files


class Tap:
    def __init__(self):
        self.n, self.failed = 0, False

    def check(self, what, good, why):
        self.n += 1
        self.failed |= not good
        print(f"{'ok' if good else 'not ok'} {self.n} {what.replace('#', '')}", flush=True)
        if not good:
            print(f"  {what}: {why}", file=sys.stderr)


def run(collsim, experiment, out, jobs):
    started = time.monotonic()
    done = subprocess.run([collsim, "sweep", str(experiment), "-j", jobs, "--out", str(out)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500,
                          check=False)
    print(f"# {experiment.name}: {time.monotonic() - started:.1f} s")
    return done


def main():
    collsim, folder, jobs = sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "2"
    tap, results = Tap(), {}
    readme = (folder / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        for experiment in sorted(folder.glob("*.json")):
            out = Path(scratch) / experiment.stem
            done = run(collsim, experiment, out, jobs)
            wanted = re.findall(r'"file": "([^".]+)"', experiment.read_text(encoding="utf-8"))
            absent = [f"{name}.{form}" for name in wanted for form in ("svg", "png") if not (out / f"{name}.{form}").exists()]
            tap.check(experiment.name, done.returncode == 0 and not absent, f"{done.stdout}\nnot drawn: {absent}")
            if (out / "results.csv").exists():
                results[experiment.stem] = Results(out / "results.csv")
    statements = CHECK.findall(readme)
    tap.check("the README makes statements", bool(statements), "no check in it")
    for name, expression in statements:
        expression = " ".join(expression.split())
        try:
            good, why = evaluate(expression, results[name]), "is not so"
        except Exception as wrong:  # pylint: disable=broad-except
            good, why = False, repr(wrong)
        tap.check(f"{name}: {expression}", bool(good), why)
    print(f"1..{tap.n}")
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
