#!/usr/bin/env python3
"""function_names.py [FILE...]

Refuses functions and lambdas called `xOf` in C++, CUDA and TableGen sources: names of functions are
verb phrases (docs/extending.md, "Names of functions"). Predicates `isXOf` and `hasXOf` are allowed, and
so are variables: a map `rankOf[stage]` is a noun. Without FILEs it reads all tracked sources. Prints
file:line and the name; exit status 1 if there is any.
"""

import re
import subprocess
import sys
from pathlib import Path

from words import ROOT, SOURCES, TOKEN

FUNCTION = re.compile(r"(?!(?:is|has)[A-Z])[a-z]\w*[a-z0-9]Of")
USE = re.compile(r"\s*(?:\(|=\s*\[)")  # of a function, or the definition of a lambda


def check(text):
    """The line and the name of each first use of a refused name. A use implies a declaration."""
    seen = set()
    for match in TOKEN.finditer(text):
        name = match.group("name")
        if name and name not in seen and FUNCTION.fullmatch(name) and USE.match(text, match.end()):
            seen.add(name)
            yield text.count("\n", 0, match.start()) + 1, name


def main():
    names = sys.argv[1:] or subprocess.run(
        ["git", "-C", ROOT, "ls-files", *("*" + suffix for suffix in SOURCES)],
        capture_output=True, text=True, check=True).stdout.split()
    status = 0
    for name in names:
        path = ROOT / name
        if path.suffix not in SOURCES or not path.is_file():
            continue
        for line, function in check(path.read_text(errors="replace")):
            noun = function.removesuffix("Of").removeprefix("get")
            print(f"{name}:{line}: `{function}`: names of functions are verb phrases: "
                  f"`get{noun[0].upper()}{noun[1:]}`, or compute, find, make "
                  "(docs/extending.md, Names of functions)")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
