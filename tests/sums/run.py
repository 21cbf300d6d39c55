"""Checks the errors and the order of sums of many terms, on CPUs and on the emulated device (README.md).

    run.py [--all] [-v] [NAME...]

Without --all, sums have up to 2^22 terms on CPUs and 2^15 on the emulated device; with it, 2^24 and 2^17.
"""

import re
import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("cuda/host", "parity")]
import emulated  # noqa: E402
import gradients  # noqa: E402
from cases import ROWS, module, of_length  # noqa: E402
from titan import BUILD, ROOT, Report, call, read_arguments, lock_product  # noqa: E402

OUT = ROOT / "out" / "sums"
BIN = BUILD / "bin"
LENGTHS = [1, 2, 127, 128, 129, 1000, 1 << 15, 1 << 20, 1 << 22]
MOST = {"processor": 1 << 22, "device": 1 << 17}
LONGEST = {"processor": 1 << 22, "device": 1 << 15}
KINDS = ["equal", "positive", "alternating"]


def make_values(kind: str, count: int) -> np.ndarray:
    chance = np.random.default_rng(1)
    if kind == "equal":
        return np.full(count, 0.1, np.float32)
    values = chance.uniform(0.5, 1.5, count).astype(np.float32)
    return values if kind == "positive" else values * np.where(np.arange(count) % 2, -1, 1).astype(np.float32)


def write_inputs(folder: Path, kind: str, count: int) -> dict[str, np.ndarray]:
    """The files of which inputs are prefixes, and their contents."""
    folder.mkdir(parents=True, exist_ok=True)
    x = make_values(kind, count)
    contents = {"x": x, "w": np.ascontiguousarray(x[::-1]) if kind == "positive" else x,
                "rows": np.random.default_rng(2).integers(0, ROWS, count),
                "one": np.full(count, 1, np.int64)}
    for name, wide in (("narrow", "x"), ("narrow_w", "w")):
        bits = contents[wide].view(np.uint32) & 0xffff0000
        (folder / f"{name}.in").write_bytes((bits >> 16).astype(np.uint16).tobytes())
        contents[name] = bits.view(np.float32)
    for name in ("x", "w", "rows", "one"):
        (folder / f"{name}.in").write_bytes(contents[name].tobytes())
    return contents


