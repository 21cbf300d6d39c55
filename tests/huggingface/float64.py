"""Models of `transformers` that compute in float64.

Their code converts to float32 in norms, softmax and rotary positions, whatever the type of the model. `Wide`
replaces the module `torch` in that code; its `float32` is float64.
"""

import contextlib
import sys

import torch


class Wide:
    """The module torch, in which float32 is float64."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def in_float64():
    """Within, the models of transformers are made and run in float64."""
    names = [name for name, module in sys.modules.items()
             if name.startswith("transformers.") and getattr(module, "torch", None) is torch]
    narrow = torch.Tensor.float
    default = torch.get_default_dtype()
    try:
        for name in names:
            sys.modules[name].torch = Wide()
        torch.Tensor.float = torch.Tensor.double
        torch.set_default_dtype(torch.float64)
        yield
    finally:
        for name in names:
            sys.modules[name].torch = torch
        torch.Tensor.float = narrow
        torch.set_default_dtype(default)
