"""Gemma 2 (Gemma Team 2024, arXiv 2408.00118): a norm before and after each sublayer, with weights
added to 1; GeGLU; capped attention scores and logits; every other layer, beginning with the first,
sees `WINDOW` positions; token vectors scaled by sqrt(embed), and tied to the output."""

import math

import torch
from torch import Tensor

from . import parts

EPS = 1e-6
THETA = 10_000.0
WINDOW = 5
SCORE_CAP, LOGIT_CAP = 50.0, 30.0
QUERY_SIZE = 12  # replaces the head's size in the scale of the scores
UNDECAYED = ()


def norm(x: Tensor, weight: Tensor) -> Tensor:
    return parts.rms_norm(x, 1 + weight, EPS)


def layer(x: Tensor, p: dict[str, Tensor], window: int | None) -> Tensor:
    q, k, v = parts.grouped_queries(norm(x, p["attn_norm"]), p)
    frequency = parts.frequencies(q.shape[-1], THETA)
    q, k = (parts.rotate(t, frequency, neighbours=False) for t in (q, k))
    a = parts.attention(q, k, v, window, QUERY_SIZE ** -0.5, SCORE_CAP)
    x = x + norm(parts.heads_to_embed(a, p["wo"]), p["attn_post_norm"])
    return x + norm(parts.geglu(norm(x, p["ffn_norm"]), p), p["ffn_post_norm"])


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    table = parameters["table"]
    x = table[tokens] * math.sqrt(table.shape[1])
    for index, p in enumerate(parts.layers(parameters)):
        x = layer(x, p, WINDOW if index % 2 == 0 else None)
    return LOGIT_CAP * torch.tanh(norm(x, parameters["norm"]) @ table.T / LOGIT_CAP)
