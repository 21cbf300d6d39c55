"""Phi-1.5 and Phi-2 (arXiv 2309.05463, and microsoft/phi-2's config.json): attention and MLP read
the same normalised input and are added; only the first elements of a head are rotated."""

import torch
from torch import Tensor, einsum

from . import parts

THETA = 10_000.0
TURNED = 4  # rotated elements of a head
UNDECAYED = ()


def turn(x: Tensor) -> Tensor:
    front, rest = x[..., :TURNED], x[..., TURNED:]
    turned = parts.rotate(front, parts.frequencies(TURNED, THETA), neighbours=False)
    return torch.cat([turned, rest], -1)


def layer(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    h = parts.layer_norm(x, p["norm"], p["norm_bias"])
    q, k, v = (einsum("bse,ekh->bskh", h, p["w" + n]) + p["b" + n] for n in "qkv")
    a = parts.attention(turn(q).unsqueeze(3), turn(k), v).squeeze(3)
    a = einsum("bskh,khe->bse", a, p["wo"]) + p["bo"]
    m = parts.gelu_tanh(h @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
    return x + a + m


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for p in parts.layers(parameters):
        x = layer(x, p)
    x = parts.layer_norm(x, parameters["norm"], parameters["norm_bias"])
    return x @ parameters["unembed"] + parameters["unembed_bias"]
