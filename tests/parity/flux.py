"""Compares FLUX with plain PyTorch in float64: training, evaluation and sampling, on one process and on meshes.

    flux.py [--all] [-v] [NAME...]

The reference (models/flux.py) draws times, noise and dropped descriptions from Titan's definition of random numbers
in plain Python. Programs train for some steps on arrays of latents and descriptions (compare.py). An evaluation must
have the loss of PyTorch at eight fixed times. Samples of the command `apply` must be those that PyTorch computes by
Euler's method from the same noise and the trained weights, and its pictures must have their colours.
"""

import json
import struct
import zlib
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import torch
from safetensors.torch import load_file

import models.flux as flux
from compare import compare
from float64_cases import run_in_float64
from reference import write_run
from run import OUT as PARITY
from sample_order import permutation
from titan import Launch, build, call, environment_of, lock_product, on_ranks
from training import Recipe, train

OUT = PARITY.parent / "flux"
SAMPLES, BATCH, STEPS, SEED, DRAWN = 12, 4, 6, flux.SEED, 3
SHAPE, WORDS, TEXT, VECTOR = (1, 4, 6), 3, 5, 7
SAMPLING = {"steps": 4, "strength": 5.0, "shift": 0.3}
# Axes of each mesh, and the number of processes.
MESHES = {"one": ("", 1),
          "hsdp": ("replicate = 2 splits batch\n  shard = 2 splits batch stores params, grads, optimizer", 4),
          "shard2_tp2": ("shard = 2 splits batch stores params, grads, optimizer\n  tp = 2 splits heads, ffn", 4),
          "cp2": ("cp = 2 splits seq, words, spots", 2)}
SMALL = {"cp2": {"words": 4, "width": 4}}  # sizes that the axes divide
PROGRAM = """
import models.flux
parallel map {
  %s
}
train run = Flux%s {
  model {
    layers = 2, single_layers = 2, heads = 2, embed = 16, ffn = 24, axes = [1, 1, 2], channels = 1, height = 4
    width = %d, words = %d, text_width = 5, vector_width = 7
    steps = 4, strength = 5, shift = 0.3, pixels = true
  }
  data = arrays("data") { batch = 4 }
  eval { data = arrays("data") }
  seed = 7, steps = 6, clip = 1.0
  parameters "*" { init = normal(0.3) }
  optimizer = adamw { lr = 8e-4, betas = (0.9, 0.95), weight_decay = 0.1 }
  schedule = wsd { warmup = 2, decay = linear, to = 0 }
}
"""


def sizes_of(mesh: str) -> tuple[int, int]:
    small = SMALL.get(mesh, {})
    return small.get("width", SHAPE[2]), small.get("words", WORDS)


def draw_data(mesh: str) -> dict[str, torch.Tensor]:
    chance = torch.Generator().manual_seed(3)
    width, words = sizes_of(mesh)
    return {"latents": torch.randn((SAMPLES, *SHAPE[:2], width), generator=chance),
            "text": torch.randn((SAMPLES, words, TEXT), generator=chance),
            "vector": torch.randn((SAMPLES, VECTOR), generator=chance)}


def prepare(mesh: str) -> tuple[Path, Path]:
    """The compiled program of a mesh and its data."""
    folder = OUT / mesh
    with lock_product(folder):
        if not (folder / "program").exists():
            (folder / "data").mkdir(parents=True, exist_ok=True)
            for name, values in draw_data(mesh).items():
                numpy.save(folder / "data" / f"{name}.npy", values.numpy())
            axes, _ = MESHES[mesh]
            text = PROGRAM % (axes, " on map" if axes else "", *sizes_of(mesh))
            (folder / "run.titan").write_text(text if axes else text.replace("parallel map {\n  \n}\n", ""))
            build(folder / "run.titan", "run", "float64", folder / "program")
    return folder / "program", folder / "data"


