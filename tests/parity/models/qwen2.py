"""Qwen2 (Qwen Team 2024, arXiv 2407.10671): Llama 2's structure with biases of queries, keys and values."""

from torch import Tensor

from . import parts

EPS = 1e-6
THETA = 1_000_000.0
UNDECAYED = ()


def layer(x: Tensor, p: dict[str, Tensor], frequency: Tensor) -> Tensor:
    q, k, v = parts.grouped_queries(parts.rms_norm(x, p["attn_norm"], EPS), p)
    q, k, v = q + p["bq"], k + p["bk"], v + p["bv"]
    q, k = (parts.rotate(t, frequency, neighbours=True) for t in (q, k))
    x = x + parts.heads_to_embed(parts.attention(q, k, v), p["wo"])
    return x + parts.swiglu(parts.rms_norm(x, p["ffn_norm"], EPS), p)


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    frequency = parts.frequencies(parameters["layers.0.wq"].shape[-1], THETA)
    for p in parts.layers(parameters):
        x = layer(x, p, frequency)
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"]
