"""Breaks compiled programs, one reduction or message at a time; each such program must fail parity.

    mutants.py [--all] [-v] [NAME...]

Mutates the emitted C++, which runs as real processes. A mutant omits one value of one call of
allReduce or reduceScatter, blocking or started; instead of a reduce-scatter, the rank copies its slice
of its unreduced value. Without --all, a sample of the mutants is tried.

The table of fragments determines the messages and slots of a pipeline. A mutant removes a value from the column
`reads` of a fragment, which then receives no message, or replaces a value in `uses`, so that the fragment reads the
slot of another value.
"""

import random
import re
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from compare import compare
from run import OUT as PARITY
from run import PROGRAMS, SEED, TEXT_BYTES
from titan import QUICK, ROOT, TITANC, Launch, Report, call, precision, read_arguments

OUT = PARITY.parent / "mutants"
MESH, PROCESSES = "on_shard2_tp2", 4
PIPELINE, STAGES = ROOT / "tests/runs/moves.titan", 2
STEPS = 3  # the first step's gradients decide; the later ones rule out a start-up effect
SAMPLE = 3
# A call up to its values (group, type, kind), one value or a list of several, and the end, with the
# channel on which it is started.
CALL = re.compile(r"\b(allReduce|reduceScatter)\((ctx, over<[^>]*>\(\), [\w:]+, [\w:]+),\s*"
                  r"(?:\{(\{.*?\})\}((?:, \d+)?\);)|([^;]*)\);)", re.S)

# The replacement of a value's reduction. The slice that a rank keeps is its position in the group,
# by the coordinates along the group's axes, outer to inner.
REPLACEMENT = """
#include <cstring>
namespace {
[[maybe_unused]] void droppedReduceScatter(titan::rt::Context &ctx, titan::rt::GroupRef group,
                                           titan::rt::DType type, titan::rt::Reduction,
                                           const void *in, void *out, int64_t outer, int64_t d,
                                           int64_t inner) {
  int64_t ranks = 1, mine = 0, part = d * inner * titan::getByteSize(type);
  for (int i = 0; i < group.count; ++i) {
    mine = mine * ctx.degree[group.axes[i]] + ctx.coordinate[group.axes[i]];
    ranks *= ctx.degree[group.axes[i]];
  }
  for (int64_t o = 0; o < outer; ++o)
    std::memcpy(static_cast<char *>(out) + o * part,
                static_cast<const char *>(in) + (o * ranks + mine) * part, part);
}
} // namespace
"""


class Project:
    """The output of `--emit=project`, and copies with a changed source, each in another folder. `mark` finds the source
    to change."""

    def __init__(self, program: Path, train: str, mark: re.Pattern):
        self.train = train
        self.folder = OUT / train
        call([TITANC, "build", program, "--train", train, "--emit=project", "-o", self.folder, *QUICK,
              *precision("float64")])
        sources = [f for f in self.folder.rglob("*.cpp") if mark.search(f.read_text())]
        if len(sources) != 1:
            raise SystemExit(f"error: {len(sources)} files in {self.folder} have what is to be broken")
        self.source = sources[0]
        self.text = self.source.read_text()

    def compile(self, text: str, name: str) -> Path:
        """The executable of a copy whose source has this text."""
        folder = self.folder.with_name(f"{self.train}-{name}")
        shutil.copytree(self.folder, folder)
        (folder / self.source.relative_to(self.folder)).write_text(text)
        build = folder / "build"
        call(["cmake", "-G", "Ninja", "-S", folder, "-B", build])
        call(["cmake", "--build", build])
        made = [f for f in build.iterdir() if f.is_file() and f.stat().st_mode & 0o100]
        if len(made) != 1:
            raise SystemExit(f"error: {len(made)} executables in {build}")
        return made[0]


class Reductions(Project):
    """A program on a mesh, whose reductions can be omitted one by one."""

    def __init__(self):
        super().__init__(PROGRAMS / "llama3.titan", MESH, CALL)
        # The other programs, each in its own namespace, are not run here.
        begin = self.text.index("namespace train_ {")
        end = self.text.find("\nnamespace ", begin + 1)
        calls = [m for m in CALL.finditer(self.text, begin, end if end > 0 else len(self.text))
                 if not self.in_comment(m.start())]
        self.reductions = [(m, i) for m in calls for i in range(len(values_of(m)))]

    def in_comment(self, at: int) -> bool:
        return "//" in self.text[self.text.rfind("\n", 0, at):at]

    def describe(self, index: int) -> str:
        match, value = self.reductions[index]
        line = self.text.count("\n", 0, match.start()) + 1
        return f"value {value} of {match.group(1)} in line {line} of {self.source.name}"

    def build(self, index: int) -> Path:
        """The executable without reduction `index`."""
        match, value = self.reductions[index]
        text = self.text[:match.start()] + without(match, value) + self.text[match.end():]
        last_include = text.rindex("#include", 0, match.start())
        line_end = text.index("\n", last_include)
        return self.compile(text[:line_end] + "\n" + REPLACEMENT + text[line_end:], f"without-{index}")