def batches(mesh: str) -> list[dict]:
    data = draw_data(mesh)
    order = [permutation(g % SAMPLES, SAMPLES, SEED, g // SAMPLES) for g in range(STEPS * BATCH)]
    return [{n: x[order[step * BATCH:(step + 1) * BATCH]] for n, x in data.items()} | {"step": step + 1}
            for step in range(STEPS)]


def trained(mesh: str) -> Path:
    exe, data = prepare(mesh)
    out = OUT / mesh / "ours"
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            Launch(STEPS, SEED, MESHES[mesh][1]).run(exe, data, out, ["--check-replicas"])
    return out


def check_training(mesh: str):
    ours, against = trained(mesh), OUT / mesh / "theirs"
    weights = load_file(ours / "initial.safetensors")
    module = SimpleNamespace(loss=flux.loss, UNDECAYED=flux.UNDECAYED)
    write_run(against, *train(module, weights, batches(mesh), Recipe(steps=STEPS)))
    result = compare(ours, against, "float64")
    return result.passed(), result.table()


def command(mesh: str, *arguments) -> str:
    exe, data = prepare(mesh)
    words = [exe, *arguments, "--init-from", trained(mesh) / "model.safetensors", "--data", data]
    return call(on_ranks(MESHES[mesh][1], words), env=environment_of({}), timeout=300)


def check_evaluation(mesh: str):
    """Each batch has the first of the eight times, and the same noise."""
    weights, data = load_file(trained(mesh) / "model.safetensors"), draw_data(mesh)
    with torch.no_grad():
        losses = [flux.loss(weights, **{n: x[at:at + BATCH] for n, x in data.items()}, step=0, training=False)
                  for at in range(0, SAMPLES, BATCH)]
    theirs = (sum(losses) / len(losses)).item()
    ours = json.loads(command(mesh, "eval", "--json"))["loss"]
    return abs(ours - theirs) < 1e-10 * theirs, f"    {ours} and {theirs}"


def read_png(path: Path) -> numpy.ndarray:
    """[height, width] of a grey picture without compression or filters, checked."""
    content, at, chunks = path.read_bytes(), 8, {}
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at:at + 8])
        assert zlib.crc32(content[at + 4:at + 8 + size]) == struct.unpack(">I", content[at + 8 + size:at + 12 + size])[0]
        chunks[kind] = content[at + 8:at + 8 + size]
        at += 12 + size
    width, height, depth, colours = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colours) == (8, 0) and b"IEND" in chunks
    lines = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), numpy.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return lines[:, 1:]


def check_sampling(mesh: str):
    seed, out = 11, OUT / mesh / "samples"
    command(mesh, "apply", "--out", out, "--seed", seed, "--images", "picture")
    weights, data = load_file(trained(mesh) / "model.safetensors"), draw_data(mesh)
    samples = torch.from_numpy(numpy.load(out / "samples.npy"))
    if samples.shape != data["latents"].shape:
        return False, f"    the shape is {tuple(samples.shape)}"
    lines = []
    with torch.no_grad():
        for i in range(DRAWN):
            text, vector = data["text"][i:i + 1], data["vector"][i:i + 1]
            theirs = flux.sample(weights, data["latents"][i:i + 1].shape, text, vector, i, seed, **SAMPLING)[0]
            if not torch.allclose(samples[i], theirs, rtol=1e-9, atol=1e-10):
                lines.append(f"    sample {i} differs by {(samples[i] - theirs).abs().max():.3g}")
            shades = (255 * (0.5 + 0.5 * samples[i, 0]).clamp(0, 1) + 0.5).floor().to(torch.uint8).numpy()
            if not numpy.array_equal(read_png(out / f"picture-{i:04}.png"), shades):
                lines.append(f"    picture {i} has other colours")
    return not lines, "\n".join(lines)


def cases(everything: bool):
    for mesh in MESHES if everything else ("one", "hsdp"):
        yield f"training on {mesh}", partial(check_training, mesh)
        yield f"evaluation on {mesh}", partial(check_evaluation, mesh)
        yield f"sampling on {mesh}", partial(check_sampling, mesh)


if __name__ == "__main__":
    run_in_float64(__doc__, OUT, cases)
