"""Tide, a model of Titan's standard library without attention: stdlib/models/tide.titan describes it."""

import torch
from torch import Tensor
from torch.nn.functional import pad, relu

from . import parts

EPS = 1e-5
CAP = 15.0
UNDECAYED = ()


def norm(x: Tensor) -> Tensor:
    return parts.rms_norm(x, 1.0, EPS)


def taps(h: Tensor, p: dict[str, Tensor]) -> Tensor:
    seq = h.shape[1]
    return sum(pad(h, (0, 0, by, 0))[:, :seq] * p[f"tap_{by}"] for by in (0, 1, 2, 4))


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    table = parameters["table"]
    start = norm(table[tokens])
    x = start
    for p in parts.layers(parameters):
        past = taps(norm(x), p)
        x = x * p["keep"] + start * p["again"]
        x = x + torch.sigmoid(past @ p["gate"]) * (past @ p["pass"])
        x = x + relu(norm(x) @ parameters["w1"]).square() @ parameters["w2"]
    return CAP * torch.tanh(norm(x) @ table.T / CAP)
