"""The peer of the benchmark: the debug model and its training step as one writes them in PyTorch.

    peer.py eager|compile --data TEXT [--steps N] [--batch 8] [--seq 256] [--layers 6] ...

Fused kernels where PyTorch has them: scaled_dot_product_attention, rms_norm, cross_entropy, fused
AdamW. Prints one JSON object a step: step, loss, and seconds, the step's own time.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Sizes:
    layers: int = 6
    embed: int = 256
    heads: int = 16
    kv_heads: int = 16
    ffn: int = 768
    vocab: int = 256
    theta: float = 500_000.0


def rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns x[batch, heads, seq, head], neighbouring features being a pair."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


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


def learning_rate(step: int, steps: int, warmup: int = 20) -> float:
    """TorchTitan's warm-up and linear decay, in step 0, 1, ..."""
    if step < warmup:
        return 8e-4 * (step + 1) / warmup
    return 8e-4 * min(1.0, (steps - step) / max(steps - warmup, 1))


def train(kind: str, text: bytes, sizes: Sizes, batch: int, seq: int, steps: int) -> None:
    torch.manual_seed(0)
    model = Llama(sizes, seq)
    norms = [p for p in model.parameters() if p.dim() == 1]
    others = [p for p in model.parameters() if p.dim() > 1]
    optimizer = torch.optim.AdamW([{"params": others, "weight_decay": 0.1},
                                   {"params": norms, "weight_decay": 0.0}],
                                  lr=8e-4, betas=(0.9, 0.95), eps=1e-8, fused=True)
    step_model = torch.compile(model) if kind == "compile" else model
    data = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    for step in range(steps):
        begun = time.perf_counter()
        starts = torch.randint(0, len(data) - seq - 1, (batch,))
        rows = torch.stack([data[s:s + seq + 1] for s in starts.tolist()]).long()
        loss = step_model(rows[:, :-1], rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps)
        optimizer.step()
        value = loss.item()
        print(json.dumps({"step": step + 1, "loss": value,
                          "seconds": time.perf_counter() - begun}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["eager", "compile"])
    parser.add_argument("--data", type=Path, required=True)
    for name, value in (("steps", 20), ("batch", 8), ("seq", 256), ("threads", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name in ("layers", "embed", "heads", "kv_heads", "ffn", "vocab"):
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=getattr(Sizes, name))
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    sizes = Sizes(a.layers, a.embed, a.heads, a.kv_heads, a.ffn, a.vocab)
    train(a.kind, a.data.read_bytes(), sizes, a.batch, a.seq, a.steps)


if __name__ == "__main__":
    main()
