"""A Slurm cluster of one node: munged, slurmctld and slurmd with their own files and ports.

Needs root and Debian's packages slurmctld, slurmd, slurm-client and munge.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
CONFIGURATION = """ClusterName=titan
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={next_port}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def reason_to_skip() -> str:
    missing = [name for name in PROGRAMS if not find(name)]
    if missing:
        return f"Slurm is not installed: there is no {missing[0]}"
    return "" if os.geteuid() == 0 else "only root can start slurmd"


def find(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def start(command: list, environment: dict) -> None:
    """Runs a command that starts a daemon, and returns when the daemon serves."""
    result = subprocess.run([str(word) for word in command], env=environment, capture_output=True,
                            text=True, timeout=30)
    if result.returncode:
        raise OSError(f"{command[0]} failed: {result.stdout}{result.stderr}")


def wait_until_idle(environment: dict, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        state = subprocess.run(["sinfo", "--noheader", "--format=%t"], env=environment,
                               capture_output=True, text=True, timeout=30).stdout.strip()
        if state == "idle":
            return
        time.sleep(0.2)
    raise OSError("the node of the Slurm cluster did not become idle")


@contextlib.contextmanager
def cluster():
    """Yields the environment for commands of the cluster; the cluster ends with the context."""
    folder = Path(tempfile.mkdtemp(prefix="titan-slurm-"))
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    try:
        folder.chmod(0o755)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        port, next_port = free_ports()
        (folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], port=port, next_port=next_port, folder=folder))
        start([find("munged"), "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
               f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
               f"--seed-file={folder}/seed"], environment)
        start([find("slurmctld"), "-c", "-f", folder / "slurm.conf"], environment)
        start([find("slurmd"), "-f", folder / "slurm.conf"], environment)
        wait_until_idle(environment)
        yield environment
    finally:
        for name in ("slurmd", "slurmctld", "munged"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int((folder / f"{name}.pid").read_text()), signal.SIGTERM)
        time.sleep(0.5)
        shutil.rmtree(folder, ignore_errors=True)
