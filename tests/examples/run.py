"""Builds and runs every program of examples/: it must compile, train, and generate.

    run.py [--all] [-v] [NAME...]

Each example trains for a few steps on a short text (with --all, for more steps), at its full size and on as
many processes as its mesh needs. Its loss must fall. Then an example on one process generates text from the
saved weights. Examples in BASES start from the weights of another one, whose loss they must lower.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from titan import ROOT, TITANC, Failed, Launch, call, try_examples

OUT = ROOT / "out" / "examples"
BASES = {"llama_lora": "llama3_debug"}


def processes_needed(exe: Path, text: Path) -> int:
    """The number of processes: one, or the number that the program demands when it is started alone."""
    result = subprocess.run([exe, "--data", text, "--steps", "1", "--dry-run"],
                            capture_output=True, text=True)
    if result.returncode == 0:
        return 1
    wanted = re.search(r"needs (\d+) ranks", result.stderr + result.stdout)
    if not wanted:
        raise Failed(f"{exe} --dry-run: {result.stderr}")
    return int(wanted.group(1))


def try_example(source: Path, text: Path, arguments):
    steps = 30 if arguments.all else 6
    folder = OUT / source.stem
    folder.mkdir(parents=True)
    exe = folder / source.stem
    call([TITANC, "build", source, "-o", exe, "--set", "schedule.warmup=2"])
    processes = processes_needed(exe, text)
    base, sources, least_fall = BASES.get(source.stem), [], 0.05
    if base:
        call([TITANC, "build", source.with_stem(base), "-o", folder / base, "--set", "schedule.warmup=2"])
        sources = ["--init-from", Launch(steps, 1).run(folder / base, text, folder / "base")]
        least_fall = 0.001  # adapters have few parameters
    Launch(steps, 1, processes).run(exe, text, folder / "run", sources)
    rows = [json.loads(l) for l in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = [row["loss"] for row in rows]
    if len(losses) != steps or not losses[-1] < losses[0] - least_fall:
        return False, f"    the loss did not fall: {losses}"
    if processes == 1:
        written = call([exe, "generate", "--init-from", folder / "run" / "model.safetensors",
                        "--prompt", "In the", "--max-tokens", "8"])
        if "In the" not in written:
            return False, f"    generate printed {written!r}"
    return True, f"    loss {losses[0]:.4f} -> {losses[-1]:.4f} on {processes} process(es)"


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true", help="more steps")


if __name__ == "__main__":
    try_examples(__doc__, OUT, try_example, add_arguments)
