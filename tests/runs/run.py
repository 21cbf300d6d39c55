"""Checks properties of complete runs of compiled programs other than the numbers that parity compares.

    run.py [--all] [--seed N] [-v]

Kills: a run of two processes is killed at random moments, repeatedly, and resumed. Its final losses must be
bitwise equal to those of an undisturbed run. Kills occur at any time: while the processes start, in a step,
while a checkpoint is written. Both are killed, or one of them, which the other must report before it ends.
Twenty kills, a hundred with --all.

Allocations: two runs that differ only in their number of steps allocate equally often.

Meshes: a run continues through checkpoints from mesh to mesh, in ten pairs of shards, flat storage, tensor parallelism,
head-tail order and stages, the last on one rank. It equals the run of one rank by the parity rule; also for a model
with buffers, with microbatches on one of the meshes.

Padding: a mesh that pads indivisible dimensions starts from the same bits, trains to the same losses, and
reads and writes files without padding: two processes continue, export and generate from the files of one. So do
the two stages of a pipeline.

Evaluation: the same number on one process and on two, during the run and after it, without an effect on
losses. Perplexity is that of the unnamed loss; if all of several losses are named, there is none.

Values: booleans are counted, padding does not count, an index out of range ends the run (values.py).

Documents: a model that receives document boundaries trains like one that derives them from its tokens
(documents.py).

Skipped steps: a step with a non-finite loss leaves parameters, optimizer state and buffers unchanged,
bitwise and on any mesh; the next one updates like PyTorch (skipped.py).

Numbers that are not finite: `check_numbers` names the operation, line, rank, layer and microbatch (nonfinite.py).

Largest loss: the loss of a rank is the loss of its samples, as computed by a process that has only these.

Transports: a run over sockets is bitwise equal to one through shared memory.

Overlap: a profile shows that collectives overlap computation (overlap.py).

Actions: a profile has the actions of a pipeline in the order of its schedule's table (actions.py).
"""

import argparse
import json
import math
import random
import re
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from overlap import check_overlap

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from actions import check_actions, read_table
from compare import bitwise_equal, compare
from documents import try_documents
from nonfinite import list_cases as list_nonfinite
from skipped import try_skipped, write_marked
from values import try_counts, try_index
from titan import (BUILD, CORES, ROOT, Failed, Launch, Report, build, call, environment_of,
                   on_ranks, require_titanc, write_text)

OUT = ROOT / "out" / "runs"
PROGRAM = ROOT / "tests/parity/programs/llama3.titan"
ODD = ROOT / "tests/parity/programs/gpt2.titan"
MOVES = ROOT / "tests/runs/moves.titan"
SKIPPED = ROOT / "tests/runs/skipped.titan"
DOCUMENTS = ROOT / "tests/runs/documents.titan"
VALUES = ROOT / "tests/runs/values.titan"
NONFINITE = ROOT / "tests/runs/nonfinite.titan"
LOSSES = ROOT / "tests/lit/meaning/Inputs/losses.titan"
BUFFERS = ROOT / "tests/parity/programs/balanced.titan"
COUNTER = BUILD / "lib" / "libcount-allocations.so"
EVERY = 5  # steps between checkpoints
MOVE = 2  # steps on each of many meshes
VICTIMS = [(0, 1), (1,), (0,)]  # killed ranks, in turn; rank 0 writes the files


class Run:
    """The ranks of a program, started without a launcher. The variables are for rank 0 only."""

    def __init__(self, command: list, variables: dict[str, str] | None = None, processes: int = 2):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.ranks = []
        for rank in range(processes):
            rank_environment = {"RANK": str(rank), "WORLD_SIZE": str(processes), "LOCAL_RANK": str(rank),
                                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                                # How long a rank waits for the killed one, before they connected or after.
                                "TITAN_CONNECT_TIMEOUT": "10", "TITAN_COMM_TIMEOUT": "30"}
            if rank == 0:
                rank_environment.update(variables or {})
            self.ranks.append(subprocess.Popen(
                list(map(str, command)), env=environment_of(rank_environment), text=True, errors="replace",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))

    def wait(self, timeout: float = 300) -> list[str]:
        outputs = [rank.communicate(timeout=timeout)[0] for rank in self.ranks]
        for rank, text in zip(self.ranks, outputs):
            if rank.returncode != 0:
                raise Failed(f"exit status {rank.returncode}: {text[-2000:]}")
        return outputs

    def kill(self, victims: tuple[int, ...]) -> None:
        for victim in victims:
            self.ranks[victim].kill()
        for number, rank in enumerate(self.ranks):
            output = rank.communicate(timeout=60)[0]
            if number not in victims and rank.returncode not in (0, 70):
                raise Failed(f"the other ended with {rank.returncode}: {output[-2000:]}")


