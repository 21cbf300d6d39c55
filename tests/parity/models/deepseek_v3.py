"""DeepSeek-V3 (arXiv 2412.19437): V2's latent attention, with YaRN. Routers have sigmoid scores, choose
from the best groups of experts by scores plus a bias, and the bias balances the experts."""

import math

import torch
from torch import Tensor

from . import deepseek, mixtral, parts
from .deepseek import EPS, THETA

ACTIVE, SCALE, GROUPS, KEPT_GROUPS = 3, 2.5, 4, 2
FACTOR, CONTEXT, RATE = 4, 64, 0.001
UNDECAYED = ()
BUFFERS = ("*.balance",)


def shapes(layers, experts, **sizes) -> dict[str, tuple[int, ...]]:
    """The parameters and biases of a model of these sizes."""
    biases = {f"layers.{layer}.balance": (experts,) for layer in range(layers)}
    return deepseek.shapes(layers=layers, experts=experts, **sizes) | biases


def choose(ranked: Tensor) -> Tensor:
    """The experts of each token: the best ones within the groups whose two best sum to the most
    (section 2.1.2)."""
    grouped = ranked.unflatten(-1, (GROUPS, -1))
    best = grouped.topk(2, -1).values.sum(-1).topk(KEPT_GROUPS, -1).indices
    kept = torch.zeros(grouped.shape[:-1], dtype=torch.bool).scatter(-1, best, True)
    return grouped.masked_fill(~kept.unsqueeze(-1), -math.inf).flatten(-2).topk(ACTIVE, -1).indices


def sparse(h: Tensor, p: dict[str, Tensor], found: dict[str, Tensor]) -> Tensor:
    scores = (h @ p["router"]).sigmoid()
    chosen = choose(scores.detach() + p["balance"])
    load = torch.bincount(chosen.flatten(), minlength=scores.shape[-1]).to(scores.dtype)
    found["balance"] = p["balance"] + RATE * torch.sign(load.mean() - load)
    weights = scores.gather(-1, chosen)
    weights = weights / weights.sum(-1, keepdim=True) * SCALE
    shared = {n: p["shared." + n] for n in ("w1", "w2", "w3")}
    return parts.swiglu(h, shared) + mixtral.experts(h, p, chosen, weights)


def attend(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    size = p["k_turned"].shape[-1]
    scale = parts.yarn_scale(FACTOR) * (p["k_up"].shape[-1] + size) ** -0.5
    h = parts.rms_norm(x, p["attn_norm"], EPS)
    return x + deepseek.latent_attention(h, p, parts.yarn(size, THETA, FACTOR, CONTEXT), scale)


def run(parameters: dict[str, Tensor], tokens: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits, and the next biases."""
    x, biases = parameters["table"][tokens], {}
    for p in parts.layers(parameters, "dense_layers"):
        x = attend(x, p)
        x = x + parts.swiglu(parts.rms_norm(x, p["ffn_norm"], EPS), p)
    for index, p in enumerate(parts.layers(parameters)):
        found: dict[str, Tensor] = {}
        x = attend(x, p)
        x = x + sparse(parts.rms_norm(x, p["ffn_norm"], EPS), p, found)
        biases[f"layers.{index}.balance"] = found["balance"]
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"], biases


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    return run(parameters, tokens)[0]


def updates(parameters: dict[str, Tensor], tokens: Tensor) -> dict[str, Tensor]:
    """The biases after the step that begins with these."""
    return run(parameters, tokens)[1]
