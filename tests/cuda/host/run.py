"""The CUDA target without a device: its unchanged sources on a CPU (README.md).

    run.py [--all] [-v] [NAME...]

Compares single operations, attention, and complete programs with the CPU kernels. Runs are resumed, and
divided among processes. Then sources are mutated, and every mutation must be detected.
"""

import json
import sys
from functools import partial
from pathlib import Path

import torch

import attention
import broken
import emulated
import operations
import table
import titan
import turns
from compare import compare, read_losses
from emulated import OUT, ROOT
from table import Row
from titan import Launch, Report, read_arguments, lock_product, write_text

RUNS = ROOT / "tests" / "runs"
sys.path.append(str(RUNS))
from values import try_index  # noqa: E402

PROGRAMS = ROOT / "tests" / "parity" / "programs"
STEPS, TEXT_BYTES = 3, 4000
# File, run and element type.
CASES = [("llama3", "parity", "float32"), ("families", "mistral", "float64"),
         ("families", "phi", "float64")]
MORE = [("gpt2", "odd", "float64"), ("gpt2", "odd", "bfloat16"), ("cloze", "parity", "float32")] + [
    ("families", run, dtype) for run in
    ("gemma2", "mixtral", "llama3_1", "qwen3_yarn", "deepseek", "tide", "gpt_oss")
    for dtype in ("float32", "bfloat16")] + [
    (file, "parity", "float32") for file in ("balanced", "mixtral_capacity", "relay", "strata", "towers", "vaswani")]
# Small rows of the parity table, which together have every kind of mesh, of attention over it and of schedule.
EXPERTS = "shard = 2 splits experts, batch stores params, grads, optimizer"
MESHES = [
    Row("llama3", ("pp = 2 splits layers", "cp = 2 splits seq { order = headtail, attention = ring }"), 4,
        ('pipeline { schedule = "zb_h1", microbatches = 2 }',)),
    Row("llama3", ("pp = 2 splits layers { stages = 2 }", "cp = 2 splits seq { attention = all_to_all }"), 4,
        ('pipeline { schedule = "interleaved_1f1b", microbatches = 2 }',), layers=4),
    Row("mixtral", (EXPERTS, "cp = 2 splits seq"), 4),
    Row("mixtral_capacity", ("replicate = 2 splits batch", EXPERTS), 4, ("offload = [optimizer]",)),
]


def build_once(file: str, run: str, dtype: str) -> Path:
    exe = OUT / f"{file}-{run}-{dtype}" / "device"
    with lock_product(exe):
        return exe if exe.exists() else emulated.build_for_device(
            PROGRAMS / f"{file}.titan", run, dtype, exe)


def against_processor(text: Path, file: str, run: str, dtype: str):
    exe = build_once(file, run, dtype)
    cpu_exe = titan.build(PROGRAMS / f"{file}.titan", run, dtype, exe.with_name("processor"))
    device, processor = exe.with_name("on-device"), exe.with_name("on-processor")
    for program, out in ((exe, device), (cpu_exe, processor)):
        Launch(STEPS).run(program, text, out)
    result = compare(device, processor, dtype)
    return result.passed(), result.table()


def by_flash_attention(text: Path, file: str, run: str):
    """In bf16, LibTorch's flash attention and the runtime's kernels agree with the processor. Their gradients differ
    in some bits, which shows that both were used."""
    exe = build_once(file, run, "bfloat16")
    flash, own = exe.with_name("by-flash"), exe.with_name("by-own")
    Launch(STEPS, environment={"TITAN_ATTENTION": "own"}).run(exe, text, own)
    Launch(STEPS).run(exe, text, flash)
    good, table = against_processor(text, file, run, "bfloat16")
    result = compare(flash, own, "bfloat16")
    gradients = [(out / "gradients.safetensors").read_bytes() for out in (flash, own)]
    return good and result.passed() and gradients[0] != gradients[1], table + result.table()


def in_graphs(text: Path, file: str, run: str, dtype: str, processes: int = 1):
    """Every step is a graph that was captured in the first one. Calls that CUDA forbids during capture fail."""
    exe = build_once(file, run, dtype)
    graphs = emulated.link(emulated.captured(exe.with_suffix(".o")), exe.with_name(f"graphs-{processes}"))
    queued, launched = exe.with_name(f"queued-{processes}"), exe.with_name(f"launched-{processes}")
    for program, out in ((exe, queued), (graphs, launched)):
        Launch(STEPS, processes=processes).run(program, text, out)
    result = compare(launched, queued, dtype)
    same = read_losses(launched) == read_losses(queued)
    return result.passed() and same, result.table()


def split(text: Path, file: str, run: str, dtype: str, processes: int):
    """Several processes, whose devices communicate by NCCL calls, compared with one process."""
    exe = build_once(file, run, dtype)
    whole = build_once(file, "parity", dtype)
    one, many = exe.with_name("alone"), exe.with_name("split")
    Launch(STEPS).run(whole, text, one)
    Launch(STEPS, processes=processes).run(exe, text, many, ["--check-replicas"])
    result = compare(many, one, dtype)
    return result.passed(), result.table()


def on_mesh(text: Path, number: int):
    """A row of the parity table, with a device for each of its ranks, compared with PyTorch."""
    row, folder = MESHES[number], OUT / f"mesh-{number}"
    program = table.write_program(row, folder)
    exe = emulated.build_for_device(program, "row", row.dtype(), folder / "device")
    return table.check_steps(row, exe, Launch(STEPS, processes=row.ranks), text)


