"""A model with buffers. Layers whiten their input by running statistics, as a trained batch norm
does (Ioffe and Szegedy 2015, arXiv 1502.03167); a bias balances the use of experts (Wang et al.
2024, arXiv 2408.15664); the output uses a moving average of the table. The program is
programs/balanced.titan."""

import torch
from torch import Tensor, einsum
from torch.nn.functional import cross_entropy, silu

from . import parts

RATE, BALANCE, KEPT, ACTIVE = 0.1, 0.05, 0.9, 2
UNDECAYED = ()
BUFFERS = ("*.mean", "*.variance", "*.balance", "average", "steps")


def statistics(x: Tensor, p: dict[str, Tensor], found: dict[str, Tensor]) -> Tensor:
    """x, whitened by the statistics of earlier steps; the new statistics go to `found`."""
    found["mean"] = p["mean"] + RATE * (x.mean((0, 1)) - p["mean"])
    spread = (x - p["mean"]).square().mean((0, 1))
    found["variance"] = p["variance"] + RATE * (spread - p["variance"])
    return (x - p["mean"]) / torch.sqrt(p["variance"] + 1e-3) * p["gain"]


def experts(h: Tensor, p: dict[str, Tensor], found: dict[str, Tensor]) -> Tensor:
    scores = (h @ p["router"]).sigmoid()
    chosen = (scores + p["balance"]).topk(ACTIVE, -1).indices
    taken = torch.zeros_like(scores).scatter(-1, chosen, 1.0)
    load = taken.sum((0, 1))
    found["balance"] = p["balance"] + BALANCE * torch.sign(load.mean() - load)
    weights = scores * taken
    weights = weights / weights.sum(-1, keepdim=True)
    u = silu(einsum("bse,nef->bsnf", h, p["expert_w1"])) * einsum("bse,nef->bsnf", h, p["expert_w3"])
    return einsum("bsnf,nfe,bsn->bse", u, p["expert_w2"], weights)


def run(parameters: dict[str, Tensor], tokens: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits, and the next values of the layers' buffers."""
    x, next_values = parameters["table"][tokens], {}
    for index, p in enumerate(parts.layers(parameters)):
        found: dict[str, Tensor] = {}
        h = statistics(x, p, found) if "mean" in p else parts.rms_norm(x, 1.0, 1e-5)
        x = x + experts(h, p, found)
        next_values.update({f"layers.{index}.{name}": tensor for name, tensor in found.items()})
    return x @ (parameters["table"] + parameters["average"]).T, next_values


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    return run(parameters, tokens)[0]


def loss(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(logits(parameters, tokens).flatten(0, 1), labels.flatten())


def updates(parameters: dict[str, Tensor], tokens: Tensor) -> dict[str, Tensor]:
    """The buffers after the step that begins with these."""
    return run(parameters, tokens)[1] | {
        "average": KEPT * parameters["average"] + (1 - KEPT) * parameters["table"],
        "steps": parameters["steps"] + 1}
