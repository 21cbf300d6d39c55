"""Trials of runs that receive signals at random moments.

    signals.py [--count N] [--seed N] [-v]

Every trial starts a run of one or two ranks, sends signals at a random moment, checks the result, and runs
the same command to its end: losses and weights must be bitwise equal to those of an undisturbed run. Kinds
of trials, in turn:

  one      each of 15 signals to rank 0 or to rank 1 of two
  all      SIGTERM to both ranks, once or twice within 20 ms
  torchrun TERM, INT, HUP and KILL to torchrun, which forwards the first three
  bench    TERM, INT, HUP and KILL to a benchmark that alternates programs (once each, for any count)
  alone    TERM once or twice to a run of one process, from its first millisecond on

Signals that can be handled save one checkpoint and end with 75 (with torchrun, 1). SIGUSR1 saves and does
not end. No process stays. status.json describes the end, and names a killed process. `--count` trials, 12 by
default; the complete cycle is 46.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from titan import BUILD, ROOT, TORCHRUN, Failed, Report, environment_of, write_text

OUT = ROOT / "out" / "reliability-signals"
PROGRAM = BUILD / "tests" / "unit" / "test-runtime-bigram"
STEPS = 400
SAVING = ["TERM", "INT", "HUP", "QUIT", "USR2", "XCPU", "ALRM"]
GOING_ON = ["USR1", "XFSZ", "PIPE"]
CRASHES = ["SEGV", "ABRT", "BUS", "FPE"]
LIMIT = 30  # seconds from a signal to the end


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tail(outputs: list[str]) -> list[str]:
    return [text[-500:] for text in outputs]


class Trial:
    """A run of one or two ranks, or of torchrun, that receives signals."""

    def __init__(self, name: str, text: Path, ranks: int, launcher: bool = False):
        self.out, self.ranks = OUT / name, ranks
        self.command = [PROGRAM, "--data", text, "--out", self.out, "--log-every", "1", "--steps", STEPS]
        self.processes = []
        self.start(launcher)

    def start(self, launcher: bool = False) -> None:
        if launcher:
            environments = [{}]
            command = [TORCHRUN, "--standalone", "--no-python", "--nproc-per-node", self.ranks, *self.command]
        else:
            port, command = free_port(), self.command
            environments = [{"RANK": str(rank), "WORLD_SIZE": str(self.ranks), "LOCAL_RANK": str(rank),
                             "LOCAL_WORLD_SIZE": str(self.ranks), "MASTER_ADDR": "127.0.0.1",
                             "MASTER_PORT": str(port), "TITAN_CONNECT_TIMEOUT": "20", "TITAN_COMM_TIMEOUT": "20"}
                            for rank in range(self.ranks)]
        self.processes = [subprocess.Popen(list(map(str, command)), env=environment_of(variables), text=True,
                                           errors="replace", stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT) for variables in environments]

    def losses(self) -> list[float]:
        path = self.out / "metrics.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line)["loss"] for line in lines]

    def wait_for_steps(self, steps: int) -> None:
        while len(self.losses()) < steps:
            if any(process.poll() is not None for process in self.processes):
                raise Failed("it ended before: " + "".join(self.end()[0]))
            time.sleep(0.005)

    def send(self, name: str, to: tuple[int, ...]) -> None:
        for rank in to:
            if self.processes[rank].poll() is None:
                self.processes[rank].send_signal(getattr(signal, "SIG" + name))

    def end(self) -> tuple[list[str], list[int]]:
        outputs = []
        for process in self.processes:
            try:
                outputs.append(process.communicate(timeout=LIMIT)[0])
            except subprocess.TimeoutExpired:
                for other in self.processes:
                    other.kill()
                raise Failed(f"it goes on {LIMIT} s after the signal")
        return outputs, [process.returncode for process in self.processes]

    def status(self) -> dict:
        return json.loads((self.out / "status.json").read_text())

    def checkpoints(self) -> int:
        return len(list((self.out / "checkpoints").glob("step-*"))) if self.out.exists() else 0

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            raise Failed(what)

    def check_saved(self, outputs: list[str], status: list[int], expected: int = 75) -> None:
        self.require(status == [expected] * len(status), f"ended with {status}: {tail(outputs)}")
        self.require(self.checkpoints() == 1, f"{self.checkpoints()} checkpoints: {tail(outputs)}")
        self.require(self.status()["state"] == "stopped", f"status {self.status()}")

    def finish(self, whole: "Trial") -> None:
        """The same command to its end, undisturbed."""
        self.start()
        outputs, status = self.end()
        self.require(status == [0] * self.ranks, f"did not resume: {tail(outputs)}")
        self.require(self.losses() == whole.losses(), "the losses are others")
        weights = [(run.out / "model.safetensors").read_bytes() for run in (self, whole)]
        self.require(weights[0] == weights[1], "the weights are others")
        self.require(self.status()["state"] == "finished", f"status {self.status()}")


def try_one(trial: Trial, name: str, rank: int, chance: random.Random) -> None:
    trial.wait_for_steps(chance.randint(1, 20))
    trial.send(name, (rank,))
    outputs, status = trial.end()
    if name in SAVING:
        trial.check_saved(outputs, status)
    elif name in GOING_ON:
        trial.require(status == [0, 0], f"ended with {status}: {tail(outputs)}")
        trial.require(trial.checkpoints() == (1 if name == "USR1" else 0), f"{trial.checkpoints()} saved")
    else:
        number = getattr(signal, "SIG" + name)
        trial.require(status[rank] == -number and status[1 - rank] == 70, f"ended with {status}: {tail(outputs)}")
        state = trial.status()
        # A killed process reports nothing; its id shows that it is gone.
        trial.require(state["state"] == ("running" if name == "KILL" and rank == 0 else "failed"),
                      f"status {state}")
        trial.require(state["pid"] == trial.processes[0].pid, f"status {state}")


def try_all(trial: Trial, times: int, chance: random.Random) -> None:
    trial.wait_for_steps(chance.randint(1, 20))
    for _ in range(times):
        trial.send("TERM", (0, 1))
        time.sleep(chance.uniform(0, 0.02))
    trial.check_saved(*trial.end())


def try_torchrun(trial: Trial, name: str, chance: random.Random) -> None:
    trial.wait_for_steps(chance.randint(1, 20))
    trial.send(name, (0,))
    outputs, status = trial.end()  # the ranks hold its pipes until they have ended
    trial.require(trial.status()["state"] == "stopped", f"{status}, status {trial.status()}: {tail(outputs)}")
    trial.require(trial.checkpoints() == 1, f"{trial.checkpoints()} checkpoints")


def try_alone(trial: Trial, times: int, chance: random.Random) -> None:
    time.sleep(chance.uniform(0, 0.2))
    for _ in range(times):
        trial.send("TERM", (0,))
        time.sleep(chance.uniform(0, 0.02))
    outputs, status = trial.end()
    # In its first instants the process has not executed the program yet.
    trial.require(status[0] in (75, -signal.SIGTERM), f"ended with {status}: {tail(outputs)}")
    if status[0] == 75 and (trial.out / "status.json").exists():
        trial.check_saved(outputs, status)


TURNS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from contender import Contender, end_by_exception, take_turns
end_by_exception()
def start(name):
    folder = Path(sys.argv[2]) / name
    folder.mkdir(parents=True)
    contender = Contender(["bash", "-c", "while sleep 0.02; do echo 1; done"], folder / "metrics", 1, True)
    print(contender.process.pid, flush=True)
    return contender
take_turns([lambda: start("a"), lambda: start("b")], 2, 1000)
"""


