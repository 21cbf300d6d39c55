"""An encoder without attention that restores blanked letters: convolutions over neighbours, gates,
and the mean of all positions. The program is programs/cloze.titan."""

import torch
from torch import Tensor
from torch.nn.functional import conv1d, cross_entropy

from . import parts

EVERY = 4
UNDECAYED = ()


def convolve(h: Tensor, p: dict[str, Tensor], by: int) -> Tensor:
    """Depthwise convolution over h[batch, seq, embed], with taps `by` positions apart and zeros
    outside."""
    taps = torch.stack([p["tap_left"], p["tap_here"], p["tap_right"]], -1).unsqueeze(1)
    y = conv1d(h.transpose(1, 2), taps, padding=by, dilation=by, groups=len(taps))
    return y.transpose(1, 2)


def neighbours(x: Tensor, p: dict[str, Tensor], by: int) -> Tensor:
    h = parts.layer_norm(x, p["norm"], p["bias"])
    c = convolve(h, p, by)
    everywhere = (h.mean(1) @ p["whole"]).unsqueeze(1)
    return x + (torch.sigmoid(c @ p["gate"]) * (c @ p["up"] + everywhere)) @ p["down"]


def blanked(seq: int) -> Tensor:
    return torch.arange(seq) % EVERY == EVERY // 2


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    table, seq = parameters["table"], tokens.shape[1]
    x = table[tokens].clone()
    x[:, blanked(seq)] = parameters["blank"]
    x = x + parameters["positions"][:seq]
    for layer in parts.layers(parameters):
        x = neighbours(x, {n: t for n, t in layer.items() if "." not in n}, 1)
        far = {n.removeprefix("far."): t for n, t in layer.items() if n.startswith("far.")}
        x = neighbours(x, far, 3)
    x = parts.layer_norm(x, parameters["norm"], parameters["norm_bias"])
    return x @ table.T + parameters["unembed_bias"]


def loss(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> Tensor:
    chosen = blanked(tokens.shape[1])
    return cross_entropy(logits(parameters, tokens)[:, chosen].flatten(0, 1),
                         tokens[:, chosen].flatten())
