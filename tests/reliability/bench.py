"""The test bench of ranks.py: small programs, their data, and ranks that start without a launcher."""

import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from titan import QUICK, ROOT, TITANC, Failed, call, environment_of, write_text  # noqa: E402

OUT = ROOT / "out" / "ranks"
PROGRAM = """import std.loss
model Bigram(vocab = 256, width = 16, scale = 1.0) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  param table[vocab, width]   ~ normal(1)
  param unembed[width, vocab] ~ normal(0.02)
  let x[batch, seq, width] = table[vocab: tokens]
  let logits[batch, seq, vocab] = x @ unembed * scale
  loss = mean(cross_entropy(logits, labels, over vocab), over batch, seq)
}
parallel two { shard = auto splits batch stores params, grads, optimizer }
parallel split { tp = 2 splits width }
parallel square { shard = 2 splits batch stores params, grads, optimizer
                  tp = 2 splits width }
"""
RUN = """train {} = Bigram on {} {{
  data = text("none.txt") {{ seq = 16, batch = 12 }}
  optimizer = adamw {{ lr = 1e-3 }}
  steps = 40
}}
"""
VARIANTS = {"base": ("base", []), "mesh": ("mesh", ["steps=100000"]),
            "scaled": ("base", ["model.scale=2.0"]),
            "decay": ("base", ["optimizer.weight_decay=0.5"]),
            "wide": ("base", ["model.width=24"]), "tp": ("tp", [])}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Rank:
    """The process of one rank, started without a launcher."""

    def __init__(self, rank, size, port, command, variables=None):
        rank_environment = {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank),
                            "LOCAL_WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
                            "MASTER_PORT": str(port), "TITAN_CONNECT_TIMEOUT": "20",
                            "TITAN_COMM_TIMEOUT": "20"}
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in command], env=environment_of({**rank_environment, **(variables or {})}),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")

    def end(self, timeout: float = 40) -> tuple[int, str]:
        """The exit status and standard error; status -1000 if the rank did not end in time."""
        try:
            stderr = self.process.communicate(timeout=timeout)[1]
            return self.process.returncode, stderr
        except subprocess.TimeoutExpired:
            self.process.kill()
            return -1000, "(it did not end) " + self.process.communicate()[1]

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Bench:
    """The programs, their data and a folder for each trial's files."""

    def __init__(self, variants):
        shutil.rmtree(OUT, ignore_errors=True)
        self.text = write_text(OUT / "text.txt", 20_000)
        self.copy = write_text(OUT / "elsewhere" / "copy.txt", 20_000)
        self.other = write_text(OUT / "other.txt", 20_000, seed=2)
        self.short = write_text(OUT / "short.txt", 19_000)
        self.config = OUT / "slow.toml"
        self.config.write_text("optimizer.lr = 1e-4\n")
        source = OUT / "ranks.titan"
        source.write_text(PROGRAM + "".join(
            RUN.format(*run) for run in (("base", "two"), ("tp", "split"), ("mesh", "square"))))
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: call(
                [TITANC, "build", source, "--train", VARIANTS[name][0], "-o", OUT / name, *QUICK,
                 *(word for s in VARIANTS[name][1] for word in ("--set", s))]), variants))
        self.variants = variants
        self.runs = 0

    def fresh(self) -> Path:
        """The path of a run directory that no trial has used."""
        self.runs += 1
        return OUT / f"run-{self.runs}"

    def command(self, out, *more, exe="base", data=None):
        return [OUT / exe, "--data", data or self.text, "--out", out, "--log-every", "1", *more]


def start(bench, rank, size, port, out, change=None, variables=None, exe="base"):
    """Starts a rank; `change` has its differences from other ranks: `out`, `data`, `exe`, `variables`, and further
    options `more`."""
    change = change or {}
    command = bench.command(out if "out" not in change else out.with_name(change["out"]),
                            *change.get("more", []), exe=change.get("exe", exe),
                            data=change.get("data"))
    if "--log-every" in change.get("more", []):
        command = command[:5] + command[7:]
    return Rank(rank, size, port, command, {**(variables or {}), **change.get("variables", {})})


def wait_for(path: Path, seconds: float = 20):
    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    if not path.exists():
        raise Failed(f"{path} did not come")
