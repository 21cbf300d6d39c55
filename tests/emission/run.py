"""Emitted programs compile, whatever names, sizes and texts they have.

    run.py [--all] [--seed N] [--count N] [--cuda] [--object] [-v] [FILE...]

Random programs of adversary.py are emitted as C++ and checked by `g++ -fsyntax-only`, several at once and with
precompiled headers. Emitted files must contain only printable ASCII and line ends. No header that emitted
programs include may define a macro or a name that the emitter could derive from a user's identifier. If FILEs
are given, they are tried instead of drawn programs. `--object` compiles to object files with the options of
titanc, as `--all` does with some of its programs, because code generation of g++ can fail, too. `--cuda`
compiles CUDA C++ with nvcc instead.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from adversary import draw

sys.path.append(str(Path(__file__).resolve().parents[1] / "parity"))
from titan import BUILD, CORES, TITANC, require_titanc  # noqa: E402

OUT = BUILD / "tests/emission"
TOOLS = json.loads((BUILD / "lib/titan-runtime.json").read_text())
INCLUDES = [f"-I{path}" for path in TOOLS["include"]]
HEADERS = '#include "titan/runtime/kernel_loops.h"\n#include "titan/runtime/program_table.h"\n'
# Identifiers that a user's name may become (compiler/emission/Names.h).
OF_USERS = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*_")
# Messages of verifiers of the IR: the checker should have refused the program, or the compiler is wrong.
INTERNAL = re.compile(r"exchange allocations|holds another|in another function|occurs twice|'(titan|dist)\.\w+' op|T0607")


@dataclass
class Verdict:
    name: str
    word: str  # compiled, refused, FAILED
    text: str = ""


def preprocess(*flags: str) -> str:
    command = [TOOLS["compiler"], *TOOLS["compile"], *INCLUDES, "-E", "-P", *flags, "-x", "c++", "-"]
    return subprocess.run(command, input=HEADERS, capture_output=True, text=True, check=True).stdout


def list_macros() -> list[str]:
    return sorted(set(re.findall(r"^#define (\w+)", preprocess("-dM"), re.M)))


def check_headers(macros: list[str]) -> Verdict:
    """No header contains a name that the emitter could derive from a user's identifier."""
    words = set(re.findall(r"\b[A-Za-z]\w*\b", preprocess())) | set(macros)
    met = sorted(word for word in words if OF_USERS.fullmatch(word))
    text = f"headers have names that end as users' do: {', '.join(met)}" if met else ""
    return Verdict("headers", "FAILED" if met or len(words) < 1000 else "compiled", text)


class Compiler:
    """Compiles emitted files by g++, with or without code generation, or by nvcc."""

    def __init__(self, cuda: bool):
        self.suffix = ".cu" if cuda else ".cpp"
        self.target = ["--target", "cuda"] if cuda else []
        self.objects = [TOOLS["compiler"], *TOOLS["compile"], *INCLUDES, "-o", "/dev/null", "-c"]
        if cuda:
            tools = TOOLS["cuda"]
            flags = [f for f in tools["compile"] if f != "-O3"]
            self.syntax = [tools["nvcc"], *flags, "--extended-lambda", "--expt-relaxed-constexpr", *INCLUDES,
                           *(f"-I{path}" for path in tools["include"]), "--cuda", "-o", "/dev/null"]
            return
        header = OUT / "headers.h"
        header.write_text(HEADERS)
        flags = [flag for flag in TOOLS["compile"] if flag != "-O3"]
        subprocess.run([TOOLS["compiler"], *flags, *INCLUDES, "-x", "c++-header", header,
                        "-o", f"{header}.gch"], check=True)
        self.syntax = [TOOLS["compiler"], *flags, *INCLUDES, "-include", header, "-fsyntax-only",
                       "-Wcomment", "-Wtrigraphs", "-Wbidi-chars=any", "-Werror"]

    def check(self, file: Path, to_object: bool) -> Verdict:
        source = OUT / (file.stem + self.suffix)
        command = [TITANC, "build", file, "--emit=cpp", *self.target, "-o", source]
        emitted = subprocess.run(command, capture_output=True)
        stderr = emitted.stderr.decode(errors="replace")
        if emitted.returncode == 1 and not INTERNAL.search(stderr):
            return Verdict(file.name, "refused", stderr)
        if emitted.returncode:
            return Verdict(file.name, "FAILED", f"titanc: status {emitted.returncode}\n{stderr}")
        foreign = set(source.read_bytes()) - set(b"\n") - set(range(0x20, 0x7f))
        if foreign:
            return Verdict(file.name, "FAILED", f"bytes in emitted source: {sorted(foreign)}")
        command = [*(self.objects if to_object else self.syntax), source]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode:
            return Verdict(file.name, "FAILED", f"{source}:\n{compiled.stderr[:2000]}")
        source.unlink()
        return Verdict(file.name, "compiled")


def draw_files(seed: int, count: int, macros: list[str]) -> list[Path]:
    files = []
    for number in range(seed, seed + count):
        files.append(OUT / f"{number}.titan")
        files[-1].write_text(draw(number, macros), encoding="utf-8", newline="")
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--all", action="store_true", help="2,000 programs instead of 120")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--object", action="store_true", help="compile to object files, as titanc does")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("-v", action="store_true", help="say why programs were refused")
    options = parser.parse_args()
    require_titanc()
    OUT.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    macros = list_macros()
    count = options.count or (2000 if options.all else 120)
    files = options.files or draw_files(options.seed, count, macros)
    compiler = Compiler(options.cuda)
    every = 1 if options.object else 20 if options.all else len(files) + 1
    with ThreadPoolExecutor(CORES) as pool:
        verdicts = list(pool.map(lambda i: compiler.check(files[i], i % every == every - 1),
                                 range(len(files))))
    verdicts.append(check_headers(macros))
    words = collections.Counter(verdict.word for verdict in verdicts)
    for verdict in verdicts:
        if verdict.word == "FAILED":
            print(f"FAILED {verdict.name}\n{verdict.text}")
    if options.v:
        reasons = collections.Counter(line for verdict in verdicts if verdict.word == "refused"
                                      for line in re.findall(r"error: (.*)", verdict.text)[:1])
        for reason, times in reasons.most_common():
            print(f"{times:5} {reason}")
    # If the checker refuses most programs, the emitter is not tested.
    few = words["compiled"] < 0.6 * len(verdicts)
    print(f"{words['compiled']} out of {len(verdicts)} passed, {words['refused']} refused, "
          f"{words['FAILED']} FAILED, {time.perf_counter() - begun:.0f} s{', too few' if few else ''}")
    sys.exit(1 if few or words["FAILED"] else 0)


if __name__ == "__main__":
    main()
