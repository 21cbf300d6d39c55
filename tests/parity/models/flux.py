"""FLUX as a function of its parameters, in plain PyTorch, with the draws of Titan's generator.

Written from black-forest-labs' and torchtitan's code (model/layers.py, trainer.py), not from flux.titan.
"""

import math
import sys
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, scaled_dot_product_attention, silu

sys.path.append(str(Path(__file__).resolve().parents[2] / "ops"))
from torch_ops import draw  # noqa: E402

UNDECAYED = ()
AXES, THETA, PATCH, DROP, SEED = (2, 2, 4), 10_000, 2, 0.447, 7  # AXES: elements of a head


def part(p: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix):]: tensor for name, tensor in p.items() if name.startswith(prefix)}


def pack(x: Tensor) -> Tensor:
    b, c, h, w = x.shape
    x = x.reshape(b, c, h // PATCH, PATCH, w // PATCH, PATCH)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(b, (h // PATCH) * (w // PATCH), -1)


def unpack(x: Tensor, shape) -> Tensor:
    b, c, h, w = shape
    x = x.reshape(b, h // PATCH, w // PATCH, c, PATCH, PATCH)
    return x.permute(0, 3, 1, 4, 2, 5).reshape(b, c, h, w)


def rotations(words: int, height: int, width: int) -> Tensor:
    """The angles [positions, pairs] of words, all at (0, 0, 0), and of spots at (0, row, column)."""
    spots = torch.zeros(height, width, 3, dtype=torch.float64)
    spots[..., 1], spots[..., 2] = torch.arange(height)[:, None], torch.arange(width)[None]
    ids = torch.cat([torch.zeros(words, 3, dtype=torch.float64), spots.reshape(-1, 3)])
    return torch.cat([ids[:, i, None] * (1.0 / THETA ** (torch.arange(0, size, 2, dtype=torch.float64) / size))
                      for i, size in enumerate(AXES)], 1)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """x [batch, positions, heads, head]: neighbouring elements as complex numbers."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)[:, None]).flatten(-2)


def sinusoid(t: Tensor, size: int) -> Tensor:
    frequencies = torch.exp(-math.log(10_000) * torch.arange(size // 2, dtype=torch.float64) / (size // 2))
    angles = 1000.0 * t[:, None] * frequencies
    return torch.cat([angles.cos(), angles.sin()], -1)


def embedder(p, x: Tensor) -> Tensor:
    return silu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def modulation(p, c: Tensor) -> list[Tensor]:
    """Shift, scale and gate, each [batch, 1, embed]; twice of a layer with two streams."""
    out = torch.einsum("be,epo->bpo", silu(c), p["modulation"]) + p["modulation_b"]
    return list(out.unsqueeze(2).unbind(1))


def modulated(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    return (1 + scale) * layer_norm(x, x.shape[-1:], eps=1e-6) + shift


def qkv(p, x: Tensor):
    q, k, v = (torch.einsum("bse,ehd->bshd", x, p["w" + n]) + p["b" + n] for n in "qkv")
    return rms(q, p["q_norm"]), rms(k, p["k_norm"]), v


def rms(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight


def attention(q: Tensor, k: Tensor, v: Tensor, angles: Tensor) -> Tensor:
    q, k = rotate(q, angles), rotate(k, angles)
    return scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2)


def mlp(p, x: Tensor) -> Tensor:
    return gelu(x @ p["w1"] + p["b1"], approximate="tanh") @ p["w2"] + p["b2"]


def double(p, picture: Tensor, text: Tensor, c: Tensor, angles: Tensor):
    streams = {"text": text, "picture": picture}
    mods = {n: modulation(part(p, n + "."), c) for n in streams}
    parts = [qkv(part(p, n + "."), modulated(x, *mods[n][:2])) for n, x in streams.items()]
    attended = attention(*(torch.cat(pair, 1) for pair in zip(*parts)), angles)
    for n, a in zip(streams, attended.split([text.shape[1], picture.shape[1]], 1)):
        own, m = part(p, n + "."), mods[n]
        x = streams[n] + m[2] * (torch.einsum("bshd,hde->bse", a, own["wo"]) + own["bo"])
        streams[n] = x + m[5] * mlp(own, modulated(x, m[3], m[4]))
    return streams["picture"], streams["text"]


def single(p, x: Tensor, c: Tensor, angles: Tensor) -> Tensor:
    shift, scale, gate = modulation(p, c)
    h = modulated(x, shift, scale)
    a = torch.einsum("bshd,hde->bse", attention(*qkv(p, h), angles), p["wo"])
    return x + gate * (a + mlp(p, h))


def velocity(p, x: Tensor, t: Tensor, text: Tensor, vector: Tensor, grid) -> Tensor:
    c = embedder(part(p, "time_in."), sinusoid(t, 256)) + embedder(part(p, "vector_in."), vector)
    angles = rotations(text.shape[1], *grid)
    picture, words = x @ p["picture_in"] + p["picture_in_b"], text @ p["text_in"] + p["text_in_b"]
    for layer in range(layers_of(p, "double")):
        picture, words = double(part(p, f"double.layers.{layer}."), picture, words, c, angles)
    both = torch.cat([words, picture], 1)
    for layer in range(layers_of(p, "single")):
        both = single(part(p, f"single.layers.{layer}."), both, c, angles)
    shift, scale = (silu(c) @ p[n] + p[n + "_b"] for n in ("shift", "scale"))
    return modulated(both[:, text.shape[1]:], shift[:, None], scale[:, None]) @ p["out"] + p["out_b"]


def layers_of(p, kind: str) -> int:
    return 1 + max(int(name.split(".")[2]) for name in p if name.startswith(f"{kind}.layers."))


def loss(parameters, latents: Tensor, text: Tensor, vector: Tensor, step: int, training: bool = True) -> Tensor:
    """Rectified flow, with times, noise and dropped descriptions of this step."""
    p, clean, batch = part(parameters, "flow."), pack(latents), len(latents)
    keys = (SEED, step) if training else (0, 0)
    noise = draw("normal", "noise.0", keys, clean.shape)
    if training:
        t = draw("uniform", "time.0", keys, (batch,))
        lost = [draw("uniform", f"{n}.0", keys, (batch,)) < DROP for n in ("told_text", "told_vector")]
        text, vector = text * ~lost[0][:, None, None], vector * ~lost[1][:, None]
    else:
        t = torch.tensor([(i % 8 + 0.5) / 8 for i in range(batch)])
    x = (1 - t)[:, None, None] * clean + t[:, None, None] * noise
    v = velocity(p, x, t, text, vector, [s // PATCH for s in latents.shape[2:]])
    return (v - (noise - clean)).square().sum() / clean.numel()


def sample(parameters, shape, text: Tensor, vector: Tensor, number: int, seed: int, steps: int, strength: float,
           shift: float) -> Tensor:
    """Latents of one sample from noise, by Euler's method with guidance."""
    p, grid = part(parameters, "flow."), [s // PATCH for s in shape[2:]]
    x = draw("normal", "x.0", (seed, number), pack(torch.zeros(shape)).shape)
    times = [1 - i / steps for i in range(steps + 1)]
    times = [math.exp(shift) / (math.exp(shift) + 1 / t - 1) if t else 0.0 for t in times]
    for now, then in zip(times, times[1:]):
        t = torch.full((len(x),), now, dtype=torch.float64)
        free = velocity(p, x, t, 0 * text, 0 * vector, grid)
        v = free + strength * (velocity(p, x, t, text, vector, grid) - free)
        x = x + (then - now) * v
    return unpack(x, shape)
