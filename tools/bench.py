#!/usr/bin/env python3
"""How fast collsim is here: tables of user CPU time, events and memory, as markdown.

Usage: bench.py BUILD [--write docs/performance.md] [--repeat N] [--limit S] [SECTION...]

Sections: those of SECTIONS below, all if none is named. Every run is repeated (3 times) and its median printed: user and system CPU
seconds of the whole process, which other work on the machine disturbs least. --limit: CPU seconds after which a run is given up (60);
its row then says so. --write also replaces the text between `<!-- bench: SECTION -->` and `<!-- end -->` of a file, for the
sections that have such a place in it.
"""
import argparse
import datetime
import json
import os
import platform
import re
import resource
import signal
import statistics
import subprocess
import sys
from pathlib import Path


class Bench:
    def __init__(self, build, repeat, limit):
        self.build, self.repeat, self.limit = Path(build), repeat, limit
        self.collsim = str(self.build / "src/cli/collsim")
        self.start_s = statistics.median(self.once([self.collsim, "version"])[0] for _ in range(5))

    def once(self, words, limit=None):
        """(CPU seconds, what it printed), or (None, "") if it hit the limit."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # A shell in between: a process's peak memory begins with that of who started it.
        done = subprocess.run(["sh", "-c", f'ulimit -t {limit or self.limit}; "$@" || exit $?', "sh", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode in (128 + signal.SIGXCPU, 128 + signal.SIGKILL):
            return None, ""
        if done.returncode:
            sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout

    def run(self, *words, limit=None):
        """{"cpu_s", "events", "rss_mib", "json"}; cpu_s None beyond the limit, CPU seconds. Long runs are not repeated."""
        seconds, text = [], ""
        for _ in range(self.repeat):
            taken, text = self.once([self.collsim, *map(str, words), "--json"], limit)
            if taken is None:
                return {"cpu_s": None, "limit": limit or self.limit, "events": None, "rss_mib": None, "json": {}}
            seconds.append(taken)
            if taken > 10:
                break
        found = json.loads(text)
        cost = found.get("stats", found)
        return {"cpu_s": statistics.median(seconds), "events": cost["events"], "rss_mib": cost["peak_rss_mib"], "json": found}


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def seconds(r):
    if r["cpu_s"] is None:
        return f"> {r['limit']}"
    return f"{r['cpu_s']:.3g}" if r["cpu_s"] < 100 else f"{r['cpu_s']:.0f}"


def whole(n):
    return "-" if n is None else f"{n:,}".replace(",", " ")


def mib(r):
    return "-" if r["rss_mib"] is None else f"{r['rss_mib']:.0f}"


def per_event(bench, r):
    """Without starting the process, and where that is little."""
    return f"{(r['cpu_s'] - bench.start_s) / r['events'] * 1e9:.0f}" if r["events"] and r["cpu_s"] > 3 * bench.start_s else "-"


# --- sections ---------------------------------------------------------------------------------------------------------------

def loop(bench, ranks):
    """CPU seconds of the bare heap loop."""
    return statistics.median(json.loads(bench.once([str(bench.build / "tests/bench/bench-loop"), str(ranks)])[1])["cpu_s"] for _ in range(bench.repeat))


def peers(bench):
    """Bare workloads beside other simulators."""
    rows, full = [], (["ring", "-N", 256], ["ring", "-N", 1024], ["ring", "-N", 4096], ["alltoall", "-N", 1024], ["tree", "-N", 4096])
    collapsed = [["ring", "-N", n, "--collapse", *jump] for n in (1024, 4096) for jump in (["--no-jump"], [])]
    for words in (*full, *collapsed):
        r = bench.run("bench", *words)
        found = r["json"]
        others = "; ".join(f"{p['tool']} {p['cpu_s']:g} s" + (f", {p['peak_rss_mib']:.0f} MiB" if p["peak_rss_mib"] else "")
                           for p in found.get("peers", ())) if words in full else ""
        rows.append(("`" + " ".join(map(str, words)) + "`", whole(found.get("messages")), whole(r["events"]), f"{found.get('cpu_s', 0):.3g}", seconds(r),
                     mib(r), others))
    yield from table(("run", "messages", "events", "simulation, CPU s", "process, CPU s", "MiB", "others, process: CPU s, memory"), rows)
    yield ""
    yield (f"Starting and ending the process takes {bench.start_s:.3f} s of these. Yardstick: "
           f"`bench-loop`, a bare heap loop in C, takes {loop(bench, 1024):.3f} s here for `ring -N 1024` and {loop(bench, 4096):.2f} s for `ring -N 4096`; "
           "its like took 0.100 s and 2.38 s on the machine of the others' figures.")


GOALS = (
    ("1024 GPUs, ring, 1 GiB, one call, every rank", "8", ["dgx-h100*128", "-b", "1G", "-e", "1G", "-n", 1, "--algo", "Ring", "--no-symmetry"]),
    ("the same, equivalent ranks once", "0.25", ["dgx-h100*128", "-b", "1G", "-e", "1G", "-n", 1, "--algo", "Ring"]),
    ("the same, 20 calls", "0.25", ["dgx-h100*128", "-b", "1G", "-e", "1G", "--algo", "Ring"]),
    ("16 384 GPUs, ring, 8 GiB, one call", "1.5", ["dgx-h100*2048", "-b", "8G", "-e", "8G", "-n", 1, "--algo", "Ring"]),
    ("16 384 GPUs, tree, 8 B to 8 GiB", "5", ["dgx-h100*2048", "-b", 8, "-e", "8G", "-f", 2, "--algo", "Tree"]),
    ("16 384 GPUs, NVLSTree, 8 B to 8 GiB", "5", ["dgx-h100*2048", "-b", 8, "-e", "8G", "-f", 2, "--algo", "NVLSTree"]),
    ("1024 GPUs, alltoall, 64 MiB a rank, one call, every rank", "60", ["dgx-h100*128", "-c", "alltoall", "-b", "64M", "-e", "64M", "-n", 1, "--no-symmetry"]),
    ("the same, equivalent ranks once", "5", ["dgx-h100*128", "-c", "alltoall", "-b", "64M", "-e", "64M", "-n", 1]),
)


def goals(bench):
    """What the project promised itself."""
    rows = []
    for what, goal, words in GOALS:
        r = bench.run("run", *words, "-j", 1, limit=bench.limit)
        rows.append((what, goal, seconds(r), whole(r["events"]), per_event(bench, r), mib(r)))
    return table(("run", "goal s", "CPU s", "events", "ns an event", "MiB"), rows)


def growth(bench, head, runs):
    rows = []
    for label, words in runs:
        r = bench.run("run", *words)
        rows.append((label, whole(r["events"]), seconds(r), per_event(bench, r), mib(r)))
    return table((head, "events", "CPU s", "ns an event", "MiB"), rows)


RING = ["--algo", "Ring", "--proto", "Simple", "-n", 1]


def ranks_full(bench):
    """Ring of 64 MiB, every rank simulated."""
    return growth(bench, "GPUs", [(8 * n, [f"dgx-h100*{n}", "-b", "64M", "-e", "64M", *RING, "--no-symmetry"]) for n in (1, 2, 4, 8, 16, 32)])


def ranks_collapsed(bench):
    """Ring of 2 GiB, equivalent ranks once: about the same number of steps for all of these."""
    return growth(bench, "GPUs", [(8 * n, [f"dgx-h100*{n}", "-b", "2G", "-e", "2G", *RING]) for n in (2, 4, 8, 16, 32)])


def channels(bench):
    """Ring of 64 MiB on 32 GPUs, every rank simulated."""
    def words(c):
        return ["dgx-h100*4", "-b", "64M", "-e", "64M", *RING, "--no-symmetry", "-x", f"NCCL_MIN_NCHANNELS={c}", "-x", f"NCCL_MAX_NCHANNELS={c}"]
    return growth(bench, "channels", [(c, words(c)) for c in (1, 2, 4, 8, 16, 32)])


def sizes(bench):
    """Ring on 32 GPUs, every rank simulated."""
    return growth(bench, "size", [(s, ["dgx-h100*4", "-b", s, "-e", s, *RING, "--no-symmetry"]) for s in ("1M", "4M", "16M", "64M", "256M", "1G")])


def algorithms(bench):
    """16 nodes of 8 GPUs, 16 MiB, equivalent ranks once where there are any."""
    runs = [(a, ["dgx-h100*16", "-b", "16M", "-e", "16M", "-n", 1, "--algo", a]) for a in ("Ring", "Tree", "NVLSTree")]
    runs.append(("alltoall", ["dgx-h100*16", "-b", "16M", "-e", "16M", "-n", 1, "-c", "alltoall"]))
    runs.append(("Ring, packets", ["dgx-h100*16", "-b", "16M", "-e", "16M", "-n", 1, "--algo", "Ring", "--fidelity", "packet"]))
    return growth(bench, "run", runs)


def load(bench):
    """16 384 GPUs without a simulation: topology, communicator, choice."""
    runs = [(8 * n, [f"dgx-h100*{n}", "-b", "1G", "-e", "1G", "--fidelity", "model"]) for n in (1, 16, 128, 1024, 2048)]
    return table(("GPUs", "CPU s", "MiB"), [(label, seconds(r), mib(r)) for label, words in runs for r in [bench.run("run", *words)]])


def program(bench, *words):
    return ["```", *bench.once([str(bench.build / "tests/bench" / words[0]), *words[1:]], limit=600)[1].rstrip().split("\n"), "```"]


def engine(bench):
    """Hold model: every event schedules one more."""
    return program(bench, "bench-engine", "300000")


def fluid(bench):
    """Flows that share links."""
    return program(bench, "bench-fluid", "300000")


def comm(bench):
    """Making communicators."""
    return program(bench, "bench-comm")


def instructions(bench):
    """The table of tools/instructions.sh, as it is checked in."""
    return bench.once(["tools/instructions.sh", str(bench.build), "--table"])[1].rstrip().split("\n")


SECTIONS = {f.__name__.replace("_", "-"): f for f in
            (peers, goals, ranks_full, ranks_collapsed, channels, sizes, algorithms, load, engine, fluid, comm, instructions)}

# --- output -----------------------------------------------------------------------------------------------------------------


def setting(bench):
    comment = subprocess.run(["readelf", "-p", ".comment", bench.collsim], stdout=subprocess.PIPE, text=True, check=False).stdout
    compiler = ", ".join(sorted(set(re.findall(r"\] +(.+)", comment)))) or "unknown compiler"
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").exists() else None
    return (f"{datetime.date.today()}, {cpu.group(1) if cpu else platform.machine()}, {os.cpu_count()} cores, load average "
            f"{os.getloadavg()[1]:.0f}, {compiler.replace('GCC: ', 'gcc ')}")


def write(path, name, lines):
    text = path.read_text()
    pattern = re.compile(rf"(<!-- bench: {name} -->\n).*?(<!-- end -->)", re.S)
    path.write_text(pattern.sub(lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    args = parser.parse_intermixed_args()
    unknown = [s for s in args.sections if s not in SECTIONS]
    if unknown:
        sys.exit(f"bench.py: no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    bench = Bench(args.build, args.repeat, args.limit)
    print(f"{setting(bench)}\n")
    for name in args.sections or SECTIONS:
        lines = [f"*{setting(bench)}*", "", *SECTIONS[name](bench)] if name != "instructions" else list(SECTIONS[name](bench))
        print(f"## {name}: {SECTIONS[name].__doc__}\n", *lines, "", sep="\n", flush=True)
        if args.write:
            write(args.write, name, lines)


main()
