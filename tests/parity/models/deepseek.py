"""DeepSeek-V2 (arXiv 2405.04434). Narrow latents produce keys, values and, in this version, queries.
Rotary positions have separate elements, which the keys of all heads share. A dense layer precedes
layers with shared and routed experts."""

import torch
from torch import Tensor, einsum

from . import mixtral, parts

EPS = 1e-6
THETA = 10_000.0
ACTIVE, SCALE = 2, 1.5
UNDECAYED = ()


def shapes(layers, dense_layers, embed, heads, ffn, expert_ffn, experts, shared, plain, turned, value, kv_rank,
           q_rank, vocab) -> dict[str, tuple[int, ...]]:
    """The parameters of a model of these sizes. Of a head's elements, `turned` are rotated and `plain` are not."""
    attend = {
        "ffn_norm": (embed,),
        "attn_norm": (embed,),
        "wo": (heads, value, embed),
        "kv_down": (embed, kv_rank),
        "kv_norm": (kv_rank,),
        "k_turned": (embed, turned),
        "k_up": (kv_rank, heads, plain),
        "v_up": (kv_rank, heads, value),
        "q_down": (embed, q_rank),
        "q_norm": (q_rank,),
        "q_up": (q_rank, heads, plain),
        "q_turned": (q_rank, heads, turned),
    }
    routed = {
        "router": (embed, experts),
        "expert_w1": (experts, embed, expert_ffn),
        "expert_w2": (experts, expert_ffn, embed),
        "expert_w3": (experts, embed, expert_ffn),
    } | mlp_shapes("shared.", embed, shared * expert_ffn)
    result = {"table": (vocab, embed)}
    for repeat, count, block in (("dense_layers", dense_layers, attend | mlp_shapes("", embed, ffn)),
                                 ("layers", layers, attend | routed)):
        for layer in range(count):
            result |= {f"{repeat}.{layer}.{name}": shape for name, shape in block.items()}
    return result | {"norm": (embed,), "unembed": (embed, vocab)}


def mlp_shapes(prefix: str, embed: int, ffn: int) -> dict[str, tuple[int, ...]]:
    return {prefix + "w1": (embed, ffn), prefix + "w2": (ffn, embed), prefix + "w3": (embed, ffn)}


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
