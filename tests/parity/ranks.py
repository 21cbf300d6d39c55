"""Starts a command as several ranks, with the environment variables of torchrun.

    ranks.py PROCESSES COMMAND...

Tests use it where the launcher does not matter: torchrun imports PyTorch, which takes two seconds of a processor.
When a rank fails, the others have 30 seconds to end. Exit status: that of the first rank that failed, 0 without one.
"""

import os
import signal
import socket
import subprocess
import sys
import time

GRACE = 30.0  # seconds


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(count: int, command: list[str]) -> list[subprocess.Popen]:
    shared = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1",
              "MASTER_PORT": str(free_port())}
    return [subprocess.Popen(command, env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)})
            for rank in range(count)]


def wait(ranks: list[subprocess.Popen]) -> int:
    running, first, deadline = list(ranks), 0, None
    while running:
        for rank in [rank for rank in running if rank.poll() is not None]:
            running.remove(rank)
            if rank.returncode and not first:
                first, deadline = rank.returncode, time.monotonic() + GRACE
        if deadline and time.monotonic() > deadline:
            for rank in running:
                rank.kill()
        time.sleep(0.005)
    return first if first >= 0 else 128 - first


def main() -> None:
    ranks = start(int(sys.argv[1]), sys.argv[2:])
    signal.signal(signal.SIGTERM, lambda *_: [rank.terminate() for rank in ranks])
    sys.exit(wait(ranks))


if __name__ == "__main__":
    main()
