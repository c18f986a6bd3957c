#!/usr/bin/env python3
"""Every measured set of the reference data through `collsim validate`: TAP. Usage: validate.py COLLSIM (in the source root)

What must hold is machinery (nothing unplaced, nothing refused for an error of ours) and a floor under the accuracy on nodes with
NVSwitch, well above today's figures in docs/accuracy.md, so that a change that spoils it is seen.
"""
import json
import os
import statistics
import subprocess
import sys

OURS = ("no rule for hardware", "ranks, the set has", "do not divide")
NVSWITCH = ("aic_a100", "aic_h100", "aic_h200", "aic_b200", "aic_b300", "aic_gb200", "stas_h200_1n", "stas_b200_1n")


def main():
    collsim, folder = sys.argv[1], os.path.join(os.environ.get("COLLSIM_REFERENCE") or "../shared", "measurements")
    if not os.path.isdir(folder):
        print("1..0 # SKIP no measurements here")
        return
    text = subprocess.run([collsim, "validate", folder, "--limit", "2", "-j", "2", "--json"], check=True, stdout=subprocess.PIPE).stdout
    sets = json.loads(text)["sets"]
    unplaced = [s["name"] for s in sets if s["skipped"] and any(word in s["skipped"] for word in OURS)]
    good = [s for s in sets if not s["skipped"] and s["name"].startswith(NVSWITCH) and s["collective"] != "alltoall"]
    alltoall = [s for s in sets if not s["skipped"] and s["name"].startswith(NVSWITCH) and s["collective"] == "alltoall"]
    large = [s["median_error_large"] for s in good if s["median_error_large"] is not None]
    check = [s["median_error"] for s in sets if not s["skipped"] and s["kind"] == "check"]
    checks = [
        ("every set finds a target, or a reason of its own", not unplaced, ", ".join(unplaced[:5])),
        ("NVSwitch nodes, from 16 MiB: median within 8 %", bool(large) and statistics.median(large) <= 0.08, str(large)),
        ("NVSwitch nodes, all sizes: each within 15 %", bool(good) and all(s["median_error"] <= 0.15 for s in good),
         ", ".join(s["name"] for s in good if s["median_error"] > 0.15)),
        ("NVSwitch nodes, alltoall: each within 15 %", bool(alltoall) and all(s["median_error"] <= 0.15 for s in alltoall),
         ", ".join(s["name"] for s in alltoall if s["median_error"] > 0.15)),
        ("check sets: nine of ten within 27 %", bool(check) and sorted(check)[int(0.9 * (len(check) - 1))] <= 0.27, str(sorted(check)[-len(check) // 10:])),
    ]
    for i, (name, holds, why) in enumerate(checks, 1):
        print("%sok %d - %s%s" % ("" if holds else "not ", i, name, "" if holds else " # " + why))
    print("1..%d" % len(checks))


main()
