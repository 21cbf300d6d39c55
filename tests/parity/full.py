"""Compares 200 steps of the debug model at full size with PyTorch, in float32.

    full.py [--text FILE] [--steps 200]

From the same initial weights and batches, the loss after the last step must be within 1 % of PyTorch's.
Rounding errors of float32 grow over the steps, so this test is weaker than run.py. It shows that no result
of run.py depends on its small sizes. Takes about ten minutes on two cores.
"""

import argparse
import shutil
import subprocess
from pathlib import Path

from safetensors.torch import save_file

import reference
from compare import read_losses
from sample_order import batches
from titan import ROOT, Launch, Report, build, require_titanc
from training import Recipe

OUT = ROOT / "out" / "parity-full"
SEED = 0


def check(text: Path, steps: int):
    exe = build(ROOT / "examples" / "llama3_debug.titan", "debug", "float32", OUT / "program")
    threads = {"TITAN_NUM_THREADS": "2"}
    ours = Launch(steps, SEED, timeout=1800, environment=threads).run(exe, text, OUT / "titan")
    tokens = batches(text.read_bytes(), steps, 8, 256, SEED)
    save_file({"tokens": tokens}, OUT / "batches.safetensors")
    reference.run("llama3", ours / "initial.safetensors", OUT / "batches.safetensors",
                  OUT / "reference", "float32", Recipe(steps=steps, warmup=20))
    a, b = read_losses(ours), read_losses(OUT / "reference")
    last = max(b)
    off = max(abs(a[s] - b[s]) / b[s] for s in b)
    details = (f"    loss {a[last]:.6f}, PyTorch's {b[last]:.6f} at step {last}; "
               f"largest relative difference on the way {off:.2g}")
    print(details)
    return abs(a[last] - b[last]) <= 0.01 * b[last], details


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", type=Path, help="without it Debian's bible-kjv")
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    require_titanc()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    text = arguments.text
    if not text:
        text = OUT / "text.txt"
        text.write_bytes(subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True,
                                        capture_output=True).stdout)
    report = Report()
    report.case("the debug model at full size against PyTorch",
                lambda: check(text, arguments.steps))
    report.end()


if __name__ == "__main__":
    main()
