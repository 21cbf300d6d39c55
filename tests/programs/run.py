"""Checks that random programs compute equal results after every phase.

    run.py [--all] [--seed N] [--count N] [--pipelines SHARE] [FILE...]

generate.py draws programs with every construct of the language and random axis rules. maps.py draws
axis rules for the programs of tests/lit/dialects/dist/Transforms/Shard/Inputs, including rules that
the language rejects. titan-check-programs runs all phases of a program and interprets it after
each, on all ranks; gradients are compared with finite differences. A failing program is shrunk and
printed with its seed. Programs that failed once (found/), the programs of chunks.py and the law of slots.py are also
checked. With FILEs, only these are checked.
"""

import argparse
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import chunks
import slots
from generate import Program
from maps import PROGRAMS, draw_program
from shrink import shrink

sys.path.append(str(Path(__file__).resolve().parents[1] / "parity"))
from titan import BUILD, CORES  # noqa: E402

TOOL = BUILD / "bin" / "titan-check-programs"
OUT = BUILD / "tests/programs"
FOUND = Path(__file__).parent / "found"
BATCH = 20
SHOWN = 3  # failures to shrink


def check(files: list[Path]) -> list[tuple[str, str]]:
    """Verdict and text of each file; a program that crashes the tool fails, too."""
    verdicts: dict[Path, tuple[str, str]] = {}
    rest = list(files)
    while rest:
        run = subprocess.run([TOOL, *rest], capture_output=True, text=True)
        current = None
        for line in run.stdout.splitlines():
            word, _, text = line.partition(" ")
            if word in ("equal", "refused", "FAILED"):
                current = Path(text)
                verdicts[current] = (word, "")
            elif line.startswith("  "):
                verdicts[current] = (verdicts[current][0], verdicts[current][1] + line + "\n")
        done = [f for f in rest if f in verdicts]
        if len(done) < len(rest):
            verdicts[rest[len(done)]] = ("FAILED", f"  crash: status {run.returncode}\n  "
                                         + run.stderr.strip()[-500:] + "\n")
        rest = [f for f in rest if f not in verdicts]
    return [verdicts[f] for f in files]


def failure_kind(verdict: tuple[str, str]) -> str | None:
    """The phase of a failure and the kind of its message, without numbers; None for other verdicts."""
    if verdict[0] != "FAILED":
        return None
    text = verdict[1].strip()
    for kind in ("deviates", "DIFFERS", "replicas", "crash", "the loss was", "error:"):
        if kind in text:
            return text.split(":")[0] + " " + kind
    return text.split(":")[0]


