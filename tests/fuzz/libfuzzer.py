"""Runs a libFuzzer program. An input may take 10 s and 1 GB."""

import re
import subprocess
from pathlib import Path


def fuzz(program: Path, seeds: list[bytes], corpus: Path, scratch: Path, seconds: int, longest: int,
         *options: str) -> tuple[int, str]:
    """The number of executed inputs, and a report of the finding with its input ("": no finding).

    `longest` is the maximum size of an input in bytes. Inputs with new coverage stay in `corpus`. Files in `scratch`
    belong to this run alone.
    """
    first = scratch / "seeds"
    for folder in (corpus, first):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (first / f"{number:03}").write_bytes(seed)
    done = subprocess.run([program.resolve(), corpus, first, f"-max_total_time={seconds}", f"-max_len={longest}",
                           "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1",
                           f"-artifact_prefix={scratch}/finding-", *options],
                          cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    executed = re.search(r"number_of_executed_units: *(\d+)", done.stdout)
    count = int(executed.group(1)) if executed else 0
    if done.returncode == 0:
        return count, ""
    inputs = [f"the input: {finding.read_bytes()!r}" for finding in sorted(scratch.glob("finding-*"))]
    return count, "\n".join([done.stdout[-6000:], *inputs])


def dictionary(words: set[str]) -> str:
    """The text of a dictionary file of libFuzzer."""
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words))
    return "".join(f'"{word}"\n' for word in escaped)
