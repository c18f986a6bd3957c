#!/usr/bin/env python3
"""Judges what the guest of run.sh printed. TAP. Usage: check.py GUEST_LOG

Every message must have arrived, with the right content; the device must have counted at least the data packets that a
message has by arithmetic, and not many more (acknowledgements of the same device, and retransmissions of soft-RoCE).
"""
import re
import sys
from pathlib import Path

# part -> (exit code, tests, sizes, may the device's counter be compared)
PARTS = {
    "two-devices": (0, ["write_bw", "read_bw", "send_bw", "write_lat", "read_lat", "send_lat"], [8, 512, 32768], True),
    "one-device": (0, ["write_bw", "read_bw", "send_bw", "write_lat", "read_lat", "send_lat"], [1024], False),
    "many-queues": (0, ["write_bw", "read_bw", "send_bw"], [16384], True),
    "inline": (0, ["write_bw", "send_lat"], [64], True),
    "tcp": (0, ["write_bw", "send_bw"], [4096], True),
}
MESSAGES = {
    "no-device": 'no RDMA device "mlx5_0" on this machine',
    "bad-gid": "rxe0: entry 99 of the GID table is empty",
}


def parts(text):
    for match in re.finditer(r"BEGIN (\S+)\n(.*?)^END (\S+) (\d+)$", text, re.S | re.M):
        yield match[1], match[2], int(match[4])


def rows(text):
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    head = next((line.split(",") for line in lines if line.startswith("test,")), [])
    return [dict(zip(head, line.split(","))) for line in lines if line.count(",") == len(head) - 1 and not line.startswith("test,")]


def problems(name, text, code):
    want_code, tests, sizes, counted = PARTS[name]
    if code != want_code:
        yield f"exit code {code}"
    have = rows(text)
    if [(row["test"], int(row["size_bytes"])) for row in have] != [(test, size) for test in tests for size in sizes]:
        yield "not the rows that were asked for"
    for row in have:
        where = f"{row['test']} {row['size_bytes']}"
        if row["wrong"] != "0":
            yield f"{where}: {row['wrong']} wrong bytes"
        if float(row["time_us"]) <= 0:
            yield f"{where}: no time"
        packets, seen = int(row["packets"]), int(row["counted"] or -1)
        if seen < packets or (counted and seen > 3 * packets + 200):
            yield f"{where}: {packets} packets by arithmetic, {seen} by the device"


def main():
    text = Path(sys.argv[1]).read_text(errors="replace")
    found = {name: (body, code) for name, body, code in parts(text)}
    names = list(PARTS) + list(MESSAGES)
    print(f"1..{len(names) + 1}")
    failed = False
    for number, name in enumerate(names, 1):
        body, code = found.get(name, ("", -1))
        if name in PARTS:
            bad = list(problems(name, body, code)) if name in found else ["the guest never got there"]
        else:
            bad = [] if MESSAGES[name] in body and code == 2 else [f"exit code {code}: {body.strip()!r}"]
        for line in bad:
            print("#", line)
        if bad:
            print("\n".join("# | " + line for line in body.splitlines()))
        failed |= bool(bad)
        print(f"{'not ' if bad else ''}ok {number} {name}")
    done = "GUEST_DONE" in text
    if not done:
        print("\n".join("# | " + line for line in text.splitlines()[-30:]))
    print(f"{'' if done else 'not '}ok {len(names) + 1} the guest came to its end")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
