"""Models of `transformers` with random weights in float64, and Titan's programs of them."""

import shutil
from pathlib import Path

import torch
import transformers
from float64 import in_float64
from safetensors.torch import load_file
from tiny import FAMILIES
from titan import BUILD, build, call, environment_of, lock_product, on_ranks

OUT = BUILD / "tests" / "huggingface"
BATCH, SEQ, STEPS, SEED = 4, 16, 3, 7
PROGRAM = """
import {module}

model Tiny = {model}

parallel four {{
  shard = 2 splits batch stores params, grads, optimizer
  tp    = 2 splits {splits}
}}

train run = Tiny {{
  data = text("text.txt") {{ batch = {batch}, seq = {seq} }}
  seed = {seed}, steps = {steps}, clip = 1.0
  optimizer = adamw {{ lr = 8e-4, betas = (0.9, 0.95), weight_decay = 0.1 }}
  schedule = wsd {{ warmup = 2, decay = linear, to = 0 }}
}}
train meshed = run on four with {{}}
"""


def make(name: str):
    """The model of `transformers`, its directory, and the file of Titan's program."""
    family, folder = FAMILIES[name], OUT / name
    family.config._attn_implementation = family.config._experts_implementation = "eager"  # others refuse float64
    torch.manual_seed(3)
    architecture = getattr(transformers, family.architecture)  # imports its code, which in_float64 changes
    with in_float64():
        model = architecture(family.config)
        with torch.no_grad():
            for parameter in model.parameters():  # norms and biases, too, differ from 1 and 0
                parameter += 0.1 * torch.randn_like(parameter)
    source = folder / "program.titan"
    with lock_product(source):
        if not source.exists():
            model.save_pretrained(folder / "hf", max_shard_size="40KB")
            source.write_text(PROGRAM.format(module=family.module, model=family.model, batch=BATCH, seq=SEQ,
                                             seed=SEED, steps=STEPS, splits=family.splits))
    return model, folder / "hf", source


def executable(name: str, source: Path, run: str) -> Path:
    exe = source.parent / run
    with lock_product(exe):
        if not exe.exists():
            build(source, run, "float64", exe)
    return exe


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor for file in sorted(folder.glob("*.safetensors"))
            for name, tensor in load_file(file).items()}


def export(exe: Path, weights: Path, out: Path, processes: int = 1, options=()) -> dict[str, torch.Tensor]:
    shutil.rmtree(out, ignore_errors=True)  # of an older build
    command = [exe, "export", "--init-from", weights, "--hf", out, *options]
    call(on_ranks(processes, command), env=environment_of({}), timeout=300)
    return tensors_of(out)