def shrink_file(path: Path, verdict: tuple[str, str]) -> str:
    """The smallest program found that fails in the same way; it is also written beside `path`."""
    def fails(texts: list[str]) -> list[bool]:
        files = [OUT / f"smaller-{i}{path.suffix}" for i in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_text(text)
        return [failure_kind(v) == failure_kind(verdict) for v in check(files)]
    text = shrink(path.read_text(), fails)
    (OUT / f"{path.stem}-small{path.suffix}").write_text(text)
    for file in OUT.glob("smaller-*"):
        file.unlink()
    return text


def draw(seed: int, kind: str, pipelined: float) -> Path:
    suffix = ".titan" if kind == "program" else ".mlir"
    path = OUT / f"{kind}-{seed}{suffix}"
    path.write_text(Program(seed, pipelined).draw() if kind == "program" else draw_program(kind, seed))
    return path


def batches(seeds: range) -> list[list[tuple[int, str]]]:
    """Seeds and kinds of the programs for one process."""
    kinds = {"program": seeds, **{name: seeds[:max(1, len(seeds) // 10)] for name in PROGRAMS}}
    return [[(seed, kind) for seed in part[first:first + BATCH]]
            for kind, part in kinds.items() for first in range(0, len(part), BATCH)]


def draw_and_check(pipelined: float, batch: list[tuple[int, str]]) -> tuple[list[Path], list[tuple[str, str]]]:
    files = [draw(seed, kind, pipelined) for seed, kind in batch]
    return files, check(files)


def check_chunks(pairs: list[tuple[str, str]]) -> list[str]:
    """Failures of positional operations in slicings, for these pairs."""
    files = [OUT / f"chunk-{op}-{region}.titan".replace(" ", "-") for op, region in pairs]
    for file, pair in zip(files, pairs):
        file.write_text(chunks.program(*pair))
    wrong = []
    for file, pair, (word, text) in zip(files, pairs, check(files)):
        expected = "refused" if pair in chunks.REFUSED else "equal"
        if word == expected:
            file.unlink()
        else:
            wrong.append(f"{pair[0]}, {pair[1]}: {word} instead of {expected}, {file}\n{text}")
    return wrong


class Tally:
    """Counts verdicts, and prints failures with shrunk programs."""

    def __init__(self):
        self.counts = {"equal": 0, "refused": 0, "FAILED": 0}

    def add(self, files: list[Path], verdicts: list[tuple[str, str]], keep: bool) -> None:
        for path, verdict in zip(files, verdicts):
            self.counts[verdict[0]] += 1
            if verdict[0] == "FAILED":
                print(f"FAILED {path}\n{verdict[1]}", flush=True)
                if self.counts["FAILED"] <= SHOWN:
                    print(f"shrunk:\n{shrink_file(path, verdict)}", flush=True)
            elif keep:
                print(f"{verdict[0]} {path}\n{verdict[1]}", end="")
            else:
                path.unlink()

    def show(self, total: int) -> None:
        """Progress of a long run, on a terminal."""
        if sys.stderr.isatty():
            done = sum(self.counts.values())
            print(f"\r{done} of {total} checked, {self.counts['FAILED']} failed",
                  end="\n" if done == total else "", file=sys.stderr, flush=True)

    def passed(self) -> bool:
        """Only invalid axis rules may be rejected, and only few."""
        done = sum(self.counts.values())
        return not self.counts["FAILED"] and self.counts["refused"] <= done // 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--all", action="store_true", help="ten thousand programs instead of 200")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, help="how many programs")
    parser.add_argument("--pipelines", type=float, default=0.2, help="the share of programs on pipelines")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    tally, begun = Tally(), time.perf_counter()
    count = 0 if arguments.files else arguments.count or (10_000 if arguments.all else 200)
    seeds = range(arguments.seed, arguments.seed + count)
    with ThreadPoolExecutor(CORES) as pool:
        given = arguments.files or sorted(FOUND.glob("*.titan"))
        given_verdicts = pool.submit(check, given)
        pairs = chunks.pairs() if count else []
        chunk_failures = pool.map(check_chunks, [pairs[i:i + BATCH] for i in range(0, len(pairs), BATCH)])
        law = slots.Law(pool, range(arguments.seed, arguments.seed + count // 16)) if count else None
        parts = batches(seeds) if count else []
        drawn = pool.map(partial(draw_and_check, arguments.pipelines), parts)
        tally.add(given, given_verdicts.result(), keep=True)
        for files, verdicts in drawn:
            tally.add(files, verdicts, keep=False)
            tally.show(len(given) + sum(map(len, parts)))
        wrong = [line for lines in chunk_failures for line in lines]
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    print(f"{len(pairs) - len(wrong)} of {len(pairs)} pairs of an operation and a construct that slices")
    counts = tally.counts
    print(f"seeds {seeds}: {counts['equal']} equal, {counts['refused']} refused, "
          f"{time.perf_counter() - begun:.0f} s")
    done = sum(counts.values())
    print(f"{done - counts['FAILED']} out of {done} passed")
    kept = law.report() if law else True
    sys.exit(0 if tally.passed() and not wrong and kept else 1)


if __name__ == "__main__":
    main()
