#!/usr/bin/env python3
"""Makes a C string of a text file: text-to-c.py IN OUT NAME."""
import sys

source, target, name = sys.argv[1:]
with open(source, encoding="ascii") as text:
    lines = text.read().splitlines()
with open(target, "w", encoding="ascii") as out:
    out.write(f"extern const char {name}[];\nconst char {name}[] =\n")
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"')
        out.write(f'  "{escaped}\\n"\n')
    out.write("  ;\n")
