"""Components of several reference models.

Letters in einsum: b batch, s position of a query, t position of a key, e embed, k head of keys, g
query of those that share it, h element of a head, f hidden element of an MLP, v vocab.
"""

import math

import torch
from torch import Tensor, einsum
from torch.nn.functional import silu


def layers(parameters: dict[str, Tensor], repeat: str = "layers") -> list[dict[str, Tensor]]:
    """The parameters of each layer by their names within it."""
    found: dict[int, dict[str, Tensor]] = {}
    for name, tensor in parameters.items():
        if name.startswith(repeat + "."):
            _, index, own = name.split(".", 2)
            found.setdefault(int(index), {})[own] = tensor
    return [found[index] for index in sorted(found)]


def rms_norm(x: Tensor, weight: Tensor | float, eps: float) -> Tensor:
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps=1e-5)


def gelu_tanh(x: Tensor) -> Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh")


def geglu(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    return gated(gelu_tanh, x, p)


def swiglu(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    return gated(silu, x, p)


def gated(activation, x: Tensor, p: dict[str, Tensor]) -> Tensor:
    return (activation(x @ p["w1"]) * (x @ p["w3"])) @ p["w2"]


def frequencies(size: int, theta: float) -> Tensor:
    """Radians per position for each pair of a head of this size."""
    return theta ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)


def yarn(size: int, theta: float, factor: float, context: int, rounded: bool = True) -> Tensor:
    """YaRN (Peng et al. 2023, arXiv 2309.00071), as Hugging Face's and OpenAI's code compute it."""
    def pair(turns: float) -> float:
        return size * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low, high = pair(32), pair(1)
    if rounded:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    ramp = (torch.arange(size // 2, dtype=torch.float64) - low) / max(high - low, 0.001)
    kept = 1 - ramp.clamp(0, 1)
    plain = frequencies(size, theta)
    return plain / factor * (1 - kept) + plain * kept


def yarn_scale(factor: float) -> float:
    """The factor of the scores: queries and keys are both scaled by its root."""
    return (0.1 * math.log(factor) + 1) ** 2


def rotate(x: Tensor, frequency: Tensor, neighbours: bool) -> Tensor:
    """Rotates x[b, s, ..., h] by its positions; pairs are neighbours, or half a head apart."""
    angle = torch.outer(torch.arange(x.shape[1], dtype=torch.float64), frequency)
    angle = angle.reshape(x.shape[1], *[1] * (x.dim() - 3), -1)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = (x[..., 0::2], x[..., 1::2]) if neighbours else x.chunk(2, -1)
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, -1).flatten(-2) if neighbours else torch.cat(turned, -1)


def visible(seq: int, window: int | None = None) -> Tensor:
    """[s, t]: whether position s sees position t <= s, within `window` positions if given."""
    distance = torch.arange(seq)[:, None] - torch.arange(seq)
    seen = distance >= 0
    return seen if window is None else seen & (distance < window)


def attention(q: Tensor, k: Tensor, v: Tensor, window: int | None = None, scale: float | None = None,
              cap: float | None = None, sink: Tensor | None = None) -> Tensor:
    """Causal attention of q[b, s, k, g, h] to keys and values [b, t, k, h]; sink[k, g] is an
    additional score without a value."""
    scores = einsum("bskgh,btkh->bkgst", q, k) * (scale or 1 / math.sqrt(q.shape[-1]))
    if cap:
        scores = cap * torch.tanh(scores / cap)
    scores = scores.masked_fill(~visible(q.shape[1], window), -math.inf)
    if sink is not None:
        nowhere = sink[:, :, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, nowhere], -1)
    return einsum("bkgst,btkh->bskgh", scores.softmax(-1)[..., :k.shape[1]], v)


def grouped_queries(h: Tensor, p: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """q[b, s, k, g, h], k and v[b, s, k, h]."""
    return (einsum("bse,ekgh->bskgh", h, p["wq"]), einsum("bse,ekh->bskh", h, p["wk"]),
            einsum("bse,ekh->bskh", h, p["wv"]))


def heads_to_embed(a: Tensor, wo: Tensor) -> Tensor:
    return einsum("bskgh,kghe->bse", a, wo)
