#!/usr/bin/env python3
"""Fuzzes parser, checker, formatter and `titanc info`.

    run.py --program build/bin/fuzz-titanc [--seconds 60] [--keep DIR]

The seeds are all .titan files of the repository and the examples of docs/language.md; the dictionary
contains the words of the grammar. An input may take 10 s and 1 GB. Exit status 1 on a finding, which is
printed. With --keep, inputs with new coverage stay in DIR for the next run.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def dictionary():
    """Keywords and signs of the grammar, and the words that the checker knows."""
    words = set(re.findall(r"^[A-Z_]+: '([^']+)';", (ROOT / "grammar/TitanLexer.g4").read_text(), re.M))
    for source in sorted((ROOT / "compiler/sema").rglob("*.cpp")):
        words.update(re.findall(r'"([a-z][a-z0-9_.]{1,24})"', source.read_text()))
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words))
    return "".join(f'"{word}"\n' for word in escaped)


def seeds():
    for folder in ("examples", "stdlib", "tests/lit", "tests/parity"):
        for path in sorted((ROOT / folder).rglob("*.titan")):
            yield path.read_bytes()
    page = (ROOT / "docs/language.md").read_text()
    for block in re.findall(r"^```titan[^\n]*\n(.*?)^```$", page, re.M | re.S):
        yield block.encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/bin/fuzz-titanc")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        (scratch / "titan.dict").write_text(dictionary())
        corpus = Path(args.keep).resolve() if args.keep else scratch / "corpus"
        first = scratch / "seeds"
        for folder in (corpus, first):
            folder.mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(seeds()):
            (first / f"{number:03}").write_bytes(text)
        done = subprocess.run(
            [Path(args.program).resolve(), corpus, first, f"-dict={scratch}/titan.dict",
             f"-max_total_time={args.seconds}", "-max_len=8192", "-timeout=10", "-rss_limit_mb=1024",
             "-print_final_stats=1", f"-artifact_prefix={scratch}/finding-"],
            cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
        executed = re.search(r"number_of_executed_units: *(\d+)", done.stdout)
        if done.returncode:
            print(done.stdout[-4000:])
            for finding in sorted(scratch.glob("finding-*")):
                print(f"--- {finding.name}\n{finding.read_text(errors='replace')}")
            return 1
        print(f"{executed.group(1) if executed else '?'} inputs in {args.seconds} s passed")
        return 0


if __name__ == "__main__":
    sys.exit(main())
