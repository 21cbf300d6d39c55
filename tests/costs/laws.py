"""Laws of planned costs, on random programs and random maps.

    laws.py [--all] [--seed N] [--count N] [--law NAME] [-v] [FILE...]

Draws programs as tests/programs does, with a larger batch, and compares `titanc info` of a program with that of a
variant:

    microbatches   four microbatches need no more memory than two, and two no more than one and the sums of gradients
    shards         an axis with twice the degree stores no more on a rank
    recompute      `recompute = full` needs no more memory than `recompute = none`
    words          with another order of the words of `splits`, ranks send as many bytes; the words decide only
                   which axis sends them, and what memory orders with equal bytes need
    stores         another order of the words of `stores` changes nothing
    names          other names of axes change nothing
    defaults       a named default changes nothing
    idle           an axis of degree 1 costs nothing
    replicas       `accumulate = 4` sends over an axis that stores nothing what `accumulate = 1` sends
    ranks          the time and memory of titanc do not grow with the number of ranks (one program, no draws)

Memory may differ by 2 % and by the alignment of each tensor, because the planner of the arena searches. The cases in
laws/ are programs, reduced by hand, that break a law: each names the law and the known fault that it shows. A case
that no longer breaks its law fails, so that it is removed. Other programs may break a law only if a case does.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "programs"))
from generate import Program

TITANC = Path(os.environ.get("TITAN_BUILD", ROOT / "build")) / "bin" / "titanc"
CASES = HERE / "laws"
COUNT, ALL = 12, 150
SLACK, ALIGNMENT = 1.02, 64
BATCH = 16  # times the batch of tests/programs, so that activations count
AXIS = re.compile(r"^  (\w+) = (\d+) +(.*)$", re.M)
MAP = re.compile(r"^parallel \w+ \{\n(.*?)^\}$", re.M | re.S)
DEFAULTS = ["sharding.overlap=always", "sharding.prefetch=1", "precision.optimizer=auto", "clip_value=0"]


@dataclass
class Costs:
    memory: int  # of the rank that needs most, without the workspaces of libraries
    parameters: int
    stored: int  # parameters and optimizer state
    sent: dict  # axis -> bytes; a collective over two axes counts in both
    sent_in_all: int
    flops: float
    tensors: int  # at most so many alignments in a plan


class Refused(Exception):
    """titanc does not accept the variant."""


def measure(text: str, settings=()) -> Costs:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.titan"
        program.write_text(text)
        words = [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run([TITANC, "info", program, "--json", "--target", "cuda", *words], capture_output=True,
                              text=True)
    if done.returncode == 1 and "error:" in done.stderr:
        raise Refused(done.stderr)
    if done.returncode:
        raise SystemExit(f"titanc ends with {done.returncode}:\n{done.stderr}\n{text}")
    plan = json.loads(done.stdout)
    memory = plan["memory"]
    return Costs(memory["total"] - memory["flash_attention"] - memory["products"],
                 memory["parameters"], memory["parameters"] + memory["optimizer"] + memory["host"],
                 {axis["name"]: axis["bytes_sent"] for axis in plan["mesh"]["axes"]},
                 sum(use["bytes_sent"] * use["times"] for use in plan["collectives"]), plan["flops_per_token"],
                 4 * len(plan["parameters"]["tensors"]) + len(plan["values"]) + 16)


def is_more(costs: Costs, base: Costs, what: str, allowance: int = 0) -> str | None:
    """Says how much more than `base` it is."""
    now, before = getattr(costs, what), getattr(base, what)
    if now <= SLACK * before + allowance + ALIGNMENT * base.tensors:
        return None
    return f"{what} {before:,} -> {now:,}"


def differ(costs: Costs, base: Costs) -> str | None:
    """Says what differs. Axes correspond by position."""
    sent, before = [size for size in costs.sent.values() if size], [size for size in base.sent.values() if size]
    if sent != before:
        return f"bytes sent {before} -> {sent}"
    if is_more(costs, base, "memory") or is_more(base, costs, "memory"):
        return f"memory {base.memory:,} -> {costs.memory:,}"
    return None if costs.flops == base.flops else f"operations {base.flops:,} -> {costs.flops:,}"


def edit_map(text: str, edit) -> str:
    """The text with another map."""
    return MAP.sub(lambda match: edit(match[0]), text)


def add_axis(text: str, line: str) -> str:
    """The text with an outermost axis."""
    if not find_axes(text):
        raise Refused("no map")
    return edit_map(text, lambda lines: lines.replace("{\n", "{\n  " + line + "\n", 1))


def reverse_words(text: str, keyword: str) -> str:
    """`stores a, b` -> `stores b, a`."""
    def reverse(match):
        return f"{keyword} " + ", ".join(reversed(match[1].split(", ")))
    other = edit_map(text, lambda lines: re.sub(rf"\b{keyword} (\w+(?:, (?!else )\w+)+)", reverse, lines))
    if other == text:
        raise Refused("no words to permute")
    return other


def find_axes(text: str) -> list[tuple[str, int, str]]:
    found = MAP.search(text)
    return [(name, int(degree), rest) for name, degree, rest in AXIS.findall(found[0])] if found else []


def law_microbatches(text):
    if "pipeline" in text:
        return is_more(measure(text, ["pipeline.microbatches=8"]), measure(text, ["pipeline.microbatches=4"]), "memory")
    one, two, four = (measure(text, [f"accumulate={count}"]) for count in (1, 2, 4))
    return is_more(four, two, "memory") or is_more(two, one, "memory", allowance=one.parameters)


def law_shards(text):
    line = "wide = {} splits batch stores params, grads, optimizer"
    return is_more(measure(add_axis(text, line.format(4))), measure(add_axis(text, line.format(2))), "stored")


def law_recompute(text):
    if "repeat" not in text:
        raise Refused("no repeat")
    return is_more(measure(text, ["recompute=full"]), measure(text, ["recompute=none"]), "memory")


def law_words(text):
    costs, base = measure(reverse_words(text, "splits")), measure(text)
    sent, before = costs.sent_in_all, base.sent_in_all
    return None if sent == before else f"bytes sent {before:,} -> {sent:,}"


def law_stores(text):
    return differ(measure(reverse_words(text, "stores")), measure(text))


def law_names(text):
    names = [name for name, _, _ in find_axes(text)]
    if not names:
        raise Refused("no map")

    def rename(lines):  # in the opposite alphabetical order
        return re.sub(rf"\b({'|'.join(names)})\b", lambda match: f"z{9 - names.index(match[1])}_axis", lines)
    return differ(measure(edit_map(text, rename)), measure(text))


def law_defaults(text):
    return differ(measure(text, DEFAULTS), measure(text))


def law_idle(text):
    return differ(measure(add_axis(text, "idle = 1 splits batch stores params, grads, optimizer")), measure(text))


def law_replicas(text):
    if "pipeline" in text:
        raise Refused("microbatches of a pipeline")
    text = add_axis(text, "copies = 2 splits batch")
    many, one = (measure(text, [f"accumulate={count}"]) for count in (4, 1))
    # Losses and other sums over samples are sent in each microbatch. Gradients would be sent three times more.
    more = many.sent["copies"] - one.sent["copies"]
    return f"sends {more:,} bytes more, parameters have {one.parameters:,}" if more > one.parameters else None


LAWS = {name[4:]: law for name, law in globals().items() if name.startswith("law_")}


def prepare(text: str) -> str:
    """A program of tests/programs with a larger batch and known degrees."""
    text = re.sub(r"\bbatch = (\d+)", lambda match: f"batch = {int(match[1]) * BATCH}", text)
    return re.sub(r"= auto\b", "= 2", text)


def try_law(name: str, text: str) -> str | None:
    """What is wrong; "-" if the law says nothing about the program."""
    try:
        return LAWS[name](text)
    except Refused:
        return "-"


def read_case(path: Path) -> tuple[str, str]:
    """(law, number of the known fault) from its first line: `# microbatches: C1`."""
    return re.match(r"# (\w+): (\w+)", path.read_text()).groups()


def check_ranks() -> str | None:
    """64 times as many ranks, with equal stages: no more than 1.5 times the time and 1.2 times the memory."""
    def run(degree):
        text = ("import models.llama\nparallel p {\n  pp = 8 splits layers\n"
                f"  shard = {degree} splits batch stores params, grads, optimizer\n"
                "  tp = 8 splits kv_heads, ffn, vocab, else seq\n}\n"
                "train r = Llama3_405B on p {\n  data = text(\"x.txt\") { seq = 8192, batch = 8192 }\n"
                "  recompute = full\n  pipeline { microbatches = 16 }\n}\n")
        best, memory = float("inf"), 0
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            with tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / "program.titan"
                program.write_text(text)
                child = subprocess.Popen([TITANC, "info", program], stdout=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
            if status:
                raise SystemExit("titanc info fails for 405B")
            best, memory = min(best, usage.ru_utime), usage.ru_maxrss
        return best, memory
    (time_few, memory_few), (time_many, memory_many) = run(8), run(512)
    if time_many > 1.5 * time_few or memory_many > 1.2 * memory_few:
        return f"512 -> 32,768 ranks: {time_few:.2f} -> {time_many:.2f} s, {memory_few:,} -> {memory_many:,} KiB"
    return None


def check_cases(verbose) -> tuple[dict, int]:
    """Known faults by law, and the number of cases that no longer show theirs."""
    known, mended = {}, 0
    for path in sorted(CASES.glob("*.titan")):
        law, number = read_case(path)
        known.setdefault(law, set()).add(number)
        found = try_law(law, path.read_text())
        if found in (None, "-"):
            print(f"FAIL {path.name}: it breaks the law `{law}` no longer ({number}): remove it")
            mended += 1
        elif verbose:
            print(f"     {path.name}: {law}, {number}: {found}")
    return known, mended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="programs instead of random ones")
    parser.add_argument("--all", action="store_true", help=f"{ALL} programs instead of {COUNT}")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, help="the number of programs")
    parser.add_argument("--law", choices=[*LAWS, "ranks"], help="only this law")
    parser.add_argument("-v", action="store_true", help="show each broken law")
    arguments = parser.parse_args()
    laws = [law for law in LAWS if arguments.law in (None, law)]
    count = arguments.count or (ALL if arguments.all else COUNT)
    texts = [(str(file), file.read_text()) for file in arguments.files]
    texts = texts or [(f"seed {seed}", prepare(Program(seed, 0.2).draw()))
                      for seed in range(arguments.seed, arguments.seed + count)]
    known, failures = check_cases(arguments.v)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(law, name, pool.submit(try_law, law, text)) for name, text in texts for law in laws]
    counts = {law: [0, 0] for law in laws}
    for law, name, job in jobs:
        found = job.result()
        counts[law][0] += found != "-"
        if found in (None, "-"):
            continue
        counts[law][1] += 1
        failures += law not in known
        if arguments.v or law not in known:
            print(f"{'FAIL' if law not in known else '    '} {name}: {law}: {found}")
    for law, (tried, broken) in counts.items():
        faults = f", broken by {broken} (known: {' '.join(sorted(known[law]))})" if law in known else ""
        print(f"{law:13} {tried} programs{faults}")
    if arguments.law in (None, "ranks") and (found := check_ranks()):
        print(f"FAIL ranks: {found}")
        failures += 1
    print(f"{sum(tried for tried, _ in counts.values())} comparisons out of {len(jobs)}, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
