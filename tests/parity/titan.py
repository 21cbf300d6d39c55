"""Helpers of all Python tests: building and running Titan programs, and reporting cases."""

import argparse
import contextlib
import fcntl
import functools
import multiprocessing
import multiprocessing.connection
import os
import random
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TITAN_BUILD", ROOT / "build"))
TITANC = BUILD / "bin" / "titanc"
TORCHRUN = ROOT / ".venv" / "bin" / "torchrun"
CORES = len(os.sched_getaffinity(0))
# Element types of parameters, of computation and of gradient sums.
DTYPES = {"float64": ("f64", "f64", "f64"), "float32": ("f32", "f32", "f32"),
          "bfloat16": ("f32", "bf16", "f32")}


def precision(dtype: str) -> list[str]:
    """The flags of titanc that set the element types of `dtype` in DTYPES."""
    return [word for part, kind in zip(("params", "compute", "reduce"), DTYPES[dtype])
            for word in ("--set", f"precision.{part}={kind}")]


# Compiles in a third of the time. The order of operations stays, but multiplications and additions are not fused.
# For programs in f64; tests in f32 and bf16 use the optimization level of users.
QUICK = ["-O0"]


class Failed(Exception):
    """An unexpected failure of a command; the text contains the command and its output."""


def call(command: list[str], **options) -> str:
    """The standard output of the command; raises `Failed` unless it succeeds. `options` are those of subprocess.run."""
    def fail(end: str, *outputs: str | bytes | None):
        printed = "".join(output.decode(errors="replace") if isinstance(output, bytes) else output or "" for output in outputs)
        lines = [line[:300] for line in printed.strip().splitlines()[-30:]]
        raise Failed(f"{' '.join(map(str, command))}\n  {end}\n  " + "\n  ".join(lines))

    try:
        result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    except subprocess.TimeoutExpired as error:
        fail(f"not finished after {error.timeout:.0f} s", error.stdout, error.stderr)
    if result.returncode != 0:
        fail(f"exit status {result.returncode}", result.stdout, result.stderr)
    return result.stdout


def build(program: Path, train: str, dtype: str, exe: Path, settings: list[str] = ()) -> Path:
    """Compiles a declared run that computes in `dtype`."""
    exe.parent.mkdir(parents=True, exist_ok=True)
    flags = [word for s in settings for word in ("--set", s)]
    level = QUICK if dtype == "float64" else []
    call([TITANC, "build", program, "--train", train, "-o", exe, *level, *precision(dtype), *flags])
    return exe


def on_ranks(processes: int, command: list) -> list[str]:
    """The command on that many processes of this machine."""
    launcher = [sys.executable, Path(__file__).with_name("ranks.py"), processes] if processes > 1 else []
    return [str(word) for word in (*launcher, *command)]


def by_torchrun(processes: int, command: list) -> list[str]:
    """The command on that many processes, started by torchrun; --standalone picks a free port."""
    return [str(word) for word in
            (TORCHRUN, "--standalone", "--no-python", "--nproc-per-node", processes, *command)]


