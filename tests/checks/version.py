#!/usr/bin/env python3
"""One version everywhere (meson.build, version.h, CITATION.cff), and the man page is that of the option tables. TAP.

Usage: version.py SOURCE_ROOT COLLSIM
"""
import re
import subprocess
import sys
from pathlib import Path

root, collsim = Path(sys.argv[1]), sys.argv[2]


def found(file, pattern):
    return re.search(pattern, (root / file).read_text(), re.MULTILINE)[1]


meson = found("meson.build", r"version: '([^']+)'")
checks = [
    ("version.h", found("include/collsim/version.h", r'COLLSIM_VERSION "([^"]+)"') == meson),
    ("CITATION.cff", found("CITATION.cff", r"^version: (\S+)$") == meson),
    ("collsim version", subprocess.run([collsim, "version"], text=True, stdout=subprocess.PIPE).stdout == f"collsim {meson}\n"),
    ("man page (./dev docs makes it again)",
     subprocess.run([collsim, "__man"], text=True, stdout=subprocess.PIPE).stdout == (root / "docs/man/collsim.1").read_text()),
]
print(f"1..{len(checks)}")
for number, (what, good) in enumerate(checks, 1):
    print(f"{'ok' if good else 'not ok'} {number} {what}")
sys.exit(not all(good for _, good in checks))
