#!/usr/bin/env python3
"""Writes files as C arrays, so that the binary needs no data folder.

usage: embed.py OUT.c SYMBOL FILE...
OUT.c defines  const CsimEmbedded SYMBOL[]  ending with a NULL name (src/models/embedded.h).
"""
import os
import sys


def array(name, data):
    rows = [", ".join(str(b) for b in data[i:i + 32]) for i in range(0, len(data), 32)]
    return "static const char %s[] = {\n  %s\n};\n" % (name, ",\n  ".join(rows + ["0"]))


def main():
    out, symbol, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    text = ['#include "models/embedded.h"\n']
    table = []
    for i, path in enumerate(files):
        with open(path, "rb") as f:
            data = f.read()
        if any(b > 127 for b in data):
            sys.exit("%s: only ASCII can be embedded" % path)
        text.append(array("file_%d" % i, data))
        table.append('  {"%s", file_%d, %d},' % (os.path.basename(path), i, len(data)))
    text.append("const CsimEmbedded %s[] = {\n%s\n  {0, 0, 0}\n};" % (symbol, "\n".join(table)))
    with open(out, "w", encoding="ascii") as f:
        f.write("\n".join(text) + "\n")


main()
