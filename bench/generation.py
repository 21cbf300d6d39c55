"""Time of a token against the number of tokens before it, with caches and without.

    generation.py [--seq N] [--tokens N] [--rounds N] [--dtype f32|bf16] [--build DIR]

Continues prompts of growing length with the Llama of bench/programs and random weights, and prints a
Markdown table: the tokens per second of the prompt, and the milliseconds of a further token, each the best
of some rounds. Without caches, every token computes all positions, so one length is enough. A second table
has the tokens per second of all continuations when 1 or more prompts are continued at once.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from cases import ROOT

PROGRAM = ROOT / "bench" / "programs" / "llama_134m.titan"
BATCHES = (1, 2, 4, 8, 16)  # prompts continued at once
LENGTHS = (16, 128, 256, 512, 960, 1984)  # of prompts, in tokens


def build(titanc: Path, folder: Path, arguments, batch: int = 1) -> Path:
    exe = folder / f"llama{batch}"
    subprocess.run([titanc, "build", PROGRAM, "-o", exe, "--set", f"data.seq={arguments.seq}", "--set", "data.batch=1",
                    "--set", f"precision.compute={arguments.dtype}", "--set", f"generate.batch={batch}"], check=True)
    return exe


def initial_weights(exe: Path, folder: Path) -> Path:
    """A file with the initial weights of the program, written by a training run of one step."""
    text, path = folder / "text.txt", folder / "initial.safetensors"
    text.write_bytes(bytes(range(32, 127)) * 1000)
    subprocess.run([exe, "--data", text, "--steps", "1", "--out", folder / "run", "--save-initial", path],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def measure_batch(exe: Path, weights: Path, folder: Path, prompts: int, tokens: int) -> float:
    """Tokens per second of the continuations of as many prompts as the program continues at once."""
    path = folder / f"{prompts}.txt"
    path.write_text("".join(f"{chr(97 + i)} prompt of a few words\n" for i in range(max(2, prompts))))
    result = subprocess.run([exe, "generate", "--init-from", weights, "--prompts", path, "--max-tokens", str(tokens)],
                            check=True, capture_output=True, text=True, errors="replace")
    return float(re.findall(r"([\d.]+) tokens/s", result.stderr)[1])


def measure(exe: Path, weights: Path, length: int, tokens: int, *options: str) -> tuple[float, float]:
    """Tokens per second of the prompt, milliseconds of a further token."""
    prompt = "".join(chr(97 + i * i % 26) for i in range(length))
    result = subprocess.run([exe, "generate", "--init-from", weights, "--prompt", prompt, "--max-tokens", str(tokens),
                             *options], check=True, capture_output=True, text=True, errors="replace")
    speeds = [float(speed) for speed in re.findall(r"([\d.]+) tokens/s", result.stderr)]
    return speeds[0], 1000 / speeds[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seq", type=int, default=2048, help="the compiled length")
    parser.add_argument("--tokens", type=int, default=33, help="how many to generate with caches")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtype", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exe = build(arguments.build / "bin" / "titanc", folder, arguments)
        weights = initial_weights(exe, folder)
        print("| tokens before | prompt, tokens/s | a token, ms |\n|---|---|---|")
        for length in (l for l in LENGTHS if l + arguments.tokens <= arguments.seq):
            speeds, times = zip(*(measure(exe, weights, length, arguments.tokens) for _ in range(arguments.rounds)))
            print(f"| {length} | {max(speeds):.0f} | {min(times):.1f} |", flush=True)
        _, uncached = measure(exe, weights, LENGTHS[0], 3, "--no-kv-cache")
        print(f"\nwithout caches: {uncached:.0f} ms a token\n\n| prompts at once | tokens/s |\n|---|---|")
        exes = [build(arguments.build / "bin" / "titanc", folder, arguments, batch) for batch in BATCHES]
        speeds = [[measure_batch(exe, weights, folder, batch, arguments.tokens)
                   for batch, exe in zip(BATCHES, exes)] for _ in range(arguments.rounds)]
        for batch, of_batch in zip(BATCHES, zip(*speeds)):
            print(f"| {batch} | {max(of_batch):.1f} |")


if __name__ == "__main__":
    main()
