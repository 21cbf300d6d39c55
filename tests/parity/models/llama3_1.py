"""Llama 3.1: Llama 2's structure with rotary frequencies rescaled by wavelength (Grattafiori et al.
2024, arXiv 2407.21783; the rule of Meta's published code), here with tied output as in the small
models of 3.2."""

import math

import torch
from torch import Tensor

from . import llama2, parts

THETA, FACTOR, CONTEXT, LOW, HIGH = 500_000.0, 32.0, 64, 1.0, 4.0
UNDECAYED = ()


def rescaled(frequency: float) -> float:
    wavelength = 2 * math.pi / frequency
    if wavelength < CONTEXT / HIGH:
        return frequency
    if wavelength > CONTEXT / LOW:
        return frequency / FACTOR
    smooth = (CONTEXT / wavelength - LOW) / (HIGH - LOW)
    return (1 - smooth) * frequency / FACTOR + smooth * frequency


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    head = parameters["layers.0.wq"].shape[-1]
    plain = parts.frequencies(head, THETA).tolist()
    frequency = torch.tensor([rescaled(f) for f in plain], dtype=torch.float64)
    return llama2.decode(parameters, tokens, frequency)
