"""A Llama 3 decoder in idiomatic PyTorch, with its fused functions."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Sizes:
    layers: int
    embed: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    theta: float = 500_000.0


def rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates x[batch, heads, seq, head], where adjacent features are a pair; keeps x's dtype."""
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1)
    return turned.flatten(-2).type_as(x)


class Layer(nn.Module):
    def __init__(self, s: Sizes):
        super().__init__()
        self.heads, self.kv_heads, head = s.heads, s.kv_heads, s.embed // s.heads
        self.attn_norm = nn.RMSNorm(s.embed, eps=1e-5)
        self.wq = nn.Linear(s.embed, s.heads * head, bias=False)
        self.wk = nn.Linear(s.embed, s.kv_heads * head, bias=False)
        self.wv = nn.Linear(s.embed, s.kv_heads * head, bias=False)
        self.wo = nn.Linear(s.heads * head, s.embed, bias=False)
        self.ffn_norm = nn.RMSNorm(s.embed, eps=1e-5)
        self.w1 = nn.Linear(s.embed, s.ffn, bias=False)
        self.w2 = nn.Linear(s.ffn, s.embed, bias=False)
        self.w3 = nn.Linear(s.embed, s.ffn, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        h = self.attn_norm(x)
        q = rotary(self.wq(h).unflatten(-1, (self.heads, -1)).transpose(1, 2), cos, sin)
        k = rotary(self.wk(h).unflatten(-1, (self.kv_heads, -1)).transpose(1, 2), cos, sin)
        v = self.wv(h).unflatten(-1, (self.kv_heads, -1)).transpose(1, 2)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True,
                                           enable_gqa=self.heads != self.kv_heads)
        x = x + self.wo(a.transpose(1, 2).flatten(-2))
        h = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Llama(nn.Module):
    def __init__(self, s: Sizes, seq: int):
        super().__init__()
        self.table = nn.Embedding(s.vocab, s.embed)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        self.norm = nn.RMSNorm(s.embed, eps=1e-5)
        self.head = nn.Linear(s.embed, s.vocab, bias=False)
        head = s.embed // s.heads
        angle = torch.outer(torch.arange(seq), s.theta ** (-torch.arange(0, head, 2) / head))
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())
        for depth, layer in enumerate(self.layers):
            for name, weight in layer.named_parameters():
                deep = name.startswith(("wo", "w2"))
                std = 0.02 / (2 * (depth + 1)) ** 0.5 if deep else 0.02
                if weight.dim() == 2:
                    nn.init.trunc_normal_(weight, std=std)
        nn.init.trunc_normal_(self.head.weight, std=s.embed**-0.5)

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.table(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), labels.flatten())
