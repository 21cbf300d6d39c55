"""Trains a reference model: weights and batches in, losses, gradients and parameters out.

    reference.py llama3 --weights W.safetensors --batches B.safetensors --out DIR
                 [--dtype float64|float32|bfloat16] [--mutate NAME] [recipe options]

W has the initial parameters under the program's names; B has `tokens` [steps, batch, seq + 1],
each row a sample whose labels are its tokens shifted by one. DIR receives

    metrics.jsonl           step, loss, losses (those with names), grad_norm, lr
    gradients.safetensors   of step 1, before clipping
    model.safetensors       the parameters and buffers after the last step
"""

import argparse
import importlib
import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from training import MUTATIONS, Recipe, train


def write_run(folder: Path, rows, gradients, parameters) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "metrics.jsonl", "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    save_file({n: t.contiguous() for n, t in gradients.items()},
              folder / "gradients.safetensors")
    save_file({n: t.contiguous() for n, t in parameters.items()}, folder / "model.safetensors")


def run(model: str, weights: Path, batches: Path, out: Path, dtype="float64", recipe=None,
        mutation="", narrow_parameters=False) -> None:
    torch.use_deterministic_algorithms(True)
    # Mixed precision: parameters stay in float32, and the model casts its operands. With narrow
    # parameters there is no float32 copy: gradients and AdamW's moments are bfloat16, too.
    mixed = dtype == "bfloat16" and not narrow_parameters
    kind = torch.float32 if mixed else getattr(torch, dtype)
    module = importlib.import_module(f"models.{model}")
    parameters = {n: t.to(kind) if t.is_floating_point() else t
                  for n, t in load_file(weights).items()}
    tokens = load_file(batches)["tokens"].long()
    recipe = recipe or Recipe(steps=len(tokens))
    write_run(out, *train(module, parameters, tokens, recipe, mutation,
                          torch.bfloat16 if mixed else None))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", choices=["llama3", "gpt2"])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--batches", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dtype", choices=["float64", "float32", "bfloat16"], default="float64")
    parser.add_argument("--mutate", choices=list(MUTATIONS), default="")
    defaults = Recipe()
    for key in ("steps", "lr", "warmup", "decay", "to", "weight_decay", "clip"):
        value = getattr(defaults, key)
        parser.add_argument("--" + key.replace("_", "-"), type=type(value), default=value)
    a = parser.parse_args()
    recipe = Recipe(a.steps, a.lr, a.warmup, a.decay, a.to, weight_decay=a.weight_decay,
                    clip=a.clip)
    run(a.model, a.weights, a.batches, a.out, a.dtype, recipe, a.mutate)


if __name__ == "__main__":
    main()
