"""DeepSeek-V2 (arXiv 2405.04434): keys, values and here queries, too, through narrow latents;
separate elements for positions, common to the keys of all heads; a dense layer, then layers of
shared and of routed experts."""

import torch
from torch import Tensor, einsum

from . import mixtral, parts

EPS = 1e-6
THETA = 10_000.0
ACTIVE, SCALE = 2, 1.5
UNDECAYED = ()


def latent_attention(h: Tensor, p: dict[str, Tensor], frequency: Tensor | None = None,
                     scale: float | None = None) -> Tensor:
    if frequency is None:
        frequency = parts.frequencies(p["k_turned"].shape[-1], THETA)
    c = parts.rms_norm(h @ p["kv_down"], p["kv_norm"], EPS)
    d = parts.rms_norm(h @ p["q_down"], p["q_norm"], EPS)
    shared = parts.rotate(h @ p["k_turned"], frequency, neighbours=True)
    own = parts.rotate(einsum("bsr,rkh->bskh", d, p["q_turned"]), frequency, neighbours=True)
    plain = einsum("bsr,rkh->bskh", c, p["k_up"])
    v = einsum("bsr,rkh->bskh", c, p["v_up"])
    q = torch.cat([einsum("bsr,rkh->bskh", d, p["q_up"]), own], -1)
    k = torch.cat([plain, shared.unsqueeze(2).expand(*own.shape)], -1)
    a = parts.attention(q.unsqueeze(3), k, v, scale=scale).squeeze(3)
    return einsum("bskh,khe->bse", a, p["wo"])


def sparse(h: Tensor, p: dict[str, Tensor]) -> Tensor:
    best, chosen = (h @ p["router"]).softmax(-1).topk(ACTIVE, -1)
    shared = {n: p["shared." + n] for n in ("w1", "w2", "w3")}
    return parts.swiglu(h, shared) + mixtral.experts(h, p, chosen, best * SCALE)


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for repeat, mlp in (("dense_layers", parts.swiglu), ("layers", sparse)):
        for p in parts.layers(parameters, repeat):
            x = x + latent_attention(parts.rms_norm(x, p["attn_norm"], EPS), p)
            x = x + mlp(parts.rms_norm(x, p["ffn_norm"], EPS), p)
    return parts.rms_norm(x, parameters["norm"], EPS) @ parameters["unembed"]
