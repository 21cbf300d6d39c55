"""gpt-oss (OpenAI 2025, arXiv 2508.10925): a sink per head in its softmax; every other layer,
beginning with the first, sees `WINDOW` positions; YaRN; the best experts of a token, with biases
and clamped gates, as openai/gpt-oss computes them."""

import torch
from torch import Tensor, einsum

from . import parts

EPS = 1e-5
THETA, FACTOR, CONTEXT = 150_000.0, 32.0, 64
WINDOW, ACTIVE = 5, 2
LIMIT, SLOPE = 0.75, 1.702
UNDECAYED = ()


def attend(h: Tensor, p: dict[str, Tensor], window: int | None) -> Tensor:
    q, k, v = parts.grouped_queries(h, p)
    q, k, v = q + p["bq"], k + p["bk"], v + p["bv"]
    head = q.shape[-1]
    frequency = parts.yarn(head, THETA, FACTOR, CONTEXT, rounded=False)
    q, k = (parts.rotate(t, frequency, neighbours=False) for t in (q, k))
    scale = parts.yarn_scale(FACTOR) * head ** -0.5
    a = parts.attention(q, k, v, window, scale, sink=p["sink"])
    return parts.heads_to_embed(a, p["wo"]) + p["bo"]


def mixture(h: Tensor, p: dict[str, Tensor]) -> Tensor:
    """Per token: the weighted sum of the chosen experts [b, s, a] applied to h."""
    best, chosen = (h @ p["router"] + p["router_bias"]).topk(ACTIVE, -1)
    w1, w2, w3, b1, b2, b3 = (p[f"expert_{n}"][chosen] for n in ("w1", "w2", "w3", "b1", "b2", "b3"))
    gate = (einsum("bse,bsaef->bsaf", h, w1) + b1).clamp(max=LIMIT)
    up = (einsum("bse,bsaef->bsaf", h, w3) + b3).clamp(-LIMIT, LIMIT)
    u = gate * torch.sigmoid(SLOPE * gate) * (up + 1)
    return einsum("bsae,bsa->bse", einsum("bsaf,bsafe->bsae", u, w2) + b2, best.softmax(-1))


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for index, p in enumerate(parts.layers(parameters)):
        window = WINDOW if index % 2 == 0 else None
        x = x + attend(parts.rms_norm(x, p["attn_norm"], EPS), p, window)
        x = x + mixture(parts.rms_norm(x, p["ffn_norm"], EPS), p)
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"]
