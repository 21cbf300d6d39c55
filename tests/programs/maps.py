"""Random axis rules in IR: meshes of one to three axes with random names, degrees, dimensions and
storage. They include rules that the language would reject (a dimension that a degree does not
divide stays whole), and overrides for some parameters and values on half of the axes."""

import random
import re
from pathlib import Path

INPUTS = Path(__file__).parents[1] / "lit/dialects/dist/Transforms/Shard/Inputs"
# Programs that together contain every operation, and the dimensions of their tensors.
PROGRAMS = {
    "decoder": "batch seq embed heads group head ffn vocab layers".split(),
    "surgery": "batch seq embed heads head inner pair keys prefix vocab layers".split(),
}
NAMES = ["tp", "zeta", "alpha", "m", "x1"]
KINDS = ["params", "grads", "optimizer"]


def quote(names) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def draw_overrides(draw: random.Random, dims: list[str], tensors: dict[str, list[str]]) -> str:
    entries = []
    for _ in range(draw.randint(0, 3)):
        kind = draw.choice(sorted(tensors))
        names = draw.sample(tensors[kind], draw.randint(1, min(4, len(tensors[kind]))))
        parts = [f'of = "{kind}"', f"names = {quote(names)}"]
        if kind == "values" or draw.random() < 0.6:
            parts.append(f"shards = {quote(draw.sample(dims, draw.randint(0, min(3, len(dims)))))}")
        if kind == "parameters" and draw.random() < 0.6:
            parts.append(f"stores = {quote(one for one in KINDS if draw.random() < 0.5)}")
        entries.append("{" + ", ".join(parts) + "}")
    return f" {{dist.overrides = [{', '.join(entries)}]}}" if entries else ""


def draw_mesh(draw: random.Random, dims: list[str], tensors: dict[str, list[str]]) -> str:
    axes, maps = [], []
    has_auto = draw.random() < 0.3
    has_order = False
    for i, name in enumerate(draw.sample(NAMES, draw.randint(1, 3))):
        is_auto = has_auto and i == 0
        # Sizes must be divisible by the degree of auto times the other degrees.
        degree = "auto" if is_auto else draw.choice([1, 2] if has_auto else [1, 2, 2, 2, 3, 4])
        axes.append(f"#dist.axis<{name} = {degree}>")
        pool = ["batch"] if is_auto else draw.sample(dims, len(dims))
        splits = pool[:draw.randint(0, 4)]
        otherwise = pool[len(splits):][:draw.randint(0, 1)]
        stores = [kind for kind in KINDS if draw.random() < 0.5]
        is_mirrored = not is_auto and not has_order and draw.random() < 0.3
        has_order |= is_mirrored
        maps.append(f'dist.axis_rules "{name}" shards {quote(splits)} fallback {quote(otherwise)} '
                    f"stores {quote(stores)}{' headtail' if is_mirrored else ''}"
                    f"{' attention ring' if not is_auto and draw.random() < 0.3 else ''}"
                    + draw_overrides(draw, ["batch"] if is_auto else dims, tensors))
    draw.shuffle(maps)
    return "\n".join([f"dist.mesh @mesh [{', '.join(axes)}]", *maps])


def draw_program(name: str, seed: int) -> str:
    number = iter(range(10**6))
    text = re.sub(r"(titan\.sharding_constraint %[\w#]+) :", lambda m: f'{m[1]} {{titan.name = "v{next(number)}"}} :',
                  (INPUTS / f"{name}.mlir").read_text())
    tensors = {"parameters": re.findall(r'titan\.param = "([^"]*)"', text),
               "values": re.findall(r'titan\.(?:name|input) = "([^"]*)"', text)}
    return draw_mesh(random.Random(seed), PROGRAMS[name], tensors) + "\n" + text
