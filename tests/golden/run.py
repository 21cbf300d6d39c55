"""Emitted C++ as people read it: two programs, compared with the files in this folder.

    run.py [--update] [NAME...]

What changes in emission shows here as a difference to be looked at; --update writes the files again.
"""

import argparse
import difflib
import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "parity"))
from titan import ROOT, TITANC, Failed, Report, require_titanc  # noqa: E402

HERE = Path(__file__).resolve().parent
# File and run: storage alone; a repeat, in shards and split. A whole decoder is too long for a person to read.
PROGRAMS = {
    "bigram": ("tests/golden/bigram.titan", "bigram"),
    "small": ("docs/phases/small.titan", "small"),
}
SHOWN = 60  # lines of a difference


def emit(file: str, run: str) -> str:
    """The emitted file without the path of the tree, the program's own text, which is no emission, and the
    checksum of the rest."""
    result = subprocess.run([TITANC, "build", file, "--train", run, "--emit=cpp", "-o", "-"],
                            cwd=ROOT, capture_output=True, text=True)
    if result.returncode:
        raise Failed(result.stderr)
    text = result.stdout.replace(f"{ROOT}/", "")
    text = re.sub(r'(p\.source = ){".*", \d+};', r"\1...;", text)
    return re.sub(r'(p\.(?:code|model) = )".*";', r"\1...;", text)


def check(name: str, update: bool):
    text, golden = emit(*PROGRAMS[name]), HERE / f"{name}.cpp.golden"
    if update:
        golden.write_text(text)
    difference = list(difflib.unified_diff(golden.read_text().splitlines(), text.splitlines(),
                                           str(golden.relative_to(ROOT)), "emitted", lineterm="", n=2))
    hint = ["", "if this is as it should be: tests/golden/run.py --update"]
    return not difference, "\n".join(difference[:SHOWN] + hint)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true", help="take what is emitted now")
    arguments = parser.parse_args()
    require_titanc()
    report = Report()
    for name in arguments.names or PROGRAMS:
        report.case(f"{name}: the emitted source is the one on file",
                    lambda: check(name, arguments.update))
    report.end()


if __name__ == "__main__":
    main()
