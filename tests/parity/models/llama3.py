"""A Llama 3 decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU, untied head.

Rotary positions follow Meta's reference implementation: neighbouring features form a complex number
that is rotated by position * theta^(-2i/head). The angles are computed in float64 and rounded once,
so a comparison in float32 does not depend on the method that computes a cosine.

Letters in einsum: b batch, s position of a query, t position of a key, e embed, k kv_heads, g group
(queries per key head), h head, f ffn, v vocab.
"""

import torch
from torch import Tensor, einsum

from models import cast, wide

EPS = 1e-5
THETA = 500_000.0
# Parameters without weight decay, as in the program.
UNDECAYED = ("*norm",)


def shapes(layers, embed, kv_heads, group, head, ffn, vocab) -> dict[str, tuple[int, ...]]:
    """The parameters of a model of these sizes."""
    block = {
        "attn_norm": (embed,),
        "wq": (embed, kv_heads, group, head),
        "wk": (embed, kv_heads, head),
        "wv": (embed, kv_heads, head),
        "wo": (kv_heads, group, head, embed),
        "ffn_norm": (embed,),
        "w1": (embed, ffn),
        "w2": (ffn, embed),
        "w3": (embed, ffn),
    }
    result = {"table": (vocab, embed)}
    for layer in range(layers):
        result |= {f"layers.{layer}.{name}": shape for name, shape in block.items()}
    return result | {"norm": (embed,), "unembed": (embed, vocab)}


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    wider = wide(x)
    scale = torch.rsqrt(wider.square().mean(-1, keepdim=True) + EPS)
    return (wider * scale * weight).to(x.dtype)


def rotary(x: Tensor) -> Tensor:
    """Rotates x[batch, seq, ..., head] by its positions in seq."""
    seq, head = x.shape[1], x.shape[-1]
    frequency = THETA ** (-torch.arange(0, head, 2, dtype=torch.float64) / head)
    angle = torch.outer(torch.arange(seq, dtype=torch.float64), frequency)
    rotation = torch.polar(torch.ones_like(angle), angle)
    rotation = rotation.to(torch.complex128 if x.dtype == torch.float64 else torch.complex64)
    rotation = rotation.reshape(seq, *[1] * (x.dim() - 3), head // 2)
    pairs = torch.view_as_complex(wide(x).reshape(*x.shape[:-1], head // 2, 2))
    return torch.view_as_real(pairs * rotation).reshape(x.shape).to(x.dtype)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention of q[b, s, k, g, h] to keys and values [b, t, k, h]."""
    scores = einsum("bskgh,btkh->bkgst", wide(q), wide(k)) * q.shape[-1] ** -0.5
    seq = q.shape[1]
    future = torch.ones(seq, seq, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    return einsum("bkgst,btkh->bskgh", weights, wide(v)).to(q.dtype)


def layer(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    h = rms_norm(x, p["attn_norm"])
    q = rotary(einsum("bse,ekgh->bskgh", h, p["wq"]))
    k = rotary(einsum("bse,ekh->bskh", h, p["wk"]))
    v = einsum("bse,ekh->bskh", h, p["wv"])
    x = x + einsum("bskgh,kghe->bse", attention(q, k, v), p["wo"])
    h = rms_norm(x, p["ffn_norm"])
    gate = torch.nn.functional.silu(einsum("bse,ef->bsf", h, p["w1"]))
    return x + einsum("bsf,fe->bse", gate * einsum("bse,ef->bsf", h, p["w3"]), p["w2"])


def logits(parameters: dict[str, Tensor], tokens: Tensor, compute=None) -> Tensor:
    """Logits [batch, seq, vocab] of tokens [batch, seq]."""
    parameters = cast(parameters, compute)
    x = parameters["table"][tokens]
    index = 0
    while f"layers.{index}.wq" in parameters:
        prefix = f"layers.{index}."
        x = layer(x, {n[len(prefix):]: t for n, t in parameters.items() if n.startswith(prefix)})
        index += 1
    return einsum("bse,ev->bsv", rms_norm(x, parameters["norm"]), parameters["unembed"])
