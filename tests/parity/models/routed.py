"""Experts on packed samples, programs/routed.titan. Only slots that hold data count: in the balance loss (Fedus et al.
2021, equation 4, by sequence, with the mask of `transformers.models.mixtral.load_balancing_loss_func`), in the load of
a bias (Wang et al. 2024), in the capacity of an expert's list, and among the dropped choices."""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from . import mixtral, parts

ACTIVE, CAPACITY, BALANCE, RATE = 2, 1.1, 0.125, 0.05
UNDECAYED = ()
BUFFERS = ("*.balance",)


def own(p: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in p.items() if name.startswith(prefix)}


def keep(chosen: Tensor, experts: int, used: Tensor) -> Tensor:
    """Whether each choice [b, s, a] finds a slot, by walking through the tokens."""
    kept = torch.zeros_like(chosen, dtype=torch.bool)
    for b, sequence in enumerate(chosen.tolist()):
        slots = math.ceil(CAPACITY * int(used[b].sum()) * ACTIVE / experts)
        taken = [0] * experts
        for s, token in enumerate(sequence):
            for a, expert in enumerate(token):
                if used[b, s]:
                    kept[b, s, a] = taken[expert] < slots
                    taken[expert] += 1
    return kept


def balanced(h: Tensor, p: dict[str, Tensor], used: Tensor) -> tuple[Tensor, Tensor, int]:
    scores = h @ p["router"]
    best, chosen = scores.topk(ACTIVE, -1)
    experts, mask = scores.shape[-1], used.double()[..., None]
    share = (one_hot(chosen, experts).sum(-2) * mask).sum(1) / (ACTIVE * mask.sum(1))
    mean = (scores.softmax(-1) * mask).sum(1) / mask.sum(1)
    uneven = experts * (share * mean).sum(-1).mean()
    kept = keep(chosen, experts, used)
    dropped = int((~kept & used.bool()[..., None]).sum())
    return mixtral.experts(h, p, chosen, best.softmax(-1) * kept), uneven, dropped


def biased(h: Tensor, p: dict[str, Tensor], used: Tensor) -> tuple[Tensor, Tensor]:
    """The outputs, and the next bias."""
    scores = (h @ p["router"]).sigmoid()
    chosen = (scores.detach() + p["balance"]).topk(ACTIVE, -1).indices
    load = torch.bincount(chosen[used.bool()].flatten(), minlength=scores.shape[-1]).double()
    weights = scores.gather(-1, chosen)
    y = mixtral.experts(h, p, chosen, weights / weights.sum(-1, keepdim=True))
    return y, p["balance"] + RATE * torch.sign(load.mean() - load)


def run(parameters: dict[str, Tensor], tokens: Tensor, documents: Tensor, used: Tensor):
    """Logits, the imbalance, the dropped choices, and the next biases."""
    x, uneven, dropped, biases = parameters["table"][tokens], 0, 0, {}
    mask = (documents[:, :, None] == documents[:, None]).tril()
    for index, p in enumerate(parts.layers(parameters)):
        h = parts.rms_norm(x, 1.0, 1e-5)
        x = x + torch.nn.functional.scaled_dot_product_attention(h, h, h, attn_mask=mask)
        y, of_layer, lost = balanced(parts.rms_norm(x, 1.0, 1e-5), p, used)
        x, uneven, dropped = x + y, uneven + of_layer, dropped + lost
        y, biases[f"layers.{index}.biased.balance"] = biased(parts.rms_norm(x, 1.0, 1e-5), own(p, "biased."), used)
        x = x + y
    return x @ parameters["table"].T, uneven, dropped, biases


def losses(parameters, tokens, labels, documents, positions, weights, used) -> dict[str, Tensor]:
    logits, uneven, _, _ = run(parameters, tokens, documents, used)
    each = cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return {"": (each * weights.flatten()).sum() / weights.sum(), "imbalance": BALANCE * uneven}


def metrics(parameters, tokens, documents, used, **_) -> dict[str, float]:
    with torch.no_grad():
        return {"dropped": run(parameters, tokens, documents, used)[2]}


def updates(parameters, tokens, documents, used, **_) -> dict[str, Tensor]:
    return run(parameters, tokens, documents, used)[3]
