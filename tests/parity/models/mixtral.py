"""Mixtral (Jiang et al. 2024, arXiv 2401.04088): Llama's attention; a router takes the `ACTIVE` best
of a token's experts, and their softmaxed scores weigh what these make of it."""

from torch import Tensor, einsum
from torch.nn.functional import silu

from . import parts

EPS = 1e-5
THETA = 1_000_000.0
ACTIVE = 2
UNDECAYED = ()


def experts(h: Tensor, p: dict[str, Tensor], chosen: Tensor, weights: Tensor) -> Tensor:
    """Token by token: what the chosen experts [b, s, a] make of h, weighed."""
    w1, w3, w2 = (p[f"expert_{n}"][chosen] for n in ("w1", "w3", "w2"))
    u = silu(einsum("bse,bsaef->bsaf", h, w1)) * einsum("bse,bsaef->bsaf", h, w3)
    return einsum("bsaf,bsafe,bsa->bse", u, w2, weights)


def mixture(h: Tensor, p: dict[str, Tensor]) -> Tensor:
    best, chosen = (h @ p["router"]).topk(ACTIVE, -1)
    return experts(h, p, chosen, best.softmax(-1))


def layer(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    q, k, v = parts.grouped_queries(parts.rms_norm(x, p["attn_norm"], EPS), p)
    frequency = parts.frequencies(q.shape[-1], THETA)
    q, k = (parts.rotate(t, frequency, neighbours=True) for t in (q, k))
    x = x + parts.heads_to_embed(parts.attention(q, k, v), p["wo"])
    return x + mixture(parts.rms_norm(x, p["ffn_norm"], EPS), p)


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for p in parts.layers(parameters):
        x = layer(x, p)
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"]