@dataclass
class Fragment:
    """A row of the table of fragments of the training step."""

    name: str
    kind: str
    stage: int
    reads: list[int]
    writes: list[int]
    row: re.Match


class Messages(Project):
    """A pipeline whose table of fragments can be changed."""

    ROW = re.compile(r'\{"(train\.[\w.]+)", FragmentKind::(\w+), (\d+), \d+, \{(?P<uses>[\d, ]*)\}, '
                     r'\{(?P<reads>[\d, ]*)\}, \{(?P<writes>[\d, ]*)\}\}')

    def __init__(self):
        super().__init__(PIPELINE, "on_stages", self.ROW)
        self.fragments = [Fragment(m[1], m[2], int(m[3]), numbers(m["reads"]), numbers(m["writes"]), m)
                          for m in self.ROW.finditer(self.text)]

    def mutants(self) -> dict[str, tuple[str, Fragment, int, list[int]]]:
        """Arguments of `build` by name of the mutant: a message for a forward and for a backward fragment, and the slot
        of a residual of the first stage, which has several microbatches in flight."""
        writer = {value: one for one in self.fragments for value in one.writes if one.kind == "Forward"
                  or one.kind == "Backward"}
        found = {}
        for one in self.fragments:
            for value in one.reads:
                if value not in writer or one.kind not in ("Forward", "Backward"):
                    continue
                if writer[value].stage != one.stage:
                    found.setdefault(f"without the message to {one.name}", ("reads", one, value, []))
                elif one.stage == 0:
                    others = [other for other in one.reads if writer.get(other) == writer[value] and other != value]
                    found.setdefault(f"with the slot of another value in {one.name}", ("uses", one, value, others[:1]))
        return found

    def build(self, column: str, fragment: Fragment, value: int, instead: list[int]) -> Path:
        """The executable in which `instead` replaces a value in a column of the fragment. In `uses`, the position of a
        value matters, so the number of values must not change."""
        begin, end = fragment.row.span(column)
        changed = [new for old in numbers(fragment.row[column]) for new in (instead if old == value else [old])]
        text = self.text[:begin] + ", ".join(map(str, changed)) + self.text[end:]
        return self.compile(text, f"{fragment.name}-without-{value}")


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number.strip()]


def values_of(call: re.Match) -> list[str]:
    """The arguments of each value."""
    if call.group(3) is None:
        return [call.group(5)]
    return [value.strip(" {}") for value in re.split(r"\},\s*\{", call.group(3))]


def without(call: re.Match, dropped: int) -> str:
    """The call without one of its values."""
    name, head = call.group(1), call.group(2)
    values = values_of(call)
    own = values.pop(dropped)
    text = "{ " if name == "allReduce" else f"{{ droppedReduceScatter({head}, {own}); "
    if values:
        text += f"{name}({head}, {{{', '.join('{' + v + '}' for v in values)}}}{call.group(4)}"
    return text + " }"


def is_caught(build, out: Path, processes: int, text: Path, plain: Path):
    mutant = Launch(STEPS, SEED, processes).run(build(), text, out)
    result = compare(mutant, plain, "float64")
    return not result.passed(), result.table()


def reductions(everything: bool, text: Path):
    """Cases that omit one reduction."""
    project = Reductions()
    plain = Launch(STEPS, SEED, PROCESSES).run(project.compile(project.text, "whole"), text, OUT / "plain")
    chosen = list(range(len(project.reductions)))
    if not everything:
        chosen = sorted(random.Random(SEED).sample(chosen, min(SAMPLE, len(chosen))))
    print(f"{len(chosen)} of {len(project.reductions)} reductions")
    for index in chosen:
        yield f"without {project.describe(index)}", partial(
            is_caught, partial(project.build, index), OUT / f"drop-{index}", PROCESSES, text, plain)


def messages(text: Path):
    """Cases that omit one message, or read one slot for another."""
    project = Messages()
    plain = Launch(STEPS, SEED, STAGES).run(project.compile(project.text, "whole"), text, OUT / "plain-stages")
    mutants = project.mutants()
    for name, mutant in mutants.items():
        yield name, partial(is_caught, partial(project.build, *mutant), OUT / name.replace(" ", "-"), STAGES,
                            text, plain)


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="every call; the default by name"))
    torch.set_num_threads(1)
    text = OUT / "text.bin"
    text.parent.mkdir(parents=True, exist_ok=True)
    # Bytes of all values, so that every shard of the vocabulary has labels.
    text.write_bytes(random.Random(SEED).randbytes(TEXT_BYTES))
    everything = bool(arguments.all or arguments.names)
    report = Report()
    report.cases([*reductions(everything, text), *messages(text)], arguments.names)
    report.end()


if __name__ == "__main__":
    main()
