"""The same program on four ranks under every launcher.

    run.py [-v] [NAME...]

The same binary trains under torchrun, mpirun of Open MPI, mpiexec of MPICH, srun (a Slurm cluster of one node),
and torchrun on two hosts (network namespaces with two ranks each). All losses equal those of torchrun on one
machine, bit by bit. A launcher that the machine does not have is reported as skipped. With -v, prints commands
and losses: the transcript in docs/launchers.md.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("parity", "reliability")]
import slurm  # noqa: E402
from hosts import can_make_hosts, two_hosts  # noqa: E402
from titan import (QUICK, ROOT, TITANC, TORCHRUN, Failed, Report, call, environment_of,  # noqa: E402
                   read_arguments, write_text)

OUT = ROOT / "out" / "launch"
RANKS = 4
STEPS = 5
PROGRAM = """import std.loss
model Bigram(vocab = 256, width = 32) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  param table[vocab, width]   ~ normal(1)
  param unembed[width, vocab] ~ normal(0.02)
  let x[batch, seq, width] = table[vocab: tokens]
  let logits[batch, seq, vocab] = x @ unembed
  loss = mean(cross_entropy(logits, labels, over vocab), over batch, seq)
}
parallel square {
  shard = 2 splits batch stores params, grads, optimizer
  tp    = 2 splits vocab
}
train bigram = Bigram on square {
  data      = text("text.txt") { seq = 16, batch = 8 }
  optimizer = adamw { lr = 1e-3 }
}
"""


def command_of(out: Path) -> list[str]:
    return [str(word) for word in (OUT / "bigram", "--data", OUT / "text.txt", "--steps", STEPS,
                                   "--log-every", 1, "--out", out)]


def losses_of(out: Path) -> list[float]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


def launch(name: str, words: list[str], environment: dict | None = None) -> list[float]:
    """The losses of one command that starts all ranks."""
    out = OUT / name
    call([*words, *command_of(out)], env=environment_of(environment or {}), timeout=120)
    return losses_of(out)


def show(words: list[str]) -> str:
    return "$ " + " ".join(words) + " ./bigram --steps 5 --log-every 1"


TORCHRUN_WORDS = ["torchrun", "--standalone", "--no-python", "--nproc-per-node", str(RANKS)]
MPIRUN_WORDS = ["mpirun.openmpi", "-n", str(RANKS)]
MPIEXEC_WORDS = ["mpiexec.hydra", "-n", str(RANKS)]
SRUN_WORDS = ["srun", "-n", str(RANKS)]


def by_torchrun() -> tuple[str, list[float]]:
    return show(TORCHRUN_WORDS), launch("torchrun", [str(TORCHRUN), *TORCHRUN_WORDS[1:]])


def by_mpirun() -> tuple[str, list[float]]:
    options = ["--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    return show(MPIRUN_WORDS), launch("mpirun", [*MPIRUN_WORDS, *options])


def by_mpiexec() -> tuple[str, list[float]]:
    return show(MPIEXEC_WORDS), launch("mpiexec", MPIEXEC_WORDS)


def by_srun() -> tuple[str, list[float]]:
    with slurm.cluster() as environment:
        return show(SRUN_WORDS), launch("srun", SRUN_WORDS, environment)


def start_on_hosts(command: list[str]) -> tuple[list[str], str]:
    """Starts torchrun's agent on each of two hosts. Returns the words of its command line, and the program's output."""
    words = ["torchrun", "--no-python", "--nnodes", "2", "--nproc-per-node", str(RANKS // 2),
             "--master-addr", "10.213.7.1", "--master-port", "29500", "--node-rank"]
    with two_hosts() as hosts:
        agents = [subprocess.Popen(["ip", "netns", "exec", host, str(TORCHRUN), *words[1:], str(node),
                                    *command], env=environment_of({}), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                  for node, host in enumerate(hosts)]
        try:
            ends = [agent.communicate(timeout=120) for agent in agents]
        finally:
            for agent in agents:
                agent.kill()
        for agent, (_, stderr) in zip(agents, ends):
            if agent.returncode:
                raise Failed(f"torchrun ended with {agent.returncode}\n{stderr[-2000:]}")
    return words, "".join(printed for printed, _ in ends)


def on_two_hosts() -> tuple[str, list[float]]:
    out = OUT / "hosts"
    words, _ = start_on_hosts(command_of(out))
    return "\n".join(show([*words, str(node)]) + f"   # on host {node}" for node in (0, 1)), losses_of(out)


def knows_nodes() -> tuple[str, list[float]]:
    """The plan names the nodes that the launcher reports, and the axis that crosses them."""
    _, printed = start_on_hosts([*command_of(OUT / "plan"), "--dry-run"])
    found = "nodes of 2 ranks, crossed by shard\n" in printed
    return "nodes of 2 ranks, crossed by shard" if found else printed, losses_of(OUT / "expected") if found else []


LAUNCHERS = {
    "torchrun": (by_torchrun, lambda: ""),
    "mpirun": (by_mpirun, lambda: "" if shutil.which("mpirun.openmpi") else "there is no mpirun"),
    "mpiexec": (by_mpiexec, lambda: "" if shutil.which("mpiexec.hydra") else "there is no mpiexec"),
    "srun": (by_srun, slurm.reason_to_skip),
    "two hosts, a plan": (knows_nodes, lambda: "" if can_make_hosts() else
                          "network namespaces need root and iproute2"),
    "two hosts": (on_two_hosts, lambda: "" if can_make_hosts() else
                  "network namespaces need root and iproute2"),
}


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    write_text(OUT / "text.txt", 20_000)
    source = OUT / "bigram.titan"
    source.write_text(PROGRAM)
    call([TITANC, "build", source, "-o", OUT / "bigram", *QUICK])
    expected = launch("expected", [str(TORCHRUN), *TORCHRUN_WORDS[1:]])
    report = Report()
    for name, (run, reason) in LAUNCHERS.items():
        report.offered.append(name)
        if not all(part in name for part in arguments.names):
            continue
        if skipped := reason():
            print(f"skipped: {name}: {skipped}")
            continue

        def case():
            command, losses = run()
            return len(losses) == STEPS and losses == expected, f"{command}\nlosses {losses}"

        report.case(f"{RANKS} ranks, {name}", case)
    report.end()


if __name__ == "__main__":
    main()
