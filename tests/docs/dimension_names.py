#!/usr/bin/env python3
"""Finds C++ sources that know the dimensions of data by name. `.titan` files choose these names
(docs/rationale/sample-dimensions.md).

    dimension_names.py [FILE...]     exit status 1 and a list of lines, if there are any

Checks the string literals "batch" and "seq" of all sources, or of FILEs. Comments may contain them in examples, and
paths of options, such as "data.batch", are other literals.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["base", "compiler", "dialects", "runtime"]
COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')""", re.S)
NAME = re.compile(r'"(?:batch|seq)"')


def find_names(path: Path) -> list[str]:
    # Removes comments, except for their line ends.
    code = COMMENT.sub(lambda part: part[1] or "\n" * part[0].count("\n"), path.read_text())
    return [f"{path}:{number}: {line.strip()}" for number, line in enumerate(code.splitlines(), 1)
            if NAME.search(line)]


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    if not files:
        listed = subprocess.run(["git", "ls-files", "--", *(f"{folder}/*.{end}" for folder in FOLDERS
                                                          for end in ("cpp", "h", "cu", "cuh", "inc"))],
                                cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
        files = [ROOT / name for name in listed]
    lines = [line for path in files for line in find_names(path)]
    for line in lines:
        print(line)
    if not files or lines:
        sys.exit(f"{len(lines)} names of dimensions in {len(files)} files")
    print(f"no name of a dimension in {len(files)} files")


if __name__ == "__main__":
    main()
