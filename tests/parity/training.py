"""A training run in plain PyTorch, with the schedule, clipping and AdamW of the tested programs.

`MUTATIONS` are small faults that a training system might have. The comparison must detect them
(selftest.py).
"""

import math
from dataclasses import dataclass, replace
from fnmatch import fnmatch

import torch
from torch import Tensor

from models import wide

MUTATIONS = {
    "scale-gradient": "one gradient tensor is multiplied by 1 + 1e-6 (float64) or 1.001",
    "double-gradients": "every gradient is doubled, which AdamW nearly cancels",
    "drop-gradient-part": "one gradient misses its part from the batch's last sample",
    "decay-norms": "weight decay reaches the norms and biases as well",
    "no-decay": "no weight decay",
    "no-clip": "gradients are not clipped",
    "clip-per-tensor": "each tensor is clipped by its own norm",
    "schedule-late": "the learning rate is that of the step before",
    "epsilon": "AdamW's epsilon is 1e-6 instead of 1e-8",
    "no-bias-correction": "AdamW's moments are not corrected for their zero start",
}


@dataclass(frozen=True)
class Recipe:
    """The settings of a run. The defaults are those of the parity criterion."""

    steps: int = 20
    lr: float = 8e-4
    warmup: int = 2
    decay: str = "linear"
    to: float = 0.0
    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    weight_decay: float = 0.1
    lr_scales: tuple[tuple[str, float], ...] = ()  # of parameters by pattern, the last counts
    clip: float = 1.0


def schedule(step: int, recipe: Recipe) -> float:
    """The learning rate's factor in step 0, 1, ...: TorchTitan's linear warm-up, then a decay that
    begins right after it. The first step already has 1/warmup, the last one more than `to`."""
    if step < recipe.warmup:
        return (step + 1) / recipe.warmup
    decay = recipe.steps - recipe.warmup
    stable_until = recipe.steps + 1 - decay
    if step < stable_until:
        return 1.0
    progress = (step + 1 - stable_until) / decay
    if recipe.decay == "linear":
        factor = 1 - progress
    elif recipe.decay == "cosine":
        factor = 0.5 * (1 + math.cos(math.pi * progress))
    elif recipe.decay == "constant":
        factor = 1.0
    else:
        raise ValueError(f"unknown decay {recipe.decay}")
    return recipe.to + (1 - recipe.to) * factor


def mutated_recipe(recipe: Recipe, mutation: str) -> Recipe:
    changes = {"no-decay": {"weight_decay": 0.0}, "no-clip": {"clip": float("inf")},
               "epsilon": {"eps": 1e-6}}
    return replace(recipe, **changes.get(mutation, {}))