def rows(run: Path) -> list[tuple[int, float, float]]:
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [(row["step"], row["loss"], row["grad_norm"]) for row in map(json.loads, lines)]


def checkpoint_of(run: Path) -> int:
    names = [path.name for path in (run / "checkpoints").glob("step-*")
             if path.suffix != ".partial"]
    return max([int(name[5:]) for name in names], default=0)


def wait_for_progress(run: Run, out: Path, step: int) -> None:
    """Waits until there is a checkpoint after `step`, or the run has ended."""
    while checkpoint_of(out) <= step and run.ranks[1].poll() is None:
        time.sleep(0.005)


def saving_run(exe: Path, text: Path, out: Path, steps: int, mode: str = "sync") -> Run:
    return Run([exe, "--data", text, "--out", out, "--steps", steps, "--log-every", 1,
                "--set", f"checkpoint.every={EVERY}", "--set", "checkpoint.keep=2",
                "--set", f"checkpoint.mode={mode}"])


def try_kills(exe: Path, text: Path, kills: int, seed: int):
    chance = random.Random(seed)
    whole, cut, steps = OUT / "whole", OUT / "cut", 20 * kills
    saving_run(exe, text, whole, steps).wait()
    expected = rows(whole)
    at, notes = 0, []
    for number in range(kills):
        run = saving_run(exe, text, cut, steps, ("sync", "async")[number // len(VICTIMS) % 2])
        # One kill in four may come before the first save; the others let the run progress.
        if number % 4 != 3:
            wait_for_progress(run, cut, at)
        time.sleep(chance.uniform(0, 0.15))
        run.kill(VICTIMS[number % len(VICTIMS)])
        at = checkpoint_of(cut)
        notes.append(f"{at}")
        seen = rows(cut) if (cut / "metrics.jsonl").exists() else []
        if seen != expected[:len(seen)]:
            return False, f"    after kill {number + 1} the losses are others"
    outputs = saving_run(exe, text, cut, steps).wait()
    if at and f"resuming after step {at} " not in outputs[0]:
        return False, f"    it did not resume after step {at}: {outputs[0][:300]}"
    if rows(cut) != expected:
        return False, "    the losses are not those of a run that nobody killed"
    if (cut / "model.safetensors").read_bytes() != (whole / "model.safetensors").read_bytes():
        return False, "    the weights are not those of a run that nobody killed"
    if list((cut / "checkpoints").glob("*.partial")):
        return False, "    half a checkpoint was left"
    return True, f"    checkpoints at the kills: {' '.join(notes)}"


def try_meshes(meshes: list[tuple[Path, int]], text: Path, every: int = EVERY):
    """The first mesh also writes the gradients of step 1; the last is one process."""
    name, steps = meshes[0][0].name, every * len(meshes)
    out, unbroken = OUT / f"meshes-from-{name}", OUT / f"unbroken-{name}"
    for number, (exe, processes) in enumerate(meshes, start=1):
        first = ["--save-gradients", out / "gradients.safetensors"] if number == 1 else []
        output = Run([exe, "--data", text, "--out", out, "--steps", steps, "--seed", "7", "--stop-at",
                    every * number, "--log-every", 1, "--set", f"checkpoint.every={every}",
                    "--check-replicas", *first], processes=processes).wait()[0]
        if number > 1 and f"resuming after step {every * (number - 1)} " not in output:
            return False, f"    mesh {number} did not resume: {output[:300]}"
    Launch(steps, seed=7).run(meshes[-1][0], text, unbroken)
    result = compare(out, unbroken, "float64")
    return result.passed(), result.table()


def try_greatest_loss(two: Path, half: Path, text: Path):
    """Of the two ranks' samples, the first half is the complete batch of `half`."""
    rows = []
    for exe, processes in ((two, 2), (half, 1)):
        out = OUT / f"greatest-{processes}"
        Launch(1, seed=7, processes=processes).run(exe, text, out)
        rows.append(json.loads((out / "metrics.jsonl").read_text()))
    (both, one) = rows
    losses = (one["loss"], 2 * both["loss"] - one["loss"])
    differ = abs(losses[0] - losses[1]) > 1e-6
    good = differ and "max_loss" not in one and abs(both["max_loss"] - max(losses)) < 1e-12
    return good, f"    {losses[0]:.12f} and {losses[1]:.12f}, the greatest {both['max_loss']:.12f}"


def try_transports(exe: Path, text: Path):
    files = {}
    for transport in ("shared", "gloo"):
        out = OUT / f"transport-{transport}"
        call(on_ranks(2, [exe, "--data", text, "--out", out, "--steps", EVERY, "--log-every", 1, "--set",
                          f"checkpoint.every={EVERY}"]), env=environment_of({"TITAN_COMM": transport}))
        files[transport] = sorted((out / f"checkpoints/step-{EVERY}").glob("*.safetensors"))
    good = all(one.read_bytes() == other.read_bytes()
               for one, other in zip(files["shared"], files["gloo"], strict=True))
    return good and files["shared"] != [], ""


def try_allocations(programs: dict[str, tuple[Path, int]], text: Path):
    """Counted in all threads and libraries. Both runs read metrics twice, which may differ by a few
    allocations, like a look into /proc for a slow peer. Ranks of one machine communicate through shared
    memory; c10d's sockets, for several machines, allocate objects for every message."""
    good, notes = True, []
    for name, (exe, processes) in programs.items():
        counts = []
        for steps in (10, 60):
            counted = OUT / f"allocations-{name}-{steps}"
            shutil.rmtree(OUT / "counted", ignore_errors=True)  # a replaced run is moved away
            variables = {"LD_PRELOAD": str(COUNTER), "ALLOCATIONS_FILE": str(counted),
                         "TITAN_NUM_THREADS": "2"}
            command = [exe, "--data", text, "--out", OUT / "counted", "--resume", "none",
                       "--steps", steps, "--log-every", 1000]
            if processes == 1:
                call(command, env=environment_of(variables))
            else:
                Run(command, variables).wait()
            counts.append(int(counted.read_text()))
        good = good and abs(counts[1] - counts[0]) < 25
        notes.append(f"    {name}: {counts[0]} in 10 steps, {counts[1]} in 60")
    return good, "\n".join(notes)


def try_files(name: str, one: Path, two: Path, text: Path):
    """One process, and two with another mesh: losses, initial values, exported files, generated text."""
    runs, notes, good = [], [], True
    for exe, processes in ((one, 1), (two, 2)):
        extra = ["--check-replicas"] if processes > 1 else []
        runs.append(Launch(6, processes=processes).run(exe, text, OUT / f"{name}-{processes}", extra))
    result = compare(runs[1], runs[0], "float64")
    for name in bitwise_equal(runs[1] / "initial.safetensors", runs[0] / "initial.safetensors"):
        result.faults.append(f"initial parameters: {name} is not bitwise the same")
    results = []
    for exe, processes in ((one, 1), (two, 2)):
        start = ["--init-from", runs[0] / "model.safetensors"]
        exported = OUT / f"{name}-hf-{processes}"
        shutil.rmtree(exported, ignore_errors=True)  # of an older build
        call(on_ranks(processes, [exe, "export", "--hf", exported, *start]), env=environment_of({}))
        generate = on_ranks(processes, [exe, "generate", "--prompt", "ab", "--max-tokens", 8, *start])
        written = subprocess.run(generate, env=environment_of({}),
                                 stdout=subprocess.PIPE, check=True).stdout  # any bytes
        results.append((written, sorted(exported.glob("*.safetensors"))))
    (text_one, files_one), (text_two, files_two) = results
    equalities = {"generated text": bool(text_one) and text_one == text_two,
                  "exported tensors": bool(files_one) and not any(
                      bitwise_equal(a, b) for a, b in zip(files_one, files_two, strict=True))}
    for product, equal in equalities.items():
        good = good and equal
        notes.append(f"    {product} {'equal' if equal else 'differ'}")
    return result.passed() and good, "\n".join([result.table(), *notes])


def try_evaluation(one: Path, two: Path, text: Path, other: Path):
    found = []
    for exe, processes in ((one, 1), (two, 2)):
        out = OUT / f"evaluated-{processes}"
        Launch(steps=6, processes=processes).run(
            exe, text, out, ["--set", f"eval.data.path={other}", "--set", "eval.every=3"])
        lines = (out / "metrics.jsonl").read_text().splitlines()
        evaluated = [row["eval_loss"] for row in map(json.loads, lines) if "eval_loss" in row]
        output = call([one, "eval", "--data", other, "--init-from", out])
        found.append([*evaluated, float(output.split()[1])])
    good = len(found[0]) == 3 and found[0][1] == found[0][2] and all(
        abs(a - b) <= 1e-11 * abs(a) for a, b in zip(*found, strict=True))
    # Outputs of a step and of the evaluation share memory: the former must be read first.
    plain = Launch(steps=6).run(one, text, OUT / "not-evaluated")
    good = good and rows(plain) == rows(OUT / "evaluated-1")
    best, lines = best_weights(one, text, other)
    return good and best, f"    one process {found[0]}, two {found[1]}\n    best: {lines}"


def best_weights(exe: Path, text: Path, other: Path):
    """`checkpoint.best` keeps the weights of the least evaluated loss, also of a run that goes on."""
    out, settings = OUT / "best", ["--set", f"eval.data.path={other}", "--set", "eval.every=1", "--set",
                                   "checkpoint.best=loss", "--set", "optimizer.lr=0.05"]
    shutil.rmtree(out, ignore_errors=True)
    losses = []
    for steps in (3, 8):
        call([exe, "--data", text, "--out", out, "--steps", "8", "--stop-at", str(steps), *settings,
              "--set", "checkpoint.every=3"], env=environment_of({}), timeout=300)
        rows_so_far = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
        least = min(row["eval_loss"] for row in rows_so_far if "eval_loss" in row)
        output = call([exe, "eval", "--data", other, "--init-from", out / "best.safetensors"], env=environment_of({}))
        losses.append((least, float(output.split()[1])))
    return all(abs(a - b) <= 1e-8 * abs(a) for a, b in losses), str(losses)


def evaluate(exe: Path, text: Path) -> tuple[dict[str, float], str]:
    """The named numbers that `eval` prints after a run of two steps, and the line."""
    out = OUT / f"{exe.name}-run"
    Launch(steps=2).run(exe, text, out)
    output = call([exe, "eval", "--data", text, "--init-from", out])
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.e+-]+)", output)}, output


