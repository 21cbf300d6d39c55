"""A decoder with sinusoidal positions and norms after each sublayer (Vaswani et al. 2017, arXiv
1706.03762), several activations, a cross-entropy with label smoothing and a penalty on the
normaliser, and an auxiliary loss. The program is programs/vaswani.titan."""

import math

import torch
from torch import Tensor, einsum
from torch.nn.functional import cross_entropy, gelu, leaky_relu, softplus

from . import parts

SMOOTHING, Z_WEIGHT = 0.1, 0.01
TURNED, THETA = 4, 10_000.0  # rotated elements of a head, in the middle layer
UNDECAYED = ()
ACTIVATIONS = [lambda u: u * torch.sigmoid(1.702 * u), softplus, leaky_relu]


def sinusoidal(seq: int, embed: int) -> Tensor:
    rate = torch.tensor([10000 ** (-2 * (i // 2) / embed) for i in range(embed)],
                        dtype=torch.float64)
    angle = torch.outer(torch.arange(seq, dtype=torch.float64), rate)
    return torch.where(torch.arange(embed) % 2 == 0, angle.sin(), angle.cos())


def turn(x: Tensor) -> Tensor:
    front = parts.rotate(x[..., :TURNED], parts.frequencies(TURNED, THETA), neighbours=True)
    return torch.cat([front, x[..., TURNED:]], -1)


def attend(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    if "few.wq" in p:  # all heads share keys and values (Shazeer 2019, arXiv 1911.02150)
        q = einsum("bse,ekh->bskh", x, p["few.wq"])
        k, v = ((x @ p["few." + n]).unsqueeze(2).expand(*q.shape) for n in ("wk", "wv"))
        q, k = turn(q), turn(k)
    else:
        q, k, v = (einsum("bse,ekh->bskh", x, p["w" + n]) + p["b" + n] for n in "qkv")
    a = parts.attention(q.unsqueeze(3), k, v).squeeze(3)
    x = x + einsum("bskh,khe->bse", a, p["wo"])
    return parts.layer_norm(x, p["attn_norm"], p["attn_bias"])


def run(parameters: dict[str, Tensor], tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Logits, and the deviation of hidden values from size 1, summed over layers."""
    table = parameters["table"]
    x = table[tokens] * math.sqrt(table.shape[1])
    x = x + sinusoidal(tokens.shape[1], table.shape[1])
    total = torch.zeros((), dtype=torch.float64)
    for p, activation in zip(parts.layers(parameters), ACTIVATIONS, strict=True):
        x = attend(x, p)
        h = activation(x @ p["up"])
        total = total + (h.abs() - 1).square().mean()
        x = parts.layer_norm(x + h @ p["down"], p["ffn_norm"], p["ffn_bias"])
    u = gelu(x @ parameters["w1"] + parameters["b1"])
    x = x + u @ parameters["w2"] + parameters["b2"]
    return x @ table.T, total


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    return run(parameters, tokens)[0]


def losses(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> dict[str, Tensor]:
    logits, total = run(parameters, tokens)
    flat = logits.flatten(0, 1)
    smooth = cross_entropy(flat, labels.flatten(), label_smoothing=SMOOTHING)
    tamed = cross_entropy(flat, labels.flatten()) + Z_WEIGHT * flat.logsumexp(-1).square().mean()
    return {"": smooth, "tamed": tamed, "spread": 0.1 * total}
