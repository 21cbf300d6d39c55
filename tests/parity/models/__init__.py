"""PyTorch models written plainly, one file each, as functions of a dictionary of parameters.

Parameters have the names and shapes that the programs in examples/ give them, so that weights and
gradients are exchanged without any renaming: `layers.<l>.<name>` inside the repeated block, the
name alone outside. A model's sizes are read off the shapes.

In mixed precision (`compute`) the casts stand where the language puts them: parameters are cast
where they are used, but those of norms; norms, activations, rotations and attention's scores are
computed in float32 and rounded once.
"""

import torch
from torch import Tensor


def wide(x: Tensor) -> Tensor:
    """What must not be computed in bfloat16, in float32."""
    return x.float() if x.dtype == torch.bfloat16 else x


def cast(parameters: dict[str, Tensor], compute: torch.dtype | None) -> dict[str, Tensor]:
    """The parameters as a computation in `compute` uses them; None leaves them as they are."""
    if compute is None:
        return parameters
    return {n: t if "norm" in n.split(".")[-1] else t.to(compute) for n, t in parameters.items()}
