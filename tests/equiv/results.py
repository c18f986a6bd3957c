#!/usr/bin/env python3
"""The same results from every compiler, queue, number of threads, collapsed or not: runs against results.tsv. TAP, a case a run.

Usage: results.py COLLSIM SOURCE_ROOT [--update]

Compared with the table, which any compiler on any machine must reproduce: the times of all sizes and the digest of everything that
happened. Compared with the run itself: the other queue and threads (times and digest), and the run with no symmetry used (times).
Where a change of the model is meant, --update writes the table.
"""
import json
import subprocess
import sys
from pathlib import Path


def run(collsim, root, words, more=()):
    done = subprocess.run(["sh", "-c", f'exec "$0" {words} "$@"', collsim, *more, "--json"], cwd=root, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    if "rows" not in result:  # a bare workload
        return result["digest"], str(result["simulated_ps"])
    return result["digest"], ",".join(f"{row['time_us']:.9g}" for row in result["rows"])


def variants(words):
    """(what is different, options, is the history the same too?)"""
    yield "heap4 queue", ["--queue", "heap4"], True
    if words.startswith("run"):
        yield "one thread", ["-j", "1"], True
        yield "three threads", ["-j", "3"], True
        if "--fidelity" not in words:
            yield "no symmetry", ["--no-symmetry"], False
    elif "--collapse" not in words and "tree" not in words and "--skew" not in words:
        yield "collapsed", ["--collapse"], False
        yield "collapsed, no jump", ["--collapse", "--no-jump"], False


def differences(collsim, root, words, digest, times):
    got = run(collsim, root, words)
    if got[1] != times:
        yield f"times {got[1]}, the table says {times}"
    elif got[0] != digest:
        yield f"digest {got[0]}, the table says {digest}"
    for what, options, with_digest in variants(words):
        other = run(collsim, root, words, options)
        if other[1] != got[1]:
            yield f"{what}: times {other[1]}, not {got[1]}"
        elif with_digest and other[0] != got[0]:
            yield f"{what}: digest {other[0]}, not {got[0]}"


def judge(collsim, root, rows):
    print(f"1..{len(rows)}")
    for number, (digest, times, words) in enumerate(rows, 1):
        try:
            found = list(differences(collsim, root, words, digest, times))
        except RuntimeError as error:
            found = [str(error)]
        print(f"{'not ok' if found else 'ok'} {number} {words}".replace("#", ""))
        for line in found:
            print("#", line, flush=True)


def main():
    collsim, root = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    table = root / "tests/equiv/results.tsv"
    lines = table.read_text().splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    if "--update" not in sys.argv:
        judge(collsim, root, rows)
        return
    head = [line for line in lines if line.startswith("#")]
    table.write_text("\n".join(head + ["\t".join((*run(collsim, root, row[2]), row[2])) for row in rows]) + "\n")


main()
