"""Qwen3 with positions extended by YaRN, as Qwen's model cards propose for long texts."""

from torch import Tensor

from . import parts, qwen3

FACTOR, CONTEXT = 4.0, 64
UNDECAYED = ()


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    head = parameters["layers.0.wq"].shape[-1]
    frequency = parts.yarn(head, qwen3.THETA, FACTOR, CONTEXT)
    return qwen3.decode(parameters, tokens, frequency, parts.yarn_scale(FACTOR) * head ** -0.5)