def build(target: str, cases: list, folder: Path, includes: list[Path] = (), change=str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text, planned = folder / "cases.mlir", folder / "planned.mlir"
    source = folder / ("cases.cu" if target == "device" else "cases.cpp")
    text.write_text(module(cases))
    call([BIN / "titan-opt", "--titan-plan-memory", text, "-o", planned])
    call([BIN / "titan-translate", "--titan-to-" + ("cuda" if target == "device" else "cpp"), planned,
          "-o", source])
    source.write_text(change(source.read_text()))
    if target == "device":
        return emulated.link([emulated.compile_device(source)], folder / "cases", "libcuda-host-programs.a")
    runtime = emulated.RUNTIME
    exe = folder / "cases"
    call([*emulated.CACHE, runtime["compiler"], *runtime["compile"], *[f"-I{i}" for i in [*includes, *runtime["include"]]],
          "-c", source, "-o", exe.with_suffix(".o")])
    rest = [word for word in runtime["link"] if not word.endswith("libtitan_runtime_main.a")]
    call([runtime["compiler"], exe.with_suffix(".o"), BUILD / "lib" / "libprocessor-programs.a", *rest, "-o", exe])
    return exe


def run_programs(exe: Path, folder: Path, threads: int) -> None:
    call([exe, folder], env=emulated.os.environ | {
        "OMP_NUM_THREADS": str(threads), "TITAN_NUM_THREADS": str(threads)}, timeout=600)


def deviation(case, folder: Path, contents: dict[str, np.ndarray], largest: dict) -> str | None:
    """The error of a case's sums, or None."""
    given = []
    for file, kind in case.inputs.values():
        sizes = [int(word.split("=")[1]) for word in kind[kind.index("[") + 1:-2].split(",") if word]
        given.append(contents[file][:int(np.prod(sizes))].astype(np.float64))
    want, size = (np.asarray(values).reshape(-1) for values in case.expect(*given))
    got = np.frombuffer((folder / f"{case.name}.y.out").read_bytes(), np.float32).astype(np.float64)
    error = (abs(got - want) / np.maximum(size, 1e-30)).max()
    kind = case.name.rsplit("_", 1)[0]
    largest[kind] = max(largest.get(kind, 0), error)
    return None if error <= case.bound else f"{case.name}: {error:.2e}"


def check(target: str, kind: str, cases: list, count: int):
    folder = OUT / target
    exe = folder / "cases"
    with lock_product(exe):
        if not exe.exists():
            build(target, cases, folder)
    data = folder / kind
    contents = write_inputs(data, kind, 2 * count)
    run_programs(exe, data, 2 if target == "processor" else 1)
    largest: dict[str, float] = {}
    wrong = [text for case in cases if (text := deviation(case, data, contents, largest))]
    shown = ", ".join(f"{name} {error:.1e}" for name, error in sorted(largest.items()))
    return not wrong, f"    {len(cases)} sums; largest errors: {shown}\n    " + "\n    ".join(wrong)


def check_threads(cases: list, count: int):
    """Bitwise equal for any number of threads."""
    data = OUT / "processor" / "positive"
    exe = OUT / "processor" / "cases"
    write_inputs(data, "positive", 2 * count)
    results = []
    for threads in (1, 2, 4):
        run_programs(exe, data, threads)
        results.append([(data / f"{case.name}.y.out").read_bytes() for case in cases])
    other = [case.name for i, case in enumerate(cases) if len({result[i] for result in results}) > 1]
    return not other, f"    {len(cases)} sums with 1, 2 and 4 threads; other bits: {other}"


def check_broken():
    """With totals in f32, in the header and in emitted code, errors are detected."""
    folder = OUT / "broken"
    header = folder / "titan" / "runtime" / "blocked_sum.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "runtime" / "include" / "titan" / "runtime" / "blocked_sum.h").read_text()
    changed = text.replace("std::conditional_t<std::is_floating_point_v<T>, double, T>", "T")
    header.write_text(changed)
    cases = [case for case in of_length(1 << 20, 1 << 22) if "matrix" not in case.name]
    exe = build("processor", cases, folder, [folder],
                lambda source: re.sub(r"double (\w*total)", r"float \1", source))
    contents = write_inputs(folder / "equal", "equal", 1 << 23)
    run_programs(exe, folder / "equal", 2)
    found = [case.name for case in cases if deviation(case, folder / "equal", contents, {})]
    wanted = ("all", "columns3", "scale3", "table3", "one_bin", "rows", "fused_row", "fused_columns", "running",
              "batches", "middle", "around")
    missed = [name for name in wanted if f"{name}_{1 << 20}" not in found]
    return changed != text and not missed, f"    noticed: {found}\n    missed: {missed}"


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true", help="sums of 2^24 terms")


def main() -> None:
    arguments = read_arguments(__doc__, OUT, add_arguments)
    report = Report()
    for target in ("processor", "device"):
        most, longest = (size << (2 if arguments.all else 0) for size in (MOST[target], LONGEST[target]))
        lengths = [n for n in LENGTHS + [1 << 17, 1 << 24] if n <= longest]
        cases = [case for n in sorted(lengths) for case in of_length(n, most)]
        for kind in KINDS:
            name = f"{target}: {kind} terms, up to {longest} of them"
            report.cases([(name, partial(check, target, kind, cases, most))], arguments.names, at_once=1)
        if target == "processor":
            report.cases([("processor: bits and threads", partial(check_threads, cases, most))],
                         arguments.names)
    rest = [("gradients of a step with 131,072 equal positions, in 4 parts",
             partial(gradients.check, OUT, "parts", 1 << 17)),
            ("broken: totals in f32", check_broken)]
    report.cases(rest, arguments.names)
    report.end()


if __name__ == "__main__":
    main()
