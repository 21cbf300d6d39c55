"""Qwen3, dense (Yang et al. 2025, arXiv 2505.09388): queries and keys normalised per head before
the rotation; rotated pairs of elements are half a head apart; output tied to the token table."""

from torch import Tensor

from . import parts

EPS = 1e-6
THETA = 1_000_000.0
UNDECAYED = ()


def layer(x: Tensor, p: dict[str, Tensor], frequency: Tensor, scale: float | None) -> Tensor:
    q, k, v = parts.grouped_queries(parts.rms_norm(x, p["attn_norm"], EPS), p)
    q = parts.rotate(parts.rms_norm(q, p["q_norm"], EPS), frequency, neighbours=False)
    k = parts.rotate(parts.rms_norm(k, p["k_norm"], EPS), frequency, neighbours=False)
    x = x + parts.heads_to_embed(parts.attention(q, k, v, scale=scale), p["wo"])
    return x + parts.swiglu(parts.rms_norm(x, p["ffn_norm"], EPS), p)


def decode(parameters: dict[str, Tensor], tokens: Tensor, frequency: Tensor,
           scale: float | None = None) -> Tensor:
    x = parameters["table"][tokens]
    for p in parts.layers(parameters):
        x = layer(x, p, frequency, scale)
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["table"].T


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    head = parameters["layers.0.wq"].shape[-1]
    return decode(parameters, tokens, parts.frequencies(head, THETA))
