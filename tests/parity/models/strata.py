"""A model whose layers differ: groups of layers with windowed and then full attention (mixed windows as in
Beltagy et al. 2020, arXiv 2004.05150), then MLPs of which every second one has a gate. The program is
programs/strata.titan."""

from torch import Tensor
from torch.nn.functional import cross_entropy, silu

from . import parts

WINDOW = 5
UNDECAYED = ()


def attend(x: Tensor, p: dict[str, Tensor], window: int | None) -> Tensor:
    q, k, v = parts.grouped_queries(parts.rms_norm(x, p["attn_norm"], 1e-5), p)
    return x + parts.heads_to_embed(parts.attention(q, k, v, window), p["wo"])


def feed(x: Tensor, p: dict[str, Tensor]) -> Tensor:
    h = parts.rms_norm(x, p["ffn_norm"], 1e-5)
    u = h @ p["up"]
    u = u * silu(h @ p["gate"]) if "gate" in p else parts.gelu_tanh(u)
    return x + u @ p["down"]


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for group in parts.layers(parameters, "groups"):
        layers = parts.layers(group)
        for p in layers[:-1]:
            x = attend(x, p, WINDOW)
        x = attend(x, layers[-1], None) * group["gain"]
    for index, p in enumerate(parts.layers(parameters, "tail")):
        x = feed(x, p)
        if index % 3 == 0:
            x = x * parameters["scale"]
    return x @ parameters["table"].T


def loss(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(logits(parameters, tokens).flatten(0, 1), labels.flatten())
