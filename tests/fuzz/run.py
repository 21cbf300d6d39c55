#!/usr/bin/env python3
"""Fuzzes parser, checker, formatter and `titanc info`.

    run.py --program build/bin/fuzz-titanc [--seconds 60] [--keep DIR]

The seeds are all .titan files of the repository and the examples of docs/language.md; the dictionary
contains the words of the grammar. An input may take 10 s and 1 GB. Exit status 1 on a finding, which is
printed. With --keep, inputs with new coverage stay in DIR for the next run.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from libfuzzer import dictionary, fuzz

ROOT = Path(__file__).resolve().parents[2]


def words():
    """Keywords and signs of the grammar, and the words that the checker knows."""
    found = set(re.findall(r"^[A-Z_]+: '([^']+)';", (ROOT / "grammar/TitanLexer.g4").read_text(), re.M))
    for source in sorted((ROOT / "compiler/sema").rglob("*.cpp")):
        found.update(re.findall(r'"([a-z][a-z0-9_.]{1,24})"', source.read_text()))
    return found


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
        (scratch / "titan.dict").write_text(dictionary(words()))
        corpus = Path(args.keep).resolve() if args.keep else scratch / "corpus"
        count, finding = fuzz(Path(args.program), list(seeds()), corpus, scratch, args.seconds, 8192,
                              f"-dict={scratch}/titan.dict")
        print(finding or f"{count} inputs in {args.seconds} s passed")
        return 1 if finding else 0


if __name__ == "__main__":
    sys.exit(main())