def try_perplexity(mixed: Path, named: Path, text: Path):
    found, line = evaluate(mixed, text)
    own = found["loss"] - found["z"] - found["uneven"] - found["weights"]
    good = abs(found["perplexity"] - math.exp(own)) <= 1e-11 * found["perplexity"]
    _, other = evaluate(named, text)
    good = good and "perplexity" not in other and "nll " in other
    return good, f"    {line.strip()}\n    {other.strip()}"


def try_overlap(exe: Path, text: Path, layers: int, steps: int = 3):
    out = OUT / "profiled"
    Run([exe, "--data", text, "--out", out, "--resume", "none", "--stop-at", steps + 3,
         f"--profile={steps}"]).wait()
    faults = [f"    rank {rank}: {fault}" for rank in range(2)
              for fault in check_overlap(out / f"profile/rank-{rank}.json", layers, steps)]
    return not faults, "\n".join(faults)


def try_actions(exe: Path, text: Path, steps: int = 2):
    """The pipeline of moves.titan."""
    out = OUT / "actions"
    Run([exe, "--data", text, "--out", out, "--steps", steps + 2, "--resume", "none", f"--profile={steps}"]).wait()
    return check_actions(out / "profile", read_table("zb_h1", ranks=2, microbatches=4), steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="a hundred kills")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("-v", action="store_true", help="show where the kills came")
    arguments = parser.parse_args()
    require_titanc()
    shutil.rmtree(OUT, ignore_errors=True)
    text = write_text(OUT / "text.txt", 50_000)
    other = write_text(OUT / "other.txt", 3_000, seed=2)
    evaluation = [f'eval.data.path="{other}"']
    all_named = OUT / "all-named.titan"
    staged = OUT / "staged.titan"
    staged.write_text(f'import "{PROGRAM}" as base\nparallel stages {{ pp = 2 splits layers }}\n'
                      "train staged = base.parity on stages with {}\n")
    all_named.write_text(LOSSES.read_text().replace("    loss         = nll", "    loss nll = nll"))
    with ThreadPoolExecutor(CORES) as pool:
        one, two, half, split, narrow, whole, padded, kept, kept2, kept_split, deep, mixed, named, valued, valued2, skipped, skipped2, stages, mirrored, flat, paired, *packed = pool.map(lambda made: build(*made), [
            (PROGRAM, "parity", "float64", OUT / "one", evaluation),
            (PROGRAM, "on_shard2", "float64", OUT / "two", evaluation),
            (PROGRAM, "parity", "float64", OUT / "half", ["data.batch=2"]),
            (PROGRAM, "on_tp2_seq", "float64", OUT / "split", evaluation),
            (PROGRAM, "parity", "bfloat16", OUT / "narrow", evaluation),
            (ODD, "odd", "float64", OUT / "odd"),
            (ODD, "on_padded", "float64", OUT / "on_padded"),
            (BUFFERS, "parity", "float64", OUT / "kept"),
            (BUFFERS, "on_shard2", "float64", OUT / "kept-2", ["accumulate=2"]),
            (BUFFERS, "on_tp2", "float64", OUT / "kept-split"),
            (PROGRAM, "on_shard2", "float32", OUT / "deep",
             ["model.layers=4", "model.embed=256", "model.ffn=1024"]),
            (LOSSES, "small", "float64", OUT / "mixed", [*evaluation, "model.vocab=256"]),
            (all_named, "small", "float64", OUT / "named", [*evaluation, "model.vocab=256"]),
            (VALUES, "one", "float64", OUT / "valued"),
            (VALUES, "on_two", "float64", OUT / "valued-2"),
            (SKIPPED, "skipped", "float64", OUT / "skipped"),
            (SKIPPED, "on_shard2", "float64", OUT / "skipped-2"),
            (MOVES, "on_stages", "float64", OUT / "stages"),
            (MOVES, "on_mirrored", "float64", OUT / "mirrored"),
            (MOVES, "on_stages_and_flat", "float64", OUT / "flat"),
            (staged, "staged", "float64", OUT / "paired"),
            *((DOCUMENTS, train, "float64", OUT / train) for train in ("found", "packed", "on_cp"))])
        watched = ["plain", "accumulated", "on_pp2", *(["numbers", "skipping", "on_shard2", "on_tp2"] if arguments.all else [])]
        finders = dict(zip(watched, pool.map(lambda run: build(NONFINITE, run, "float64", OUT / "nonfinite" / run), watched)))
    kills = 100 if arguments.all else 20
    shards, tensors, two_stages, headtail, four = (two, 2), (split, 2), (stages, 2), (mirrored, 2), (flat, 4)
    report = Report()
    report.cases([
        (f"{kills} kills of two processes, seed {arguments.seed}",
         partial(try_kills, two, text, kills, arguments.seed)),
        ("from mesh to mesh", partial(try_meshes, [
            shards, two_stages, tensors, headtail, four, shards, headtail, two_stages, four, tensors, (one, 1)],
            text, MOVE)),
        ("from mesh to mesh, with buffers",
         partial(try_meshes, [(kept2, 2), (kept_split, 2), (kept, 1)], text)),
        ("padded dimensions, and files without them", partial(try_files, "odd", whole, padded, text)),
        ("the stages of a pipeline", partial(try_files, "staged", one, paired, text)),
        ("from a padded mesh to one process",
         partial(try_meshes, [(padded, 2), (whole, 1)], text)),
        ("booleans and padding on one process and on two",
         partial(try_counts, valued, valued2, OUT)),
        ("an index outside of a table", partial(try_index, valued, OUT)),
        ("documents of an indexed file", partial(try_documents, *packed, OUT)),
        ("evaluation on one process and on two", partial(try_evaluation, one, two, text, other)),
        ("skipped steps on one process and on two", partial(
            try_skipped, skipped, skipped2, write_marked(OUT / "marked.txt"), OUT)),
        *list_nonfinite(finders, OUT / "nonfinite", arguments.all),
        ("the greatest loss of a rank", partial(try_greatest_loss, two, half, text)),
        ("perplexity beside several losses", partial(try_perplexity, mixed, named, other)),
        ("actions of a pipeline", partial(try_actions, stages, text)),
        ("collectives beside computation", partial(try_overlap, deep, text, 4))])
    report.case("sockets and shared memory", lambda: try_transports(deep, text))
    # On a loaded machine, ranks wait for one another.
    report.case("allocations of a step", lambda: try_allocations(
        {"one rank": (one, 1), "two ranks": (split, 2), "bf16": (narrow, 1)}, text))
    report.end()


if __name__ == "__main__":
    main()
