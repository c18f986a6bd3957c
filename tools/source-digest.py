#!/usr/bin/env python3
"""Digest of the sources that decide a simulated result, as a C string, so that stored results of another model are not taken for this one's.

Usage: source-digest.py ROOT OUT DEPFILE NAME PATTERN...        PATTERN: of files, below ROOT ("src/nccl/*.[ch]")

Names and contents count, in order of names: the same sources give the same digest wherever and with whatever they are built. The
depfile names the folders too, so that a file that comes or goes is noticed.
"""
import hashlib
import sys
from pathlib import Path

root, out, depfile, name, *patterns = sys.argv[1:]
files = sorted({path for pattern in patterns for path in Path(root).glob(pattern)})
if not files:
    sys.exit(f"{root}: nothing matches {' '.join(patterns)}")
digest = hashlib.sha256()
for path in files:
    data = path.read_bytes()
    digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode())
    digest.update(data)
Path(out).write_text(f'extern const char {name}[];\nconst char {name}[] = "{digest.hexdigest()[:16]}";\n', encoding="ascii")
seen = [str(path).replace(" ", "\\ ") for path in (*files, *sorted({path.parent for path in files}))]
Path(depfile).write_text(f"{out}: {' '.join(seen)}\n", encoding="utf-8")
