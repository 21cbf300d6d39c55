"""GPT-2 in idiomatic PyTorch, with its fused functions."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Sizes:
    layers: int
    embed: int
    heads: int
    vocab: int
    context: int


class Layer(nn.Module):
    def __init__(self, s: Sizes):
        super().__init__()
        self.heads = s.heads
        self.attn_norm = nn.LayerNorm(s.embed)
        self.qkv = nn.Linear(s.embed, 3 * s.embed)
        self.wo = nn.Linear(s.embed, s.embed)
        self.ffn_norm = nn.LayerNorm(s.embed)
        self.up = nn.Linear(s.embed, 4 * s.embed)
        self.down = nn.Linear(4 * s.embed, s.embed)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.attn_norm(x)).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.wo(a.transpose(1, 2).flatten(-2))
        return x + self.down(F.gelu(self.up(self.ffn_norm(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, s: Sizes, seq: int):
        super().__init__()
        self.table = nn.Embedding(s.vocab, s.embed)
        self.positions = nn.Embedding(s.context, s.embed)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        self.norm = nn.LayerNorm(s.embed)
        self.register_buffer("index", torch.arange(seq))
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                deep = name.endswith(("wo.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / (2 * s.layers) ** 0.5 if deep else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.table(tokens) + self.positions(self.index)
        for layer in self.layers:
            x = layer(x)
        logits = F.linear(self.norm(x), self.table.weight)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())
