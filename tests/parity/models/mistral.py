"""Mistral 7B (Jiang et al. 2023, arXiv 2310.06825): Llama 2's structure with grouped queries and a
window of `WINDOW` positions, the query's own included."""

from torch import Tensor

from . import llama2, parts

WINDOW = 5
UNDECAYED = ()


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    head = parameters["layers.0.wq"].shape[-1]
    return llama2.decode(parameters, tokens, parts.frequencies(head, llama2.THETA), WINDOW)