def mutate_gradients(gradients: dict[str, Tensor], mutation: str, module,
                     parameters: dict[str, Tensor], batch: Tensor) -> None:
    """Applies a fault to this step's gradients, in place."""
    middle = sorted(gradients)[len(gradients) // 2]
    if mutation == "scale-gradient":
        exact = gradients[middle].dtype == torch.float64
        gradients[middle].mul_(1 + 1e-6 if exact else 1.001)
    elif mutation == "double-gradients":
        for gradient in gradients.values():
            gradient.mul_(2)
    elif mutation == "drop-gradient-part":
        gradients[middle].sub_(last_sample_gradient(module, parameters, batch)[middle])


def last_sample_gradient(module, parameters: dict[str, Tensor],
                         batch: Tensor) -> dict[str, Tensor]:
    """The contribution of the batch's last sample to each gradient."""
    parameters = {n: p.detach().clone().requires_grad_() for n, p in parameters.items()}
    (loss_of(module, parameters, batch[-1:]) / len(batch)).backward()
    return {name: p.grad for name, p in parameters.items()}


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(wide(logits).flatten(0, 1), labels.flatten())


def losses_of(module, parameters: dict[str, Tensor], batch: Tensor,
              compute=None) -> dict[str, Tensor]:
    """A model's own losses by name, or its one loss under an empty name, else the cross-entropy of
    its logits. Only the models of the parity table compute in another type than the parameters'. A
    batch of arrays is a dictionary of inputs."""
    if isinstance(batch, dict):
        return module.losses(parameters, **batch) if hasattr(module, "losses") else {"": module.loss(parameters, **batch)}
    tokens, labels = batch[:, :-1], batch[:, 1:]
    if hasattr(module, "losses"):
        return module.losses(parameters, tokens, labels)
    if hasattr(module, "loss"):
        return {"": module.loss(parameters, tokens, labels)}
    narrow = {} if compute is None else {"compute": compute}
    return {"": cross_entropy(module.logits(parameters, tokens, **narrow), labels)}


def apply_to_inputs(function, parameters: dict[str, Tensor], batch: Tensor):
    """A function of the parameters and of the inputs without labels."""
    return function(parameters, **batch) if isinstance(batch, dict) else function(parameters, batch[:, :-1])


def loss_of(module, parameters: dict[str, Tensor], batch: Tensor) -> Tensor:
    """The loss to minimise."""
    return sum(losses_of(module, parameters, batch).values())


def clip(parameters: list[Tensor], limit: float, per_tensor: bool) -> float:
    groups = [[p] for p in parameters] if per_tensor else [parameters]
    norms = [torch.nn.utils.clip_grad_norm_(group, limit, foreach=False) for group in groups]
    return torch.stack(norms).norm().item()


def train(module, parameters: dict[str, Tensor], batches: Tensor, recipe: Recipe, mutation="",
          compute=None):
    """Trains on batches [steps, batch, seq + 1], computing in `compute` (None: the parameters'
    type). Returns a row per step, the gradients of the first step before clipping, and the
    parameters after the last. For a model with buffers, `module.updates` computes their next
    values."""
    recipe = mutated_recipe(recipe, mutation)
    isolated = getattr(module, "BUFFERS", ())
    buffers = {n: t.clone() for n, t in parameters.items()
               if any(fnmatch(n, pattern) for pattern in isolated)}
    parameters = {n: t.clone().requires_grad_() for n, t in parameters.items() if n not in buffers}
    undecayed = () if mutation == "decay-norms" else module.UNDECAYED
    is_undecayed = {n: any(fnmatch(n, pattern) for pattern in undecayed) for n in parameters}
    scales = {n: ([1.0] + [s for pattern, s in recipe.lr_scales if fnmatch(n, pattern)])[-1]
              for n in parameters}
    optimizer = torch.optim.AdamW(
        [{"params": [p], "weight_decay": 0.0 if is_undecayed[n] else recipe.weight_decay,
          "scale": scales[n]} for n, p in parameters.items()],
        lr=recipe.lr, betas=recipe.betas, eps=recipe.eps, foreach=False)
    rows, first = [], {}
    for step in range(recipe.steps):
        optimizer.zero_grad()
        everything = parameters | buffers
        losses = losses_of(module, everything, batches[step], compute)
        loss = sum(losses.values())
        metrics = apply_to_inputs(module.metrics, everything, batches[step]) if hasattr(module, "metrics") else {}
        loss.backward()
        if buffers:
            with torch.no_grad():
                buffers = apply_to_inputs(module.updates, everything, batches[step])
        gradients = {n: p.grad for n, p in parameters.items() if p.grad is not None}  # without the others: as if frozen
        mutate_gradients(gradients, mutation, module, parameters, batches[step])
        if step == 0:
            first = {n: g.clone() for n, g in gradients.items()}
        norm = clip(list(parameters.values()), recipe.clip, mutation == "clip-per-tensor")
        factor = schedule(max(step - (mutation == "schedule-late"), 0), recipe)
        for group in optimizer.param_groups:
            group["lr"] = recipe.lr * factor * group["scale"]
        if mutation == "no-bias-correction":
            uncorrect(optimizer, step, recipe)
        optimizer.step()
        rows.append({"step": step + 1, "loss": loss.item(),
                     "losses": {name: one.item() for name, one in losses.items() if name},
                     "metrics": metrics, "grad_norm": norm, "lr": recipe.lr * factor})
    return rows, first, {n: p.detach().clone() for n, p in (parameters | buffers).items()}


def uncorrect(optimizer, step: int, recipe: Recipe) -> None:
    """Cancels the bias corrections of the next step through the learning rate and epsilon, and
    scales the decay so that it stays equal."""
    first, second = (1 - beta ** (step + 1) for beta in recipe.betas)
    for group in optimizer.param_groups:
        scale = first / second**0.5
        group["lr"] *= scale
        group["eps"] = recipe.eps / second**0.5
        group.setdefault("decay", group["weight_decay"])
        group["weight_decay"] = group["decay"] / scale
