"""Drops the reductions of a compiled program one at a time: each such program must fail parity.

    mutants.py [--all] [-v]

What is mutated is the emitted C++, as real processes run it: one call of allReduce or reduceScatter
is replaced by one that communicates nothing and keeps this rank's own part. Without --all, a sample
of the calls.
"""

import argparse
import random
import re
import shutil
from pathlib import Path

import torch

from compare import compare
from run import OUT as PARITY
from run import PROGRAMS, SEED, TEXT_BYTES
from titan import TITANC, Launch, Report, call, precision, require_titanc, write_text

OUT = PARITY.parent / "mutants"
MESH, PROCESSES = "on_shard2_tp2", 4
STEPS = 3  # the first step's gradients tell; the later ones show that it is no start-up effect
SAMPLE = 4
CALL = re.compile(r"\b(allReduce|reduceScatter)\(")

# The calls that take the place of the real ones. The part that a rank keeps is its position in the
# group, by the coordinates along the group's axes, outer to inner.
REPLACEMENT = """
#include <cstring>
namespace {
[[maybe_unused]] void droppedAllReduce(titan::rt::Context &, titan::rt::GroupRef, titan::rt::DType,
                                       titan::rt::Reduction, void *, int64_t) {}
[[maybe_unused]] void droppedReduceScatter(titan::rt::Context &ctx, titan::rt::GroupRef group,
                                           titan::rt::DType type, titan::rt::Reduction,
                                           const void *in, void *out, int64_t outer, int64_t d,
                                           int64_t inner) {
  int64_t ranks = 1, mine = 0, part = d * inner * titan::rt::sizeOf(type);
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
    """The program as `--emit=project` writes it, and copies of it with one call replaced."""

    def __init__(self):
        self.folder = OUT / "project"
        call([TITANC, "build", PROGRAMS / "llama3.titan", "--train", MESH, "--emit=project",
              "-o", self.folder, *precision("float64")])
        sources = [f for f in self.folder.rglob("*.cpp") if CALL.search(f.read_text())]
        if len(sources) != 1:
            raise SystemExit(f"error: {len(sources)} files in {self.folder} reduce anything")
        self.source = sources[0]
        self.text = self.source.read_text()
        # The programs besides training, each in a namespace of its own, are not run here.
        begin = self.text.index("namespace train {")
        end = self.text.find("\nnamespace ", begin + 1)
        self.calls = [m for m in CALL.finditer(self.text, begin, end if end > 0 else len(self.text))
                      if not self.in_comment(m.start())]

    def in_comment(self, at: int) -> bool:
        return "//" in self.text[self.text.rfind("\n", 0, at):at]

    def place(self, index: int) -> str:
        match = self.calls[index]
        line = self.text.count("\n", 0, match.start()) + 1
        return f"{match.group(1)} in line {line} of {self.source.name}"

    def build(self, index: int | None) -> Path:
        """The executable without call `index`, or as it is."""
        text = self.text
        if index is not None:
            match = self.calls[index]
            name = "dropped" + match.group(1)[0].upper() + match.group(1)[1:]
            text = text[:match.start()] + name + text[match.start() + len(match.group(1)):]
            last_include = text.rindex("#include", 0, text.index(name))
            line_end = text.index("\n", last_include)
            text = text[:line_end] + "\n" + REPLACEMENT + text[line_end:]
        self.source.write_text(text)
        build = self.folder / "build"
        call(["cmake", "-G", "Ninja", "-S", self.folder, "-B", build])
        call(["cmake", "--build", build])
        made = [f for f in build.iterdir() if f.is_file() and f.stat().st_mode & 0o100]
        if len(made) != 1:
            raise SystemExit(f"error: {len(made)} executables in {build}")
        return made[0]


def is_caught(project: Project, index: int, text: Path, plain: Path):
    mutant = Launch(STEPS, SEED, PROCESSES).run(project.build(index), text, OUT / f"drop-{index}")
    result = compare(mutant, plain, "float64")
    return not result.passed(), result.table()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="every call")
    parser.add_argument("-v", action="store_true", help="show the tables")
    arguments = parser.parse_args()
    require_titanc()
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    text = write_text(OUT / "text.txt", TEXT_BYTES)
    project = Project()
    plain = Launch(STEPS, SEED, PROCESSES).run(project.build(None), text, OUT / "plain")
    chosen = list(range(len(project.calls)))
    if not arguments.all:
        chosen = sorted(random.Random(SEED).sample(chosen, min(SAMPLE, len(chosen))))
    print(f"{len(project.calls)} reductions, of which {len(chosen)} are dropped in turn")
    report = Report()
    for index in chosen:
        report.case(f"without {project.place(index)}",
                    lambda: is_caught(project, index, text, plain))
    report.end()


if __name__ == "__main__":
    main()
