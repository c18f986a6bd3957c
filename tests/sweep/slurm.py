#!/usr/bin/env python3
"""A sweep as an array of four tasks on a Slurm of one node, with the shipped batch file. TAP.

Starts slurmctld and slurmd of its own on free ports, with everything in a scratch folder.

Usage: slurm.py COLLSIM SOURCE_ROOT
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Tap, environment, same, sweep, write_experiment

CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={root}/ctld.pid
SlurmdPidFile={root}/d.pid
SlurmctldLogFile={root}/ctld.log
SlurmdLogFile={root}/d.log
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
NodeName={host} NodeAddr=127.0.0.1 CPUs=1
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4
"""
NEEDED = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    def __init__(self, root, env):
        self.root, self.env = root, env | {"SLURM_CONF": str(root / "slurm.conf")}
        user = subprocess.run(["id", "-un"], text=True, capture_output=True, check=True).stdout.strip()
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (root / name).mkdir()
        (root / "slurm.conf").write_text(CONF.format(host=host, user=user, ports=free_ports(2), root=root))
        self.daemons = [subprocess.Popen([name, "-D"], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for name in ("slurmctld", "slurmd")]

    def call(self, *command):
        return subprocess.run(command, env=self.env, cwd=self.root, text=True, capture_output=True, timeout=60, check=False)

    def wait_idle(self, seconds=60):
        for _ in range(seconds * 5):
            if self.call("sinfo", "-h", "-o", "%T").stdout.strip() in ("idle", "mixed", "allocated"):
                return True
            time.sleep(0.2)
        return False

    def submit(self, *arguments):
        done = self.call("sbatch", "--parsable", *arguments)
        if done.returncode:
            print("#", done.stderr, file=sys.stderr)
        return done.stdout.strip()

    def wait_empty(self, seconds=240):
        for _ in range(seconds * 5):
            queue = self.call("squeue", "-h")
            if queue.returncode == 0 and not queue.stdout.strip():
                return True
            time.sleep(0.2)
        return False

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def logs(self):
        return "".join(path.read_text()[-1500:] for path in sorted(self.root.glob("*.log")))


def run_tests(tap, slurm, collsim, batch, root):
    experiment = write_experiment(root / "e.json", repeats=6)
    alone = sweep(collsim, experiment, root / "alone")
    tap.check("-j 1", alone.returncode == 0, alone.stderr)
    slurm.submit(str(batch), str(experiment), str(root / "array"))
    tap.check("an array of 4 shards ends", slurm.wait_empty(), slurm.logs())
    merged = sweep(collsim, experiment, root / "array", "--merge")
    tap.check("merged", merged.returncode == 0, merged.stdout + merged.stderr + slurm.logs())
    tap.check("the same files", not same(root / "alone", root / "array"), f"different: {same(root / 'alone', root / 'array')}")
    job = slurm.submit(str(batch), str(experiment), str(root / "killed"))
    victim = root / "killed" / "points-2-of-4.jsonl"
    for _ in range(2000):
        if victim.exists() and victim.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.01)
    slurm.call("scancel", "--signal=KILL", "--full", f"{job}_2")
    tap.check("the array ends without the killed task", slurm.wait_empty(), slurm.logs())
    merged = sweep(collsim, experiment, root / "killed", "--merge")
    tap.check("merging says what is missing", merged.returncode == 1 and "are missing" in merged.stdout, merged.stdout + merged.stderr)
    slurm.submit("--array=2", "--export=ALL,SLURM_ARRAY_TASK_COUNT=4", "--wrap", f"exec collsim sweep {experiment} --shard 2/4 --out {root / 'killed'}")
    tap.check("its shard is done again", slurm.wait_empty(), slurm.logs())
    merged = sweep(collsim, experiment, root / "killed", "--merge")
    tap.check("the same files again", merged.returncode == 0 and not same(root / "alone", root / "killed"), merged.stdout + merged.stderr + slurm.logs())


def main():
    collsim, source, tap = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), Tap()
    absent = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if absent:
        tap.skip("a Slurm array", f"no {', '.join(absent)} (Debian: slurmctld slurmd slurm-client)")
        tap.end()
    env = environment(collsim)
    env["PATH"] += ":/usr/sbin"
    os.environ["PATH"] = env["PATH"]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        slurm = Slurm(root, env)
        try:
            if slurm.wait_idle():
                run_tests(tap, slurm, collsim, source / "examples" / "sweep.sbatch", root)
            else:
                tap.check("slurmctld and slurmd start", False, slurm.logs())
        finally:
            slurm.stop()
    tap.end()


main()
