"""`check_numbers`: a step with a number that is not finite names the operation and the line that made it, with rank,
microbatch and layer. A program without the setting names the command that does it. A logarithm of zero in a layer, an overflow, a root of a negative number, a NaN in the weights; on
one process, with microbatches, and on two processes that divide samples, channels or layers."""

import json
import re
import shlex
import subprocess
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from sample_order import permutation
from titan import QUICK, TITANC, environment_of, on_ranks

SOURCE = Path(__file__).with_name("nonfinite.titan")
BATCH, SEQ, STEPS, SEED = 4, 16, 12, 7
BAD_STEP = 7


def line_of(text: str, source: Path = SOURCE) -> int:
    """The number of the line that contains the text."""
    lines = source.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def find_position(text: bytes, step: int, row: int) -> int:
    """A byte that the model reads in this row of this step only."""
    windows = (len(text) - 1) // SEQ
    window = permutation(((step - 1) * BATCH + row) % windows, windows, SEED, 0)
    return window * SEQ + SEQ // 2


def write_data(path: Path, mark: str, row: int) -> Path:
    text = bytearray((b"the quick brown fox jumps over the lazy dog, " * 40)[:BATCH * SEQ * STEPS + 1])
    if mark:
        text[find_position(bytes(text), BAD_STEP, row)] = ord(mark)
    path.write_bytes(text)
    return path


def run(exe: Path, processes: int, data: Path, out: Path, *extra) -> tuple[int, str]:
    command = [exe, "--data", data, "--steps", STEPS, "--seed", SEED, "--out", out, "--log-every", 1,
               "--resume", "none", *extra]
    done = subprocess.run(on_ranks(processes, command), capture_output=True, text=True, timeout=120,
                          env=environment_of({}))
    return done.returncode, done.stdout + done.stderr


class Expected:
    """What a mark makes first: the operation, its line, and where."""

    def __init__(self, mark: str, kind: str, action: str, line: str, source: Path = SOURCE):
        self.mark = mark
        self.operation = f"{source.name}:{line_of(line, source)} `{action}` makes the first {kind}"


LOG = Expected("~", "infinity", "log", "let gate =")
OVERFLOW = Expected("}", "infinity", "exp", "let large =")
ROOT = Expected("|", "nan", "sqrt", "let root =")


def try_mark(exe: Path, processes: int, expected: Expected, out: Path, *, row: int, places: list[str], saves: bool):
    """The message of a run with the mark. `places`: what it says in parentheses; a stage counts its own layers."""
    data = write_data(out.with_suffix(".txt"), expected.mark, row)
    extra = ["--set", "checkpoint.every=3"] if saves else []
    _, output = run(exe, processes, data, out, *extra)
    return compare(expected, places, output)


def compare(expected: Expected, places: list[str], output: str):
    """Whether the message names the operation with these places."""
    found = re.search(re.escape(expected.operation) + r"(?: \(([^)]*)\))?", output)
    if not found:
        return False, f"    expected {expected.operation}:\n{output[-1500:]}"
    where = found[1] or ""
    good = f"step {BAD_STEP}:" in output and all(place in where for place in places)
    return good, f"    {found[0]}" + ("" if good else f"\n    expected step {BAD_STEP}, {places}:\n{output[-1500:]}")


def try_command(exe: Path, out: Path):
    """The message of a program without the setting has a command, which builds another and continues the run."""
    data = write_data(out.with_suffix(".txt"), LOG.mark, 3)
    _, output = run(exe, 1, data, out, "--set", "checkpoint.every=3")
    found = re.search(r"`titanc run (.*)` names the operation", output)
    if not found or "makes the first" in output:
        return False, output[-1500:]
    done = subprocess.run([TITANC, "run", *QUICK, *shlex.split(found[1])], capture_output=True, text=True, timeout=300,
                          env=environment_of({}))
    output = done.stdout + done.stderr
    expected = Expected("~", "infinity", "log", "let gate =", out / "program.titan")
    good, text = compare(expected, ["microbatches = 1", "layers = 2"], output)
    return good and "resuming after step 6" in output, text


def try_same_bits(plain: Path, checked: Path, out: Path):
    """Without such a number, the setting changes nothing."""
    data = write_data(out.with_suffix(".txt"), "", 0)
    ends = []
    for name, exe in (("without", plain), ("with", checked)):
        status, output = run(exe, 1, data, out / name)
        if status:
            return False, output[-1500:]
        losses = [json.loads(line)["loss"] for line in (out / name / "metrics.jsonl").read_text().splitlines()]
        ends.append((losses, load_file(out / name / "model.safetensors")))
    (first, before), (second, after) = ends
    same = first == second and all(torch.equal(before[name], after[name]) for name in before)
    return same, "" if same else f"    {first} and {second}"


def try_weights(exe: Path, out: Path):
    """A NaN in the weights is no operation's fault."""
    data = write_data(out.with_suffix(".txt"), "", 0)
    status, output = run(exe, 1, data, out / "whole")
    if status:
        return False, output[-1500:]
    weights = load_file(out / "whole" / "model.safetensors")
    weights["unembed"][0, 0] = float("nan")
    planted = out / "planted.safetensors"
    save_file(weights, planted, {"format": "pt"})
    _, output = run(exe, 1, data, out / "run", "--init-from", planted)
    expected = ["step 1:", "the parameter `unembed` is not finite before the step", "reads the first nan"]
    return all(text in output for text in expected), output[-1500:]


def list_cases(exes: dict[str, Path], out: Path, everything: bool):
    """(name, function) of each case; programs by the names of their runs."""
    layouts = {"numbers": (1, 0, ["layers = 2"]), "accumulated": (1, 3, ["microbatches = 1", "layers = 2"]),
               "skipping": (1, 0, ["layers = 2"]), "on_shard2": (2, 3, ["rank 1", "layers = 2"]),
               "on_tp2": (2, 0, ["rank 0", "layers = 2"]), "on_pp2": (2, 3, ["microbatches = 1", "layers = 2"])}
    for name, (processes, row, places) in layouts.items():
        if name not in exes:
            continue
        exe = exes[name]
        for expected in (LOG, OVERFLOW, ROOT) if everything else (LOG, ROOT):
            inside = [place for place in places if expected is LOG or not place.startswith("layers")]
            yield (f"{name}: {expected.operation}",
                   partial(try_mark, exe, processes, expected, out / f"{name}-{ord(expected.mark)}", row=row, places=inside,
                           saves=expected is not LOG))
    yield "plain: the command", partial(try_command, exes["plain"], out / "command")
    yield "plain: the same bits", partial(try_same_bits, exes["plain"], exes["accumulated"], out / "same")
    if "numbers" in exes:
        yield "numbers: a NaN in the weights", partial(try_weights, exes["numbers"], out / "weights")
