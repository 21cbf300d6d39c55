"""Llama 2. `decode` also computes models of the same structure: Mistral with its window, Llama 3.1 with its
frequencies.

Touvron et al. 2023 (arXiv 2302.13971, 2307.09288): RMSNorm before each sublayer, rotary positions
on neighbouring elements, SwiGLU. Grouped queries: Ainslie et al. 2023.
"""

from torch import Tensor

from . import parts

EPS = 1e-5
THETA = 10_000.0
WINDOW = None
UNDECAYED = ()


def frequencies(head: int) -> Tensor:
    return parts.frequencies(head, THETA)


def layer(x: Tensor, p: dict[str, Tensor], frequency: Tensor, window: int | None) -> Tensor:
    h = parts.rms_norm(x, p["attn_norm"], EPS)
    q, k, v = parts.grouped_queries(h, p)
    q, k = (parts.rotate(t, frequency, neighbours=True) for t in (q, k))
    x = x + parts.heads_to_embed(parts.attention(q, k, v, window), p["wo"])
    return x + parts.swiglu(parts.rms_norm(x, p["ffn_norm"], EPS), p)


def decode(parameters: dict[str, Tensor], tokens: Tensor, frequency: Tensor,
           window: int | None = None) -> Tensor:
    x = parameters["table"][tokens]
    for p in parts.layers(parameters):
        x = layer(x, p, frequency, window)
    x = parts.rms_norm(x, parameters["norm"], EPS)
    tied = "unembed" not in parameters
    return x @ (parameters["table"].T if tied else parameters["unembed"])


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    head = parameters["layers.0.wq"].shape[-1]
    return decode(parameters, tokens, parts.frequencies(head, THETA))
