#!/usr/bin/env python3
"""Runs recipes of commands and compares what they print. TAP, one case a command.

Usage: golden.py COLLSIM SOURCE_ROOT FILE... [--update]

A *.test file:              In a *.md file, the blocks marked ```console:
    # comment                   $ command
    $ command                   what it prints, stdout and stderr mixed;
    > a line of stdout          a line "..." stands for any number of lines,
    ! a line of stderr          and simulated figures (with a decimal point) may
    ? exit code, if not 0       have moved by up to 5 % (or 1) since then; bars too

More of *.md: ```console skip: WHY is shown, not run; ```console stand-ins [NAME=VALUE ...] runs with the libraries of tests/standins in place of a GPU's
and is skipped without them; ```json NAME writes the block to $TMP/NAME before the commands below it run. In docs/guide every command has to be in a
console block.

Commands run in a shell, in the source root, with an empty environment but for PATH (collsim first), HOME and TMP (an
empty folder), STANDINS (tests/standins). --update rewrites the expected lines (markdown: only of blocks without "...").
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


class Case:
    """One command: where its expected lines stand, and what they are."""

    def __init__(self, command, number):
        self.command, self.number = command, number
        self.first = self.last = number  # lines [first, last) hold the expectation
        self.expected = []
        self.skip = None      # why it is not run
        self.settings = None  # of the stand-ins: {NAME: VALUE}
        self.files = {}       # to be written before it runs: {NAME: text}


def recipe_cases(lines):
    case = None
    for number, line in enumerate(lines, 1):
        if line.startswith("$ "):
            case = Case(line[2:], number)
            yield case
        elif case and line[:1] in (">", "!", "?"):
            case.expected.append(line)
            case.last = number
        elif line and not line.startswith("#"):
            sys.exit(f"line {number}: neither #, $, >, ! nor ?: {line}")


def markdown_case(command, number, marks, files):
    case = Case(command, number)
    case.files = dict(files)
    if marks.startswith("skip:"):
        case.skip = marks[5:].strip()
    elif marks.startswith("stand-ins"):
        case.settings = dict(word.split("=", 1) for word in marks.split()[1:])
    elif marks:
        sys.exit(f"line {number}: no such console block: {marks}")
    return case


def markdown_cases(lines):
    case, inside, marks, file, files = None, "", "", None, {}
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            words = line[3:].split(None, 1)
            opens = not inside
            inside = (words[0] if words else "text") if opens else ""
            marks = words[1].strip() if opens and len(words) > 1 else ""
            case, file = None, marks if inside == "json" and marks else None
            if file:
                files[file] = ""
        elif file:
            files[file] += line + "\n"
        elif inside == "console" and line.startswith("$ "):
            case = markdown_case(line[2:], number, marks, files)
            files.clear()
            yield case
        elif inside == "console" and case:
            case.expected.append(line)
            case.last = number


def strays(path, lines):
    """Commands of a guide that no test would run."""
    inside = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            inside = "" if inside else line[3:].split(None, 1)[0] if line[3:].strip() else "text"
        elif inside != "console" and re.match(r"(    |\$ )?(collsim|tests/\S+) " if inside else r"    (\$ )?\S", line) and "guide" in path.parts:
            yield number


def run(command, environment, root, mixed):
    done = subprocess.run(["sh", "-c", command], cwd=root, env=environment, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT if mixed else subprocess.PIPE, timeout=300)
    if mixed:
        return done.stdout.splitlines()
    lines = [("> " + line).rstrip(" ") for line in done.stdout.splitlines()]
    lines += [("! " + line).rstrip(" ") for line in done.stderr.splitlines()]
    return lines + ([f"? {done.returncode}"] if done.returncode else [])


def is_near(a, b):
    decimal, bar = re.compile(r"\d+\.\d+"), re.compile(r"[#.]{10,}")
    if decimal.fullmatch(a) and decimal.fullmatch(b):
        return abs(float(a) - float(b)) <= max(0.05 * float(a), 1)
    return a == b or bool(bar.fullmatch(a) and bar.fullmatch(b))


def same_line(expected, actual, tolerant):
    if not tolerant:
        return expected.rstrip() == actual.rstrip()
    a, b = expected.split(), actual.split()
    return len(a) == len(b) and all(map(is_near, a, b))


def matches(expected, actual, tolerant):
    """expected may hold lines "...", each for any number of lines."""
    if not expected or not actual:
        return not actual and all(line == "..." for line in expected)
    if expected[0] == "...":
        return matches(expected[1:], actual, tolerant) or matches(expected, actual[1:], tolerant)
    return same_line(expected[0], actual[0], tolerant) and matches(expected[1:], actual[1:], tolerant)


def check_file(path, environment, root, update, counter):
    lines = path.read_text().splitlines()
    mixed = path.suffix == ".md"
    edits, good = [], True
    for number in strays(path, lines) if mixed else []:
        good = False
        counter[0] += 1
        print(f"not ok {counter[0]} {path.name}:{number} a command that nothing runs; allowed: in a console block")
    for case in list((markdown_cases if mixed else recipe_cases)(lines)):
        for name, text in case.files.items():
            (Path(environment["TMP"]) / name).write_text(text)
        why = case.skip or ("no stand-ins here" if case.settings is not None and not environment["STANDINS"] else None)
        if why:
            counter[0] += 1
            print(f"ok {counter[0]} {path.name}:{case.number} # SKIP {why}", flush=True)
            continue
        own = {"LD_LIBRARY_PATH": environment["STANDINS"], **case.settings} if case.settings is not None else {}
        actual = run(case.command, {**environment, **own}, root, mixed)
        same = matches(case.expected, actual, mixed)
        if update and not same and "..." not in case.expected:
            edits.append((case, actual))
            same = True
        good &= same
        counter[0] += 1
        print(f"{'' if same else 'not '}ok {counter[0]} {path.name}:{case.number} {case.command.replace('#', '')}", flush=True)
        if not same:
            for line in [f"{path.name}:{case.number}: expected:"] + case.expected + ["printed:"] + actual:
                print(" ", line, file=sys.stderr)
    for case, actual in reversed(edits):
        lines[case.number:case.last] = actual
    if edits:
        path.write_text("\n".join(lines) + "\n")
    return good


def main():
    update = "--update" in sys.argv
    collsim, root, *files = [word for word in sys.argv[1:] if word != "--update"]
    good, counter = True, [0]
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            "PATH": f"{Path(collsim).resolve().parent}:{os.environ['PATH']}", "HOME": scratch, "TMP": scratch,
            "LC_ALL": "C", "TERM": "dumb", "COLLSIM_REFERENCE": os.environ.get("COLLSIM_REFERENCE", "../shared"),
            "STANDINS": os.environ.get("STANDINS", ""),
        }
        environment.update({name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")})
        for name in files:
            good &= check_file(Path(name), environment, root, update, counter)
    print(f"1..{counter[0]}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
