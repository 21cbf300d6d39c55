"""Removes the reductions of a compiled program one at a time; each such program must fail parity.

    mutants.py [--all] [-v] [NAME...]

Mutates the emitted C++, which runs as real processes. A mutant omits one value of one call of
allReduce or reduceScatter, blocking or started; for a scattered sum the rank keeps its own slice of
its unreduced value. Without --all, a sample of them.
"""

import random
import re
import shutil
from functools import partial
from pathlib import Path

import torch

from compare import compare
from run import OUT as PARITY
from run import PROGRAMS, SEED, TEXT_BYTES
from titan import TITANC, Launch, Report, call, precision, read_arguments, write_text

OUT = PARITY.parent / "mutants"
MESH, PROCESSES = "on_shard2_tp2", 4
STEPS = 3  # the first step's gradients decide; the later ones rule out a start-up effect
SAMPLE = 4
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
  int64_t ranks = 1, mine = 0, part = d * inner * titan::sizeOf(type);
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
    """The output of `--emit=project` and copies with one call replaced, each in a folder of its
    own."""

    def __init__(self):
        self.folder = OUT / "project"
        call([TITANC, "build", PROGRAMS / "llama3.titan", "--train", MESH, "--emit=project",
              "-o", self.folder, *precision("float64")])
        sources = [f for f in self.folder.rglob("*.cpp") if CALL.search(f.read_text())]
        if len(sources) != 1:
            raise SystemExit(f"error: {len(sources)} files in {self.folder} reduce anything")
        self.source = sources[0]
        self.text = self.source.read_text()
        # The other programs, each in its own namespace, are not run here.
        begin = self.text.index("namespace train_ {")
        end = self.text.find("\nnamespace ", begin + 1)
        calls = [m for m in CALL.finditer(self.text, begin, end if end > 0 else len(self.text))
                 if not self.in_comment(m.start())]
        self.reductions = [(m, i) for m in calls for i in range(len(values_of(m)))]

    def in_comment(self, at: int) -> bool:
        return "//" in self.text[self.text.rfind("\n", 0, at):at]

    def place(self, index: int) -> str:
        match, value = self.reductions[index]
        line = self.text.count("\n", 0, match.start()) + 1
        return f"value {value} of {match.group(1)} in line {line} of {self.source.name}"

    def build(self, index: int | None) -> Path:
        """The executable without reduction `index`, or unchanged."""
        text = self.text
        if index is not None:
            match, value = self.reductions[index]
            text = text[:match.start()] + without(match, value) + text[match.end():]
            last_include = text.rindex("#include", 0, match.start())
            line_end = text.index("\n", last_include)
            text = text[:line_end] + "\n" + REPLACEMENT + text[line_end:]
        folder = self.folder.with_name("whole" if index is None else f"without-{index}")
        shutil.copytree(self.folder, folder)
        (folder / self.source.relative_to(self.folder)).write_text(text)
        build = folder / "build"
        call(["cmake", "-G", "Ninja", "-S", folder, "-B", build])
        call(["cmake", "--build", build])
        made = [f for f in build.iterdir() if f.is_file() and f.stat().st_mode & 0o100]
        if len(made) != 1:
            raise SystemExit(f"error: {len(made)} executables in {build}")
        return made[0]


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


def is_caught(project: Project, index: int, text: Path, plain: Path):
    mutant = Launch(STEPS, SEED, PROCESSES).run(project.build(index), text, OUT / f"drop-{index}")
    result = compare(mutant, plain, "float64")
    return not result.passed(), result.table()


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="every call; the default by name"))
    torch.set_num_threads(1)
    text = write_text(OUT / "text.txt", TEXT_BYTES)
    project = Project()
    plain = Launch(STEPS, SEED, PROCESSES).run(project.build(None), text, OUT / "plain")
    chosen = list(range(len(project.reductions)))
    if not (arguments.all or arguments.names):
        chosen = sorted(random.Random(SEED).sample(chosen, min(SAMPLE, len(chosen))))
    print(f"{len(chosen)} of {len(project.reductions)} reductions")
    report = Report()
    report.cases(((f"without {project.place(index)}",
                   partial(is_caught, project, index, text, plain)) for index in chosen),
                 arguments.names)
    report.end()


if __name__ == "__main__":
    main()
