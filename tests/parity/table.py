"""The parity table: models on meshes with options, each row a step held against PyTorch.

    table.py [--all] [--list] [-v] [NAME...]

Rows are generated: degrees of replicas, shards and tensor parallelism up to 8 ranks, the residual
stream split along the sequence or not, what is stored in shards, clipping. Each is compiled to its
memory plan and a step of that is interpreted on all ranks, on real arenas, in float64: loss,
gradients and parameters by the rule of compare.py. Without --all a sample is shown.
"""

import argparse
import itertools
import math
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import torch

from interpret import OUT as INTERPRET, make_reference, judge
from run import PROGRAMS
from titan import TITANC, Report, call, require_titanc

OUT = INTERPRET.parent / "table"
BATCH, SEQ = 4, 16
# Two layers, small enough that a row takes about a second, every dimension divisible by 4.
SIZES = {
    "llama3": dict(layers=2, embed=16, kv_heads=4, group=2, head=4, ffn=32, vocab=64),
    "gpt2": dict(layers=2, embed=16, heads=4, head=4, ffn=32, vocab=64, positions=16),
}
TENSOR = {"llama3": "kv_heads, group, ffn, vocab", "gpt2": "heads, ffn, vocab"}
STORES = ["", "optimizer", "grads, optimizer", "params, grads, optimizer"]
SAMPLE = 8


@dataclass(frozen=True)
class Row:
    model: str
    axes: tuple[str, ...]
    ranks: int
    settings: tuple[str, ...] = field(default=())

    def name(self) -> str:
        return " | ".join([self.model, f"{self.ranks} ranks", "; ".join(self.axes) or "none",
                           *self.settings])


def axes_of(model: str, replicate: int, shard: int, tp: int, seq: bool, stores: str):
    if replicate > 1:
        yield f"replicate = {replicate} splits batch"
    if shard > 1:
        yield f"shard = {shard} splits batch" + (f" stores {stores}" if stores else "")
    if tp > 1:
        yield f"tp = {tp} splits {TENSOR[model]}" + (", else seq" if seq else "")


def rows() -> list[Row]:
    found = []
    for model, replicate, shard, tp in itertools.product(SIZES, (1, 2), (1, 2, 4), (1, 2, 4)):
        if replicate * shard > BATCH or replicate * shard * tp > 8:
            continue
        for seq, stores in itertools.product((False, True), STORES):
            if (seq and tp == 1) or (stores and shard == 1):
                continue
            axes = tuple(axes_of(model, replicate, shard, tp, seq, stores))
            found.append(Row(model, axes, replicate * shard * tp))
    for model in SIZES:  # what no one else lays so, and options of the run
        found += [
            Row(model, ("wide = 2 splits embed",), 2),
            Row(model, ("wide = 4 splits embed stores optimizer", "shard = 2 splits batch"), 8),
            Row(model, ("whole = 4 stores params, grads, optimizer",), 4),
            Row(model, ("long = 4 splits seq",), 4),
            Row(model, ("shard = 2 splits batch stores params",), 2, ("clip = 0",)),
            Row(model, (f"tp = 2 splits {TENSOR[model]}, else seq",), 2, ("clip = 0.01",)),
        ]
    # More ranks than heads of keys and values: the group is split too.
    found.append(Row("llama3", ("tp = 4 splits kv_heads, ffn, vocab, else seq",
                                "more = 2 splits group, ffn, vocab, else seq"), 8))
    return found


def recipe_of(row: Row) -> dict[str, float]:
    """The settings as PyTorch takes them; a clip of 0 is none."""
    settings = {key: float(value) for key, _, value in (s.partition(" = ") for s in row.settings)}
    if settings.get("clip") == 0:
        settings["clip"] = math.inf
    return settings


def lower(row: Row, folder: Path) -> Path:
    """The step after the memory phase."""
    sizes = ", ".join(f"{k} = {v}" for k, v in SIZES[row.model].items() if k != "positions")
    settings = "\n  ".join(row.settings)
    program = folder / "row.titan"
    program.write_text(f'''import "{PROGRAMS / row.model}.titan" as base
parallel map {{
  {chr(10).join(row.axes)}
}}
train row = base.parity on map with {{
  model {{ {sizes} }}
  data {{ seq = {SEQ}, batch = {BATCH} }}
  precision {{ params = f64, compute = f64, reduce = f64 }}
  {settings}
}}
''')
    ir = folder / "step.mlir"
    ir.write_text(call([TITANC, "--stop-after=memory", "--train", "row", program]))
    return ir


def check(row: Row, number: int):
    options = recipe_of(row)
    reference = OUT / f"{row.model}-{options}"
    if not reference.exists():
        make_reference(row.model, SIZES[row.model], BATCH, SEQ, reference, **options)
    folder = OUT / f"row-{number}"
    folder.mkdir(parents=True)
    result = judge(reference, lower(row, folder), row.ranks)
    return result.passed(), result.table()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="every row instead of a sample")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument("-v", action="store_true", help="show the tables of what passed too")
    arguments = parser.parse_args()
    table = list(enumerate(rows()))
    if arguments.list:
        print(*(f"{number:3} {row.name()}" for number, row in table), sep="\n")
        return
    require_titanc()
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    table = [(n, row) for n, row in table if all(part in row.name() for part in arguments.names)]
    if not arguments.all and not arguments.names:
        table = random.Random(3).sample(table, SAMPLE)
    report = Report()
    for number, row in table:
        report.case(f"row {number}: {row.name()}", lambda: check(row, number))
    report.end()


if __name__ == "__main__":
    main()