def try_benchmark(name: str, chance: random.Random) -> tuple[bool, str]:
    """A benchmark that alternates two programs is ended."""
    folder = OUT / f"turns-{name}"
    bench = subprocess.Popen([sys.executable, "-c", TURNS, ROOT / "bench", folder], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    contenders = [int(bench.stdout.readline()) for _ in range(2)]
    time.sleep(chance.uniform(0, 0.3))
    bench.send_signal(getattr(signal, "SIG" + name))
    bench.communicate(timeout=LIMIT)
    left = [pid for pid in contenders if is_alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return not left, f"    {len(left)} processes are left"


def is_alive(pid: int) -> bool:
    """Whether the process still runs after two seconds. A zombie does not run."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                return False
        except OSError:
            return False
        time.sleep(0.02)
    return True


def kinds() -> list[tuple]:
    signals = [*SAVING, *GOING_ON, *CRASHES, "KILL"]
    one = [(f"SIG{name} to rank {rank}", 2, False, try_one, (name, rank))
           for name in signals for rank in (0, 1)]
    both = [(f"SIGTERM to all, {times} times", 2, False, try_all, (times,)) for times in (1, 2) for _ in (0, 1)]
    launched = [(f"SIG{name} to torchrun", 2, True, try_torchrun, (name,))
                for name in ("TERM", "INT", "HUP", "KILL")]
    alone = [(f"SIGTERM at a start, {times} times", 1, False, try_alone, (times,))
             for times in (1, 2) for _ in range(4)]
    return one + both + launched + alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("-v", action="store_true", help="show details")
    arguments = parser.parse_args()
    for name in SAVING:  # programs would inherit signals that a shell ignores for background processes
        if signal.getsignal(getattr(signal, "SIG" + name)) == signal.SIG_IGN:
            signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
    shutil.rmtree(OUT, ignore_errors=True)
    text = write_text(OUT / "text.txt", 20_000)
    whole = {ranks: Trial(f"whole-{ranks}", text, ranks) for ranks in (1, 2)}
    for run in whole.values():
        run.end()
    chance = random.Random(arguments.seed)
    trials = kinds()
    chance.shuffle(trials)
    report = Report()
    for number, (name, ranks, launcher, attempt, details) in enumerate(islice(cycle(trials), arguments.count)):
        def run_trial():
            trial = Trial(f"trial-{number}", text, ranks, launcher)
            attempt(trial, *details, chance)
            trial.finish(whole[ranks])
            shutil.rmtree(trial.out)
            return True, ""
        report.case(f"{name} (seed {arguments.seed})", run_trial)
    for name in ("TERM", "INT", "HUP", "KILL"):
        report.case(f"SIG{name} to a benchmark", lambda: try_benchmark(name, chance))
    report.end()


if __name__ == "__main__":
    main()