def in_turns(mesh: str):
    """A generator and a critic, whose steps differ, compared with a PyTorch loop."""
    axes, ranks = turns.MESHES[mesh]
    folder = OUT / "turns"
    program = turns.write_program(turns.CASES[turns.COMPILED], axes, folder, turns.COMPILED_STEPS)
    exe = emulated.build_for_device(program, "run", "float64", folder / "device")
    return turns.check_run(Launch(turns.COMPILED_STEPS, turns.SEED, ranks).run(exe, turns.write_data(), folder / "ours"))


def offloaded(text: Path, file: str, run: str, dtype: str):
    """Parameters and optimizer state in memory of the host: the same losses, also of a resumed run. Kernels may
    access page-locked memory; products, collectives and copies on the device may not."""
    exe = OUT / f"{file}-{run}-{dtype}-offloaded" / "device"
    emulated.build_for_device(PROGRAMS / f"{file}.titan", run, dtype, exe, ["offload=[optimizer, params]"])
    usual, ours = exe.with_name("usual"), exe.with_name("ours")
    for program, out in ((build_once(file, run, dtype), usual), (exe, ours)):
        Launch(STEPS, processes=2).run(program, text, out)
    same = read_losses(ours) == read_losses(usual)
    good, details = is_resumable(exe, text)
    return same and good, f"    {read_losses(ours)}\n    {read_losses(usual)}\n{details}"


def resumed(text: Path, file: str, run: str, dtype: str):
    return is_resumable(build_once(file, run, dtype), text)


def is_resumable(exe: Path, text: Path):
    """Losses are bitwise equal, whether or not the run was stopped and resumed."""
    whole, parts = exe.with_name("whole"), exe.with_name("parts")
    Launch(4).run(exe, text, whole)
    command = [exe, "--data", text, "--steps", 4, "--seed", 7, "--out", parts, "--log-every", 1]
    for more in (["--stop-at", 2, "--set", "checkpoint.every=2", "--resume", "none"], []):
        titan.call(command + more, env=titan.environment_of({}))
    good = read_losses(parts) == read_losses(whole) and times_add_up(whole)
    return good, f"    {read_losses(parts)}\n    {read_losses(whole)}"


def times_add_up(out: Path) -> bool:
    """Reported rates are those of completed steps, not of queued ones."""
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    taken = sum((row["tokens"] - before) / row["tokens_per_second"]
                for before, row in zip([0] + [row["tokens"] for row in rows], rows))
    return taken > 0.8 * rows[-1]["time"]


def generated(text: Path, file: str, run: str, dtype: str):
    """Text from caches: the tokens of the processor's program, and those without caches."""
    exe = build_once(file, run, dtype)
    cpu_exe = titan.build(PROGRAMS / f"{file}.titan", run, dtype, exe.with_name("writer"))
    weights = Launch(1).run(cpu_exe, text, exe.with_name("weights")) / "initial.safetensors"
    found = [json.loads(titan.call([program, "generate", "--init-from", weights, "--prompt", "In", "--json",
                                    "--max-tokens", 12, *options], env=titan.environment_of({})))["tokens"]
             for program, options in ((exe, []), (exe, ["--no-kv-cache"]), (cpu_exe, []))]
    return found[0] == found[1] == found[2], f"    {found}"


def index_outside():
    """Kernels record an index out of range; the host fails when it waits."""
    exe = emulated.build_for_device(RUNS / "values.titan", "one", "float64", OUT / "values" / "device")
    return try_index(exe, exe.parent)


def cases(everything: bool, text: Path):
    yield "operations against the interpreter", operations.check
    yield "attention against the processor's", attention.check
    for case in CASES + (MORE if everything else []):
        yield " ".join(case) + " against the processor", partial(against_processor, text, *case)
    yield "llama3 parity bfloat16 by flash attention", partial(by_flash_attention, text, "llama3", "parity")
    yield "llama3 parity float32 resumed", partial(resumed, text, *CASES[0])
    yield "llama3 auto on 2 processes, offloaded", partial(offloaded, text, *CASES[0])
    yield "mistral generates", partial(generated, text, *CASES[1])
    yield "an index outside of a table", index_outside
    yield "llama3 auto on 2 processes", partial(split, text, *CASES[0], 2)
    for number, row in enumerate(MESHES):
        yield f"on devices: {row.name()}", partial(on_mesh, text, number)
    yield "on devices: a generator and a critic on shard2_tp2", partial(in_turns, "shard2_tp2")
    yield "llama3 captured, on 2 processes", partial(in_graphs, text, *CASES[0], 2)
    if everything:
        yield "llama3 on_shard2_tp2", partial(split, text, "llama3", "on_shard2_tp2", "float64", 4)
        yield "llama3 on_tp2_seq", partial(split, text, "llama3", "on_tp2_seq", "float64", 2)
        for run in ("on_shard2_tp2", "on_tp2_seq"):
            yield f"llama3 {run} captured", partial(
                in_graphs, text, "llama3", run, "float64", 4 if run == "on_shard2_tp2" else 2)
    yield from broken.cases()


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true", help="every model")


def main() -> None:
    arguments = read_arguments(__doc__, OUT, add_arguments)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    text = write_text(OUT / "text.txt", TEXT_BYTES)
    report = Report()
    report.cases(cases(arguments.all, text), arguments.names)
    report.end()


if __name__ == "__main__":
    main()
