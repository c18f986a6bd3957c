#!/usr/bin/env python3
"""Checks every #include "layer/file.h" under src/ against the table in ARCHITECTURE.md. TAP, one case a layer.

Usage: layers.py SOURCE_ROOT
"""
import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
EVERYBODY = {"collsim"}


def allowed_layers(root):
    table = {}
    for line in (root / "ARCHITECTURE.md").read_text().splitlines():
        if row := ROW.match(line):
            table[row[1]] = {name.strip() for name in row[2].split(",") if name.strip()}
    return table


def wrong_includes(root, layer, allowed):
    for path in sorted((root / "src" / layer).rglob("*.[ch]")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not (include := INCLUDE.match(line)):
                continue
            target = include[1].split("/")
            where = f"{path.relative_to(root)}:{number}"
            if len(target) == 1:
                yield f'{where}: "{include[1]}" has no layer; write "{layer}/{include[1]}"'
            elif target[0] not in allowed | {layer} | EVERYBODY:
                yield f"{where}: {layer} may not use {target[0]} (ARCHITECTURE.md)"


def main():
    root = Path(sys.argv[1])
    table = allowed_layers(root)
    layers = sorted(p.name for p in (root / "src").iterdir() if p.is_dir() and any(p.glob("*.[ch]")))
    print(f"1..{len(layers) + 1}")
    unknown = [name for uses in table.values() for name in uses if name not in table]
    print(f"{'not ' if unknown or not table else ''}ok 1 the table names its own layers only {unknown or ''}")
    failed = bool(unknown) or not table
    for number, layer in enumerate(layers, 2):
        problems = list(wrong_includes(root, layer, table[layer])) if layer in table else ["not in the table"]
        for problem in problems:
            print("#", problem)
        failed |= bool(problems)
        print(f"{'not ' if problems else ''}ok {number} {layer}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
