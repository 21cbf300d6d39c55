"""Reference models in plain PyTorch, one file each, as functions of a dictionary of parameters.

Parameters have the names and shapes of the programs in examples/, so that weights and gradients
need no renaming: `layers.<l>.<name>` inside the repeated block, the name alone outside. The shapes
determine the sizes of a model.

In mixed precision (`compute`) the casts are those of the language. Parameters are cast at their
uses, except those of norms. Norms, activations, rotations and attention scores are computed in
float32 and rounded once.
"""

import torch
from torch import Tensor


def wide(x: Tensor) -> Tensor:
    """Converts bfloat16 to float32, for operations that must not be computed in bfloat16."""
    return x.float() if x.dtype == torch.bfloat16 else x


def cast(parameters: dict[str, Tensor], compute: torch.dtype | None) -> dict[str, Tensor]:
    """The parameters for a computation in `compute`; None leaves them unchanged."""
    if compute is None:
        return parameters
    return {n: t if "norm" in n.split(".")[-1] else t.to(compute) for n, t in parameters.items()}
