"""The PyTorch program that bench/run compares with Titan: an idiomatic training step, fused where possible.

    train.py eager|compile CASE --data TEXT [--steps N] [--threads N] [--dtype f32|bf16]

bf16 is autocast: parameters, optimizer and reductions stay in float32. Prints one JSON object per step:
step, loss, and seconds, the step's own time.
"""

import argparse
import contextlib
import importlib
import json
import sys
import time
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from cases import CASES, Case  # noqa: E402


def make_model(case: Case) -> nn.Module:
    module = importlib.import_module(f"peers.{case.peer}")
    model = getattr(module, case.peer.capitalize())
    return model(module.Sizes(**case.sizes), case.seq)


def make_optimizer(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """AdamW with weight decay for matrices only, as in the Titan programs."""
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), eps=1e-8, fused=True)


def get_rate_factor(step: int, steps: int, warmup: int = 20) -> float:
    """The factor of the peak learning rate in a step, counted from 0: warm-up and linear decay."""
    if step < warmup:
        return (step + 1) / warmup
    return min(1.0, (steps - step) / max(steps - warmup, 1))


def train(kind: str, case: Case, text: bytes, steps: int, dtype: str) -> None:
    torch.manual_seed(0)
    model = make_model(case)
    optimizer = make_optimizer(model, case.rate)
    step_model = torch.compile(model) if kind == "compile" else model
    data = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    for step in range(steps):
        begun = time.perf_counter()
        starts = torch.randint(0, len(data) - case.seq - 1, (case.batch,))
        rows = torch.stack([data[s:s + case.seq + 1] for s in starts.tolist()]).long()
        precision = torch.autocast("cpu", torch.bfloat16) if dtype == "bf16" else contextlib.nullcontext()
        with precision:
            loss = step_model(rows[:, :-1], rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = case.rate * get_rate_factor(step, steps)
        optimizer.step()
        print(json.dumps({"step": step + 1, "loss": loss.item(),
                          "seconds": time.perf_counter() - begun}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["eager", "compile"])
    parser.add_argument("case", choices=list(CASES))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    train(a.kind, CASES[a.case], a.data.read_bytes(), a.steps, a.dtype)


if __name__ == "__main__":
    main()