def environment_of(variables: dict[str, str]) -> dict[str, str]:
    """This process's environment with these variables, and one thread per process."""
    return {**os.environ, "TITAN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **variables}


@dataclass
class Launch:
    """The settings with which `run` starts a program. The program writes to `out`: metrics.jsonl, the parameters before
    (initial.safetensors) and after training (model.safetensors), and the gradients of step 1."""

    steps: int = 20
    seed: int = 7
    processes: int = 1
    timeout: float = 300.0
    environment: dict[str, str] = field(default_factory=dict)
    start: Callable[[int, list], list[str]] = on_ranks

    def run(self, exe: Path, data: Path, out: Path, extra: list[str] = ()) -> Path:
        out.mkdir(parents=True, exist_ok=True)
        (out / "metrics.jsonl").unlink(missing_ok=True)
        command = [exe, "--data", data, "--steps", self.steps, "--seed", self.seed, "--out", out,
                   "--log-every", 1, "--resume", "none",
                   "--save-initial", out / "initial.safetensors",
                   "--save-gradients", out / "gradients.safetensors", *extra]
        environment = environment_of(self.environment)
        command = self.start(self.processes, command)
        call(command, env=environment, timeout=self.timeout)
        return out


def write_text(path: Path, size: int, seed: int = 1) -> Path:
    """A text of about `size` bytes: random words, some often and some rarely."""
    chance = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(1, 8))) for _ in range(60)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    text = ""
    while len(text) < size:
        text += chance.choices(words, weights)[0] + chance.choice([" ", " ", " ", ".\n"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text[:size])
    return path


def sample_by_commit(items: list, parts: int) -> list:
    """Every `parts`-th item, from an offset that changes with the commit: every four commits, so that it does not
    depend on the turn of scripts/test in which a part runs."""
    counted = subprocess.run(["git", "-C", ROOT, "rev-list", "--count", "HEAD"], capture_output=True, text=True)
    return items[int(counted.stdout or 0) // 4 % parts::parts]


def require_titanc() -> None:
    if not TITANC.exists():
        sys.exit(f"error: {TITANC} does not exist: run scripts/build")


@contextlib.contextmanager
def lock_product(product: Path):
    """Locks the file or folder `product`: the first process makes it, others then find it."""
    product.parent.mkdir(parents=True, exist_ok=True)
    with open(product.with_name(product.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def attempt(run) -> tuple[bool, str, float]:
    """Whether the case passed, details of a failure, and seconds."""
    begun = time.perf_counter()
    try:
        good, details = run()
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        good, details = False, str(error)
    except Exception:  # a fault of the case; the worker goes on with others
        good, details = False, traceback.format_exc()
    return good, details, time.perf_counter() - begun


class Report:
    """Prints one line per case when it ends, and counts."""

    def __init__(self):
        self.passed = self.failed = 0
        self.offered: list[str] = []  # names of cases, selected or not

    def show(self, name: str, good: bool, details: str, seconds: float) -> None:
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"{'ok    ' if good else 'FAILED'} {seconds:6.1f} s  {name}", flush=True)
        if not good or "-v" in sys.argv:
            print(details, flush=True)

    def case(self, name: str, run) -> None:
        """`run()` returns whether the case passed, and details of a failure."""
        self.show(name, *attempt(run))

    def cases(self, cases, names: list[str] = (), at_once: int = CORES) -> None:
        """Runs the pairs of name and `run` whose names contain all of `names`, in `at_once` forked processes. Each
        process takes the next case when it has finished one. Products that several cases use are made inside
        `lock_product`."""
        cases = list(cases)
        self.offered += [name for name, _ in cases]
        chosen = [(name, run) for name, run in cases if all(part in name for part in names)]
        fork = multiprocessing.get_context("fork")
        taken, ends, workers = fork.Value("i", 0), [], []
        for _ in range(min(at_once, len(chosen))):
            end, other = fork.Pipe(duplex=False)
            worker = fork.Process(target=run_untaken_cases, args=(chosen, taken, other))
            worker.start()
            other.close()
            ends.append(end)
            workers.append(worker)
        missing = dict(enumerate(name for name, _ in chosen))
        while ends:
            for end in multiprocessing.connection.wait(ends):
                try:
                    index, result = end.recv()
                    self.show(missing.pop(index), *result)
                except EOFError:
                    ends.remove(end)
        for worker in workers:
            worker.join()
        for name in missing.values():
            self.show(name, False, "    not done: a process that runs cases died", 0.0)

    def end(self) -> None:
        if self.passed + self.failed == 0:
            print("error: no case has such a name. There are:", *self.offered, sep="\n  ",
                  file=sys.stderr)
            sys.exit(2)
        print(f"{self.passed} out of {self.passed + self.failed} passed")
        sys.exit(1 if self.failed else 0)


def run_untaken_cases(cases, taken, end) -> None:
    """The main function of a worker process: runs cases that no other worker has taken, and sends their results."""
    while True:
        with taken.get_lock():
            index = taken.value
            taken.value += 1
        if index >= len(cases):
            return
        end.send((index, attempt(cases[index][1])))


def read_arguments(description: str, out: Path, add_arguments=lambda parser: None):
    """The command line of a test program with cases: substrings of their names, -v, and what
    `add_arguments` adds. Checks that there is a compiler, and empties the folder `out` unless the
    option --keep exists and is given."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the names of cases; without one, all")
    parser.add_argument("-v", action="store_true", help="show the details of what passed too")
    add_arguments(parser)
    arguments = parser.parse_args()
    require_titanc()
    if not getattr(arguments, "keep", False):
        shutil.rmtree(out, ignore_errors=True)
    return arguments


def try_examples(description: str, out: Path, try_one, add_arguments=lambda parser: None) -> None:
    """The main program of a test of every program in examples/: `try_one(source, text, arguments)`
    is a case. Takes names of examples, and -v for details."""
    arguments = read_arguments(description, out, add_arguments)
    text = write_text(out / "text.txt", 100_000)
    report = Report()
    report.cases(((source.name, functools.partial(try_one, source, text, arguments))
                  for source in sorted((ROOT / "examples").glob("*.titan"))), arguments.names)
    report.end()
