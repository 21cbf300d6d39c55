"""Ranks that do not belong together, and foreign processes.

    ranks.py [--count N] [--all] [--seed N] [-v] [NAME...]

Ranks that differ: of two or three ranks, some have another program, setting, option, data file, transport or
number of ranks. All must end with status 1 (2 for an invalid command line) within seconds, name the field,
and write nothing. Ranks with harmless differences (threads, another copy of the data) train.

Jobs: two of them at one port, a duplicate rank, a late rank. No rank trains with a rank of another run; a
superfluous rank reports it and ends.

Foreign clients: browsers, noise, silence and hundreds of connections at the rendezvous, and clients that
write into its store. The run trains bitwise equal, or ends with an error in time; files that a client names
stay unchanged.

Listeners: another program at MASTER_PORT, or a host name that does not exist.

Root cause: one of four ranks is killed or stopped; all others name it.

Two hosts (as root, with iproute2): network namespaces in which host names resolve to loopback train.

A sample by default, --all or --count for more; the seed selects it.
"""

import argparse
import collections
import random
import signal
import socket
import sys
import time

from bench import VARIANTS, Bench, Failed
from differences import HARMLESS, differences, try_difference, try_harmless
from hosts import can_make_hosts, try_two_hosts
from foreign_clients import HELLOS
from titan import require_titanc
from foreign_processes import (FORGED, try_first_cause, try_forged, try_listener, try_named_file,
                               try_stranger, try_twice, try_two_jobs)

QUICK_VARIANTS = ["base", "scaled", "mesh"]


def make_trials(bench, chance):
    """All kinds of trial by name: a group, a name, and the action."""
    trials = []
    add = lambda group, name, do, *rest: trials.append((group, name, do, rest))  # noqa: E731
    for row in differences(bench):
        if row[1].get("exe", "base") not in bench.variants:
            continue
        for transport in ("shared", "gloo"):
            for size, deviants in ((2, (1,)), (2, (0,)), (3, (1, 2)), (3, (2,))):
                if row[0] == "transport" and transport == "gloo":
                    continue
                if row[0] == "tp program" and size == 3:
                    continue
                add("ranks that differ", f"{row[0]} of {deviants} of {size}, {transport}",
                    try_difference, *row, transport, size, deviants)
    for row in HARMLESS:
        for transport in ("shared", "gloo"):
            add("ranks that may differ", f"{row[0]}, {transport}", try_harmless, *row, transport)
    for named in (True, False):
        add("jobs at one port", "named" if named else "unnamed", try_two_jobs, chance, named)
    for late in (True, False):
        add("a rank that is there twice", "late" if late else "at once", try_twice, chance, late)
    for kind in [*HELLOS, "silent", "many"]:
        add("strangers", kind, try_stranger, chance, kind)
    for kind in [*FORGED, "delete job", "delete verdict"]:
        add("forged values", kind, try_forged, chance, kind)
    add("forged values", "a file's name", try_named_file, chance)
    for kind in ("silent", "http", "closes", "no-such-host.invalid", "256.1.1.1", "http://x"):
        add("listeners", kind, try_listener, chance, kind)
    for transport in ("shared", "gloo"):
        for fate in (signal.SIGKILL, signal.SIGSTOP):
            for victim in range(4):
                add("first cause", f"{fate.name} of {victim}, {transport}", try_first_cause, chance,
                    transport, fate, victim)
    if can_make_hosts():
        for master in ("10.213.7.1", socket.gethostname()):
            add("two hosts", f"MASTER_ADDR={master}", try_two_hosts, chance, master)
    else:
        print("skipped: two hosts need root, iproute2 and network namespaces")
    return trials


# Sample size of each group.
SAMPLE = {"ranks that differ": 6, "ranks that may differ": 1, "jobs at one port": 1,
          "a rank that is there twice": 1, "strangers": 1, "forged values": 1, "listeners": 1,
          "first cause": 1, "two hosts": 1}


def choose(trials, chance, arguments):
    if arguments.names:
        return [t for t in trials if all(name in f"{t[0]}: {t[1]}" for name in arguments.names)]
    if arguments.all:
        return trials
    chance.shuffle(trials)
    if arguments.count:
        return [trials[i % len(trials)] for i in range(arguments.count)]
    seen = collections.Counter()
    chosen = []
    for trial in trials:
        seen[trial[0]] += 1
        if seen[trial[0]] <= SAMPLE[trial[0]]:
            chosen.append(trial)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the names of trials")
    parser.add_argument("--all", action="store_true", help="every kind once")
    parser.add_argument("--count", type=int, help="the number of trials, of all kinds in turn")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("-v", action="store_true", help="name every trial")
    arguments = parser.parse_args()
    require_titanc()
    chance = random.Random(arguments.seed)
    quick = not (arguments.all or arguments.count or arguments.names)
    bench = Bench(QUICK_VARIANTS if quick else list(VARIANTS))
    done, failed = collections.Counter(), collections.Counter()
    for group, name, do, rest in choose(make_trials(bench, chance), chance, arguments):
        begun = time.monotonic()
        try:
            faults = do(bench, *rest)
        except (Failed, OSError) as error:
            faults = [str(error)]
        done[group] += 1
        failed[group] += bool(faults)
        if faults or arguments.v:
            print(f"{'FAULT ' if faults else 'ok    '} {time.monotonic() - begun:5.1f} s  {group}: {name}",
                  *faults, sep="\n    ", flush=True)
    for group in done:
        print(f"{group}: {done[group]} trials, {failed[group]} faults")
    print(f"{done.total() - failed.total()} out of {done.total()} passed (seed {arguments.seed})")
    sys.exit(1 if failed.total() else 0)


if __name__ == "__main__":
    main()
