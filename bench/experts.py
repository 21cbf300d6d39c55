"""The time of a step with routed experts, relative to the time with all experts computed.

    experts.py [--rounds N]

Trains both runs of programs/experts.titan in turn and compares the least times of their steps. With
2 of 8 experts per token the quotient must be below 0.45.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import ROOT

TITANC = ROOT / "build" / "bin" / "titanc"
PROGRAM = ROOT / "bench" / "programs" / "experts.titan"
BOUND = 0.45  # 2 of 8 experts compute 0.25 of the products; the rest of the step is the same in both runs


def measure(exe: Path, text: Path, folder: Path) -> tuple[float, float]:
    """The mean time of the steps after the first in ms, and the last loss."""
    subprocess.run([exe, "--data", text, "--out", folder], check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    first, last = rows[0], rows[-1]
    return 1000 * (last["time"] - first["time"]) / (last["step"] - first["step"]), last["loss"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = folder / "text.txt"
        text.write_bytes(bytes(range(32, 127)) * 1000)
        times: dict[str, list[float]] = {"routed": [], "dense": []}
        for run in times:
            subprocess.run([TITANC, "build", PROGRAM, "--train", run, "-o", folder / run], check=True)
        for turn in range(arguments.rounds):
            for run in times:
                time, loss = measure(folder / run, text, folder / f"{run}-{turn}")
                times[run].append(time)
                print(f"{run:7} {time:8.1f} ms a step, loss {loss:.6f}")
    quotient = min(times["routed"]) / min(times["dense"])
    print(f"routed / dense: {quotient:.3f}, bound {BOUND}")
    sys.exit(quotient >= BOUND)


if __name__ == "__main__":
    main()
