"""Steps with a non-finite loss: the values that `on_nonfinite = skip` preserves, compared with PyTorch."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file

from titan import Launch

BATCH, SEQ, STEPS = 4, 16, 12
RATE, DECAY, EPS, BETAS = 1e-2, 0.1, 1e-8, (0.9, 0.999)


def write_marked(path: Path) -> Path:
    """The samples of twelve steps; one contains the mark."""
    text = bytearray((b"the quick brown fox jumps over the lazy dog; " * 40)[:BATCH * SEQ * STEPS + 1])
    text[500] = ord("~")
    path.write_bytes(text)
    return path


def tensors(run: Path, step: int) -> dict[str, torch.Tensor]:
    found = {}
    for path in sorted((run / f"checkpoints/step-{step}").glob("*.safetensors")):
        found.update(load_file(path))
    return found


def update(before: dict[str, torch.Tensor], clipped: dict[str, torch.Tensor], step: int) -> dict:
    """torch.optim.AdamW's update by clipped gradients; t counts skipped steps too."""
    after = {}
    for name, gradient in clipped.items():
        weight = before[name].clone().requires_grad_()
        weight.grad = gradient.clone()
        optimizer = torch.optim.AdamW([weight], lr=RATE, betas=BETAS, eps=EPS, weight_decay=DECAY)
        optimizer.state[weight] = {"step": torch.tensor(float(step - 1)),
                                   "exp_avg": before["m." + name].clone(),
                                   "exp_avg_sq": before["v." + name].clone()}
        optimizer.step()
        after[name] = weight.detach()
    return after


def try_skipped(one: Path, two: Path, text: Path, out: Path):
    runs = [Launch(STEPS, processes=processes).run(exe, text, out / f"skipping-{processes}")
            for exe, processes in ((one, 1), (two, 2))]
    notes, good = [], True
    for run in runs:
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        bad = [row["step"] for row in rows if row["loss"] is None]
        good = good and len(bad) == 1 and 1 < bad[0] < STEPS and len(rows) == STEPS
        if not good:
            return False, f"    not finite: {bad}, rows: {len(rows)}"
        before, kept, after = (tensors(run, bad[0] + away) for away in (-1, 0, 1))
        same = all(torch.equal(before[name], kept[name]) for name in before)
        moved = not any(torch.equal(kept[name], after[name]) for name in ("table", "unembed", "m.table"))
        applied = int(after["applied"]) == bad[0]
        manifest = json.loads((run / f"checkpoints/step-{bad[0]}/checkpoint.json").read_text())
        good = good and same and moved and applied and not manifest["finite"]
        notes.append(f"    step {bad[0]}: kept {same}, moves again {moved}, buffer {after['applied']}")
        # The next step: moments reveal the clipped gradient.
        clipped = {name: (after["m." + name] - BETAS[0] * kept["m." + name]) / (1 - BETAS[0])
                   for name in ("table", "unembed")}
        expected = update(kept, clipped, bad[0] + 1)
        off = max((after[name] - expected[name]).abs().max().item() for name in expected)
        good = good and off < 1e-12
        notes.append(f"    the step behind differs from PyTorch by {off:.1e}")
    ends = [tensors(run, STEPS) for run in runs]
    off = max((ends[0][name].double() - ends[1][name].double()).abs().max().item() for name in ends[0])
    notes.append(f"    one process and two differ by {off:.1e}")
    return good and off < 1e-10, "\n".join(notes)
