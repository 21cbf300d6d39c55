"""OLMo 2 (OLMo Team 2024, arXiv 2501.00656): norms after the sublayers, and norms over the queries and the keys
of all heads together; rotated pairs of elements are half a head apart."""

from torch import Tensor

from . import parts

EPS = 1e-6
THETA = 500_000.0
UNDECAYED = ()


def over_heads(x: Tensor, weight: Tensor) -> Tensor:
    """A norm over all dimensions after batch and sequence."""
    return parts.rms_norm(x.flatten(2), weight.flatten(), EPS).view_as(x)


def layer(x: Tensor, p: dict[str, Tensor], frequency: Tensor) -> Tensor:
    q, k, v = parts.grouped_queries(x, p)
    q = parts.rotate(over_heads(q, p["q_norm"]), frequency, neighbours=False)
    k = parts.rotate(over_heads(k, p["k_norm"]), frequency, neighbours=False)
    a = parts.heads_to_embed(parts.attention(q, k, v), p["wo"])
    x = x + parts.rms_norm(a, p["attn_norm"], EPS)
    return x + parts.rms_norm(parts.swiglu(x, p), p["ffn_norm"], EPS)


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    frequency = parts.frequencies(parameters["layers.0.wq"].shape[-1], THETA)
    for p in parts.layers(parameters):
        x = layer(x, p, frequency)
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"]
