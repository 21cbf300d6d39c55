"""Two hosts on one machine: network namespaces."""

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

from bench import Rank, call


def can_make_hosts() -> bool:
    return os.geteuid() == 0 and bool(shutil.which("ip")) and subprocess.run(
        ["ip", "netns", "add", "titan-probe"], capture_output=True).returncode == 0 and \
        subprocess.run(["ip", "netns", "del", "titan-probe"], capture_output=True).returncode == 0


@contextlib.contextmanager
def two_hosts():
    """Connected network namespaces in which this machine's name resolves to 127.0.1.1."""
    names, run = ("titan-a", "titan-b"), lambda *words: call(["ip", *words])  # noqa: E731
    folders = [Path("/etc/netns") / name for name in names]
    try:
        for name, folder in zip(names, folders):
            run("netns", "add", name)
            folder.mkdir(parents=True)
            (folder / "hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {socket.gethostname()}\n")
        run("link", "add", "titan-a0", "netns", names[0], "type", "veth", "peer", "name", "titan-b0",
            "netns", names[1])
        for number, name in enumerate(names):
            run("-n", name, "link", "set", "lo", "up")
            run("-n", name, "addr", "add", f"10.213.7.{number + 1}/24", "dev", f"{name}0")
            run("-n", name, "link", "set", f"{name}0", "up")
        yield names
    finally:
        for name, folder in zip(names, folders):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
            shutil.rmtree(folder, ignore_errors=True)


def try_two_hosts(bench, chance, master):
    """`master` is MASTER_ADDR on the first host; the second one uses an address."""
    out = bench.fresh()
    with two_hosts() as hosts:
        ranks = []
        for rank, host in enumerate(hosts):
            address = master if rank == 0 else "10.213.7.1"
            variables = {"MASTER_ADDR": address, "LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"}
            command = ["ip", "netns", "exec", host, *bench.command(out)]
            ranks.append(Rank(rank, 2, 29500, command, variables))
        ends = [rank.end() for rank in ranks]
    return [f"rank {rank} ended with {status}: {output}"
            for rank, (status, output) in enumerate(ends) if status != 0]
