"""Mixtral (Jiang et al. 2024, arXiv 2401.04088): Llama's attention; a router selects the `ACTIVE`
best experts of a token and weights them by their softmaxed scores. An auxiliary loss balances the
use of experts."""

import torch
from torch import Tensor, einsum
from torch.nn.functional import cross_entropy, one_hot, silu

from . import parts

EPS = 1e-5
THETA = 1_000_000.0
ACTIVE = 2
BALANCE = 0.125
UNDECAYED = ()


def shapes(layers, embed, kv_heads, group, head, experts, expert_ffn, vocab) -> dict[str, tuple[int, ...]]:
    """The parameters of a model of these sizes."""
    block = {
        "attn_norm": (embed,),
        "wq": (embed, kv_heads, group, head),
        "wk": (embed, kv_heads, head),
        "wv": (embed, kv_heads, head),
        "wo": (kv_heads, group, head, embed),
        "ffn_norm": (embed,),
        "router": (embed, experts),
        "expert_w1": (experts, embed, expert_ffn),
        "expert_w2": (experts, expert_ffn, embed),
        "expert_w3": (experts, embed, expert_ffn),
    }
    result = {"table": (vocab, embed)}
    for layer in range(layers):
        result |= {f"layers.{layer}.{name}": shape for name, shape in block.items()}
    return result | {"norm": (embed,), "unembed": (embed, vocab)}


def experts(h: Tensor, p: dict[str, Tensor], chosen: Tensor, weights: Tensor) -> Tensor:
    """Per token: the weighted sum of the chosen experts [b, s, a] applied to h."""
    w1, w3, w2 = (p[f"expert_{n}"][chosen] for n in ("w1", "w3", "w2"))
    u = silu(einsum("bse,bsaef->bsaf", h, w1)) * einsum("bse,bsaef->bsaf", h, w3)
    return einsum("bsaf,bsafe,bsa->bse", u, w2, weights)


def route(h: Tensor, p: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """The best experts of each token, their weights, and the imbalance of the experts (Fedus et al.
    2021, arXiv 2101.03961, equation 4), the mean over the sequences."""
    scores = h @ p["router"]
    best, chosen = scores.topk(ACTIVE, -1)
    count = scores.shape[-1]
    share = one_hot(chosen, count).to(scores.dtype).sum(-2).mean(1) / ACTIVE
    uneven = count * (share * scores.softmax(-1).mean(1)).sum(-1).mean()
    return chosen, best.softmax(-1), uneven


def attend(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    q, k, v = parts.grouped_queries(parts.rms_norm(x, p["attn_norm"], EPS), p)
    frequency = parts.frequencies(q.shape[-1], THETA)
    q, k = (parts.rotate(t, frequency, neighbours=True) for t in (q, k))
    return x + parts.heads_to_embed(parts.attention(q, k, v), p["wo"])


def layer(x: Tensor, p: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    x = attend(x, p)
    h = parts.rms_norm(x, p["ffn_norm"], EPS)
    chosen, weights, uneven = route(h, p)
    return x + experts(h, p, chosen, weights), uneven


def run(parameters: dict[str, Tensor], tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Logits, and the mean imbalance of the layers' experts."""
    x = parameters["table"][tokens]
    uneven = []
    for p in parts.layers(parameters):
        x, of_layer = layer(x, p)
        uneven.append(of_layer)
    x = parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"]
    return x, torch.stack(uneven).mean()


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    return run(parameters, tokens)[0]


def losses(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> dict[str, Tensor]:
    logits, uneven = run(parameters, tokens)
    return {"": cross_entropy(logits.flatten(0, 1), labels.flatten()),
            "imbalance": BALANCE * uneven}
