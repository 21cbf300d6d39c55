"""Trials of the files of a run: power cuts, damage, planted links, hostile manifests, full disks, several
runs in one folder.

    files.py [--all] [--seed N] [-v] [KIND...]

A sample of each kind; with --all, many. Each kind ends with a line with its count.
"""

import argparse
import sys
import time
from functools import partial

from damage import damages
from disk import full_disks
from locks import locks
from manifests import hostile
from planted import planted
from power import power_cuts
from trials import EXE, Trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="many trials of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("-v", action="store_true", help="show each trial")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    arguments = parser.parse_args()
    if not EXE.exists():
        sys.exit(f"error: {EXE} does not exist: run ninja -C build test-runtime-bigram")
    many = arguments.all
    trials = Trials(arguments.seed, many, arguments.kinds, arguments.v)
    trials.kind("power", partial(power_cuts, 60 if many else 10))
    trials.kind("damage", partial(damages, 5 if many else 1))
    trials.kind("planted", partial(planted, many))
    trials.kind("manifests", partial(hostile, 3000 if many else 40))
    trials.kind("disks", partial(full_disks, 24 if many else 4))
    trials.kind("locks", partial(locks, 100 if many else 10))
    trials.end()


if __name__ == "__main__":
    main()
