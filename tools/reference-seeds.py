#!/usr/bin/env python3
"""reference-seeds.py VECTORS FOLDER: writes the XML text of every parser case of the reference vectors as a seed for fuzz-nccl-xml."""
import json
import pathlib
import sys

cases = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for name, case in cases.items():
    (folder / f"{name}.xml").write_text(case["xml"], encoding="utf-8")
