#!/usr/bin/env python3
"""reference-seeds.py VECTORS FOLDER: writes the XML text of every parser case of the reference vectors as a seed for fuzz-nccl-xml."""
import json
import pathlib
import sys

cases = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for number, case in enumerate(cases.values()):
    (folder / f"case-{number:03}.xml").write_text(case["xml"], encoding="utf-8")
