"""Mixtral whose experts have bounded lists (Lepikhin et al. 2020, GShard, arXiv 2006.16668; Fedus et al.
2021, arXiv 2101.03961, section 2.2): a sequence has `CAPACITY` times the mean number of slots for each
expert. Its tokens take them one by one, and get nothing from an expert that is full."""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from . import mixtral, parts
from .mixtral import ACTIVE, BALANCE, UNDECAYED, shapes  # noqa: F401 (of every reference model)

CAPACITY = 1.0


def keep(chosen: Tensor, experts: int) -> Tensor:
    """Whether each choice [b, s, a] finds a slot, by walking through the tokens."""
    slots = min(chosen.shape[1], math.ceil(CAPACITY * chosen.shape[1] * ACTIVE / experts))
    kept = torch.zeros_like(chosen, dtype=torch.bool)
    for b, sequence in enumerate(chosen.tolist()):
        used = [0] * experts
        for s, token in enumerate(sequence):
            for a, expert in enumerate(token):
                kept[b, s, a] = used[expert] < slots
                used[expert] += 1
    return kept


def run(parameters: dict[str, Tensor], tokens: Tensor) -> tuple[Tensor, Tensor, int]:
    """Logits, the mean imbalance of the layers' experts, and the number of choices without a slot."""
    x = parameters["table"][tokens]
    uneven, dropped = [], 0
    for p in parts.layers(parameters):
        x = mixtral.attend(x, p)
        h = parts.rms_norm(x, p["ffn_norm"], mixtral.EPS)
        chosen, weights, of_layer = mixtral.route(h, p)
        kept = keep(chosen, p["router"].shape[-1])
        x = x + mixtral.experts(h, p, chosen, weights * kept)
        uneven.append(of_layer)
        dropped += int((~kept).sum())
    x = parts.rms_norm(x, parameters["norm"], mixtral.EPS) @ parameters["unembed"]
    return x, torch.stack(uneven).mean(), dropped


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    return run(parameters, tokens)[0]


def losses(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> dict[str, Tensor]:
    logits, uneven, _ = run(parameters, tokens)
    return {"": cross_entropy(logits.flatten(0, 1), labels.flatten()),
            "imbalance": BALANCE * uneven}


def metrics(parameters: dict[str, Tensor], tokens: Tensor) -> dict[str, float]:
    with torch.no_grad():
        return {"dropped": run(parameters, tokens)[2]}
