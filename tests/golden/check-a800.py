"""Runs experiments/a800-roce/run.sh and holds the README to it: every row of its table, and what its text says of them.

Usage: check-a800.py COLLSIM SOURCE_ROOT"""
import os
import re
import subprocess
import sys

ROW = re.compile(r"^(?P<name>\S.*?)\s+(?P<time>\d+) us\s+(?P<busbw>[\d.]+) GB/s\s+(?P<sent>\d+) sent, (?P<again>\d+) again; (?P<marked>\d+) marked, "
                 r"(?P<cnps>\d+) CNPs; (?P<pauses>\d+) pauses .*; (?P<dropped>\d+) dropped, (?P<lost>\d+) lost; (?P<naks>\d+) NAKs, (?P<timeouts>\d+) time-outs$")
failed = 0
number = 0


def check(ok, what):
    global failed, number
    number += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {number} {what}")


def rows(text):
    found = {}
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            found[match["name"]] = {k: float(v) for k, v in match.groupdict().items() if k != "name"}
    return found


def main():
    collsim, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = os.path.join(root, "experiments", "a800-roce")
    said = rows(open(os.path.join(folder, "README.md"), encoding="utf-8").read())
    run = subprocess.run(["sh", os.path.join(folder, "run.sh"), collsim], capture_output=True, text=True, check=True)
    ours = rows(run.stdout)
    check(list(said) == list(ours) and len(ours) == 8, f"{len(ours)} rows, as in the README")
    for name, row in said.items():
        within = 0.15 if "Tree" in name else 0.05
        for key in ("time", "busbw"):
            check(abs(ours[name][key] - row[key]) <= within * row[key], f"{name}: {key} {ours[name][key]}, README {row[key]}")
        check(abs(ours[name]["sent"] - row["sent"]) <= 0.01 * row["sent"], f"{name}: packets {ours[name]['sent']}, README {row['sent']}")
    bw = {name: row["busbw"] for name, row in ours.items()}
    clean, cables, ecn, jumbo = (ours[n] for n in ("1 lossy", "1 lossy, bad cables", "2 PFC and ECN", "3 MTU 4096"))
    check(all(v < 98.5 for v in bw.values()), "nobody exceeds four adapters")
    check(all(row["dropped"] == 0 for row in ours.values()), "no frame is dropped for want of room")
    check(all(row["timeouts"] == 0 for row in ours.values()), "no time-outs")
    check(cables["lost"] > 0 and cables["again"] > 50 * cables["lost"], "go-back-N sends a window again for each loss")
    check(0 < clean["busbw"] - cables["busbw"] < 0.02 * clean["busbw"], "bad cables cost little")
    check(ecn["busbw"] < clean["busbw"], "PFC and ECN are slower than nothing")
    check(ecn["marked"] > 0 and ecn["cnps"] > 0 and ecn["pauses"] == 0, "what acts is ECN, not PFC")
    check(bw["3 PFC alone"] > bw["3 MTU 4096"] and ours["3 PFC alone"]["pauses"] > 0, "PFC alone acts, and is faster than PFC and ECN")
    check(1.03 < jumbo["busbw"] / ecn["busbw"] < 1.12, "MTU 4096 gains 3 to 12 %")
    check(ours["4 NCCL_BUFFSIZE 4 MiB"] == jumbo, "4 MiB is the default")
    check(0.7 < bw["5 Tree"] / jumbo["busbw"] < 0.97, "Tree is slower than Ring")
    check(bw["3 adaptive routing"] > 1.3 * jumbo["busbw"], "adaptive routing is what helps")
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
