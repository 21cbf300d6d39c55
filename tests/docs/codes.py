#!/usr/bin/env python3
"""Checks that every diagnostic of the compiler is used, documented and tested.

For each code of compiler/diagnostics/*.def: a source of the compiler reports it, docs/errors.md has an
entry, and a lit test (or a program of the documentation that must be refused) provokes it. Prints a line
for each violation; then the exit status is 1.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST = 80  # codes, in case the table is read wrongly


def texts(folder, *suffixes):
    return [path.read_text(errors="replace") for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in suffixes]


def main():
    table = "".join(texts("compiler/diagnostics", ".def"))
    codes = re.findall(r"TITAN_DIAGNOSTIC\((\d+),\s*(\w+),", table)
    source = "".join(texts("compiler", ".cpp", ".h"))
    tests = "".join(texts("tests/lit", ".test", ".titan", ".mlir", ".cpp"))
    tests += "".join(re.findall(r"^```titan wrong .*$", "".join(texts("docs", ".md")), re.M))
    page = (ROOT / "docs/errors.md").read_text()
    wrong = 0
    for number, name in codes:
        code = f"T{int(number):04}"
        for what, missing in (("is never reported", f"Code::{name}" not in source),
                              ("is not in docs/errors.md", f"## {code}:" not in page),
                              ("has no lit test", code not in tests)):
            if missing:
                print(f"{code} {name} {what}")
                wrong += 1
    if len({number for number, _ in codes}) != len(codes):
        print("two diagnostics share a number")
        wrong += 1
    if len(codes) < LEAST:
        print(f"fewer than {LEAST} codes")
        wrong += 1
    print(f"{len(codes)} codes, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
