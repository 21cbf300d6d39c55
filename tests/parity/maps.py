"""Random maps: whatever is split and stored, a step means what it meant on one rank.

    maps.py [--all] [--seed N] [--count N]

Meshes of one to three axes with names, degrees, splits and storage drawn at random, on the two
programs of tests/lit/dialects/dist/Transforms/Shard/Inputs (which have every operation between
them). The step after the shard phase is interpreted on all ranks in float64, two steps, and compared
with the step before it: loss, gradients, parameters and state, to 1e-12. No map may fail to compile.
"""

import argparse
import random
from pathlib import Path

from titan import BUILD, Report, call

INPUTS = Path(__file__).parents[1] / "lit/dialects/dist/Transforms/Shard/Inputs"
OUT = BUILD / "tests/maps"
BIN = BUILD / "bin"
DIMS = {
    "decoder": "batch seq embed heads group head ffn vocab layers".split(),
    "surgery": "batch seq embed heads head inner pair keys prefix vocab layers".split(),
}
NAMES = ["tp", "zeta", "alpha", "m", "x1"]
KINDS = ["params", "grads", "optimizer"]


def quote(names) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def draw_mesh(draw: random.Random, dims: list[str]) -> str:
    axes, maps = [], []
    has_auto = draw.random() < 0.3
    for i, name in enumerate(draw.sample(NAMES, draw.randint(1, 3))):
        is_auto = has_auto and i == 0
        axes.append(f"#dist.axis<{name} = {'auto' if is_auto else draw.choice([1, 2, 2, 2, 3, 4])}>")
        pool = ["batch"] if is_auto else draw.sample(dims, len(dims))
        splits = pool[:draw.randint(0, 4)]
        otherwise = pool[len(splits):][:draw.randint(0, 1)]
        stores = [kind for kind in KINDS if draw.random() < 0.5]
        maps.append(f'dist.map "{name}" splits {quote(splits)} otherwise {quote(otherwise)} '
                    f"stores {quote(stores)}")
    draw.shuffle(maps)
    return "\n".join([f"dist.mesh @mesh [{', '.join(axes)}]", *maps])


def check(program: str, seed: int):
    mesh = draw_mesh(random.Random(seed), DIMS[program])
    source, sharded = OUT / f"{program}-{seed}.mlir", OUT / f"{program}-{seed}.out"
    source.write_text(mesh + "\n" + (INPUTS / f"{program}.mlir").read_text())
    call([BIN / "titan-opt", "--titan-phase-gradient", "--titan-phase-shard", source, "-o", sharded])
    said = call([BIN / "titan-interpret", sharded, "--auto=2", "--vocab=16", "--float64", "--steps=2",
                 f"--compare={OUT / program}"])
    good = "step 2: equal" in said
    if good:
        source.unlink()
        sharded.unlink()
    return good, mesh + "\n" + said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="two thousand maps instead of a sample")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, help="how many maps a program")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    report = Report()
    for program in DIMS:
        call([BIN / "titan-opt", "--titan-phase-gradient", INPUTS / f"{program}.mlir", "-o", OUT / program])
        for seed in range(arguments.seed, arguments.seed + (arguments.count or (1000 if arguments.all else 12))):
            report.case(f"{program}, map {seed}", lambda: check(program, seed))
    report.end()


if __name__ == "__main__":
    main()
