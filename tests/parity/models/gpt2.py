"""GPT-2: learned positions, LayerNorm with bias, attention and MLP with biases, tanh GELU.

Without `unembed` among the parameters the head is the token table (tied), as in the published
model. tanh GELU: Hendrycks and Gimpel, "Gaussian Error Linear Units", section 2.

Letters in einsum: b batch, s position of a query, t position of a key, e embed, n heads, h head, f
ffn, v vocab.
"""

import math

import torch
from torch import Tensor, einsum

from models import cast, wide

EPS = 1e-5
# Parameters without weight decay, as in the program.
UNDECAYED = ("*norm", "*norm_bias", "*.b?")


def shapes(layers, embed, heads, head, ffn, vocab, context, tied=True):
    """The parameters of a model of these sizes."""
    block = {
        "attn_norm": (embed,), "attn_norm_bias": (embed,),
        "wq": (embed, heads, head), "bq": (heads, head),
        "wk": (embed, heads, head), "bk": (heads, head),
        "wv": (embed, heads, head), "bv": (heads, head),
        "wo": (heads, head, embed), "bo": (embed,),
        "ffn_norm": (embed,), "ffn_norm_bias": (embed,),
        "w1": (embed, ffn), "b1": (ffn,),
        "w2": (ffn, embed), "b2": (embed,),
    }
    result = {"table": (vocab, embed), "positions": (context, embed)}
    for layer in range(layers):
        result |= {f"layers.{layer}.{name}": shape for name, shape in block.items()}
    result |= {"norm": (embed,), "norm_bias": (embed,)}
    return result if tied else result | {"unembed": (embed, vocab)}


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    centred = wide(x) - wide(x).mean(-1, keepdim=True)
    scale = torch.rsqrt(centred.square().mean(-1, keepdim=True) + EPS)
    return (centred * scale * weight + bias).to(x.dtype)


def gelu(x: Tensor) -> Tensor:
    y = wide(x)
    return (0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))).to(x.dtype)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention of q[b, s, n, h] to keys and values [b, t, n, h]."""
    scores = einsum("bsnh,btnh->bnst", wide(q), wide(k)) * q.shape[-1] ** -0.5
    seq = q.shape[1]
    future = torch.ones(seq, seq, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    return einsum("bnst,btnh->bsnh", weights, wide(v)).to(q.dtype)


def layer(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    h = layer_norm(x, p["attn_norm"], p["attn_norm_bias"])
    q = einsum("bse,enh->bsnh", h, p["wq"]) + p["bq"]
    k = einsum("bse,enh->bsnh", h, p["wk"]) + p["bk"]
    v = einsum("bse,enh->bsnh", h, p["wv"]) + p["bv"]
    x = x + einsum("bsnh,nhe->bse", attention(q, k, v), p["wo"]) + p["bo"]
    h = layer_norm(x, p["ffn_norm"], p["ffn_norm_bias"])
    h = gelu(einsum("bse,ef->bsf", h, p["w1"]) + p["b1"])
    return x + einsum("bsf,fe->bse", h, p["w2"]) + p["b2"]


def logits(parameters: dict[str, Tensor], tokens: Tensor, compute=None) -> Tensor:
    """Logits [batch, seq, vocab] of tokens [batch, seq]."""
    parameters = cast(parameters, compute)
    x = parameters["table"][tokens] + parameters["positions"][: tokens.shape[1]]
    index = 0
    while f"layers.{index}.wq" in parameters:
        prefix = f"layers.{index}."
        x = layer(x, {n[len(prefix):]: t for n, t in parameters.items() if n.startswith(prefix)})
        index += 1
    x = layer_norm(x, parameters["norm"], parameters["norm_bias"])
    if "unembed" in parameters:
        return einsum("bse,ev->bsv", x, parameters["unembed"])
    return einsum("bse,ve->bsv", x, parameters["table"])
