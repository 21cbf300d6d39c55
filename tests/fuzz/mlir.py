#!/usr/bin/env python3
"""Runs titan-opt, titan-translate and titan-interpret on mutated MLIR modules.

    mlir.py [--seed N] [--count N] [-v] [FILE...]

Damages the modules of tests/lit and the results of titan-opt on them: replaces a number or a name, removes a
line, a word or an attribute, repeats a line. Each tool must accept such a module, or refuse it with a message.
It must not end by a signal or without a message, nor need more than 20 s of processor time or 4 GB. FILEs are
given to all tools without damage. Failing inputs stay in build/tests/fuzz-mlir.
"""

import argparse
import collections
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TITAN_BUILD", ROOT / "build"))
OUT = BUILD / "tests/fuzz-mlir"
CORES = len(os.sched_getaffinity(0))
SECONDS, BYTES = 20, 4 << 30
NUMBERS = ["0", "-1", "1", "2", "3", "7", "63", "255", "65536", "2147483648", "4294967296", "1000000007",
           "4611686018427387904", "9223372036854775807", "-9223372036854775808", "18446744073709551616"]
PHASES = ["gradient", "shard", "fuse", "overlap", "memory"]


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command: list, text: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, input=text, capture_output=True, text=True, errors="replace",
                          preexec_fn=limit)


def tool(name: str) -> str:
    return str(BUILD / "bin" / name)


def find_modules() -> list[tuple[str, list[list[str]]]]:
    """Modules of the lit tests, each with the commands that may run on it."""
    modules = []
    for file in sorted((ROOT / "tests/lit").rglob("*.mlir")):
        text = file.read_text()
        passes = sorted(set(re.findall(r"--(?:titan|dist)-[\w-]+(?:=\S+)?", " ".join(re.findall(r"RUN: titan-opt.*", text)))))
        passes = [flag for flag in passes if "to-c" not in flag]
        text = re.sub(r"(?m)^ *//(?! -----).*\n", "", text)
        for part in re.split(r"(?m)^// -----.*$", text):
            if part.strip():
                opt = [tool("titan-opt"), *passes]
                modules.append((part, [opt]))
    return modules


def list_seeds() -> list[tuple[str, list[list[str]]]]:
    """The modules, and their programs after the memory phase for the tools that read plans."""
    seeds = find_modules()
    plan = [tool("titan-opt"), "--titan-plan-memory", "--mlir-print-debuginfo"]
    with ThreadPoolExecutor(CORES) as pool:
        planned = list(pool.map(lambda seed: run(plan, seed[0]), seeds))
    readers = [[tool("titan-translate"), "--titan-to-cpp"], [tool("titan-translate"), "--titan-to-cuda"],
               [tool("titan-interpret"), "--ranks=2", "--vocab=8", "--program=train", "-"],
               [tool("titan-opt"), "--titan-verify-memory"]]
    for result in planned:
        if result.returncode == 0 and "titan.result_allocs" in result.stdout:
            seeds.append((result.stdout, readers))
    for phase in PHASES:
        flag = f"--titan-phase-{phase}"
        seeds += [(text, [[tool("titan-opt"), flag]]) for text, _ in find_modules()[::7]]
    return seeds


def damage(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 2, 3])):
        kind = chance.randrange(7)
        lines = text.split("\n")
        if kind == 0:
            del lines[chance.randrange(len(lines))]
            text = "\n".join(lines)
        elif kind == 1:
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            text = "\n".join(lines)
        elif kind in (2, 3):
            text = replace_one(text, r"-?\b\d+\b", lambda _: chance.choice(NUMBERS), chance)
        elif kind == 4:  # an attribute with its value
            text = replace_one(text, r"[\w.]+ = (?:\[[^\[\]]*\]|\"[^\"]*\"|[\w.:-]+(?: : \w+)?),? ?", lambda _: "", chance)
        elif kind == 5:
            text = replace_one(text, r"\S+", lambda _: "", chance)
        else:
            names = re.findall(r"%\w+|\"[\w.]+\"", text)
            if names:
                text = replace_one(text, r"%\w+|\"[\w.]+\"", lambda _: chance.choice(names), chance)
    return text


def replace_one(text: str, pattern: str, by, chance: random.Random) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    one = chance.choice(found)
    return text[:one.start()] + by(one) + text[one.end():]


def judge(command: list, text: str) -> str:
    """The fault of the tool on this text; empty if there is no fault."""
    result = run(command, text)
    if "titan-interpret" in command[0] and -result.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return ""  # a program may ask for 2^60 iterations
    if result.returncode not in (0, 1):
        # The assertion, or the innermost function of Titan in the stack trace.
        where = re.search(r"LLVM ERROR.*|Assertion.*|#\d+ 0x\w+ (?!llvm|mlir)titan::.*?\(", result.stderr)
        return f"status {result.returncode} {where[0] if where else result.stderr[-300:]}"
    return "" if result.returncode == 0 or result.stderr.strip() else "fails without a word"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=400)
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    if options.files:
        commands = [[tool("titan-opt")], [tool("titan-opt"), "--titan-verify-memory"],
                    [tool("titan-translate"), "--titan-to-cpp"], [tool("titan-interpret"), "-"]]
        trials = [(str(file), command, file.read_text()) for file in options.files for command in commands]
    else:
        seeds, trials = list_seeds(), []
        for number in range(options.seed, options.seed + options.count):
            chance = random.Random(number)
            text, commands = chance.choice(seeds)
            trials.append((str(number), chance.choice(commands), damage(text, chance)))
    with ThreadPoolExecutor(CORES) as pool:
        faults = list(pool.map(lambda trial: judge(trial[1], trial[2]), trials))
    seen = collections.Counter()
    for (name, command, text), fault in zip(trials, faults):
        if not fault:
            continue
        seen[fault] += 1
        if seen[fault] == 1:
            file = OUT / f"{Path(name).stem}.mlir"
            file.write_text(text)
            print(f"FAILED {Path(command[0]).name} {' '.join(command[1:])} < {file}\n  {fault}")
    failed = sum(seen.values())
    print(f"{len(trials) - failed} out of {len(trials)} passed, {time.perf_counter() - begun:.0f} s")
    sys.exit(1 if failed or not trials else 0)


if __name__ == "__main__":
    main()
