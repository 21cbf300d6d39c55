"""Two network namespaces on one machine, connected at a given rate."""

import os
import subprocess
import sys


def call(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"error: {' '.join(command)}: {result.stderr.strip()}")


class Network:
    """Two namespaces with a veth link; both ends limit their traffic to `rate` (in tc's syntax: 200mbit)."""

    ADDRESSES = ("10.77.0.1", "10.77.0.2")
    INTERFACE = "line"  # in both namespaces

    def __init__(self, rate: str):
        self.rate = rate
        self.names = [f"titan-{os.getpid()}-{end}" for end in range(2)]

    def __enter__(self) -> "Network":
        if os.geteuid():
            sys.exit("error: network namespaces need root")
        for name in self.names:
            call("ip", "netns", "add", name)
        first, second = self.names
        call("ip", "-n", first, "link", "add", self.INTERFACE, "type", "veth", "peer", "name",
             self.INTERFACE, "netns", second)
        for name, address in zip(self.names, self.ADDRESSES):
            call("ip", "-n", name, "addr", "add", f"{address}/24", "dev", self.INTERFACE)
            for link in (self.INTERFACE, "lo"):
                call("ip", "-n", name, "link", "set", link, "up")
            call("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", self.INTERFACE, "root",
                 "tbf", "rate", self.rate, "burst", "128kb", "latency", "50ms")
        return self

    def __exit__(self, *_) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def inside(self, end: int) -> list[str]:
        """The prefix of a command that runs at this end."""
        return ["ip", "netns", "exec", self.names[end]]
