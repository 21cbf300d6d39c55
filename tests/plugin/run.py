"""Installs Titan as a package, and extends it by a plugin that uses only the installed files.

    run.py [-v] [NAME...]

Builds examples/plugin against the installation (find_package(Titan)), and uses the plugin's pass and
operation with the installed tools. The pass creates the operation, which is then differentiated, sharded,
fused with Titan's operations, emitted, compiled and trained.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "parity"))
from titan import BUILD, ROOT, Failed, Launch, Report, call, write_text  # noqa: E402

OUT = BUILD / "tests/plugin"
PREFIX = OUT / "prefix"
LIBRARY = OUT / "build/libsoftplus.so"
PROGRAM = ROOT / "examples/plugin/softplus.titan"
LOAD_PASSES = [f"--load-pass-plugin={LIBRARY}"]
RAISE = "--insert-pass=after:model=raise-softplus"
LOAD_DIALECT = f"--load-dialect-plugin={LIBRARY}"
IN_FLOAT64 = [word for part in ("params", "compute") for word in ("--set", f"precision.{part}=f64")]


def tool(name: str) -> Path:
    return PREFIX / "bin" / name


def install():
    shutil.rmtree(OUT, ignore_errors=True)
    call(["cmake", "--install", BUILD, "--prefix", PREFIX])
    return "shard" in call([tool("titan-opt"), "--list-phases"]), ""


def data_tool():
    """The installed Python program finds its package."""
    output = call([tool("titan-prepare"), "--help"], env={**os.environ, "TITAN_PYTHON": sys.executable})
    return "usage: titan-prepare" in output, output


def build():
    call(["cmake", "-S", ROOT / "examples/plugin", "-B", OUT / "build", "-DCMAKE_BUILD_TYPE=Release",
          f"-DTitan_DIR={PREFIX}/lib/cmake/Titan"])
    call(["cmake", "--build", OUT / "build", "-j", "2"])
    return LIBRARY.exists(), ""


def dump(run: str, *passes: str) -> Path:
    folder = OUT / run
    call([tool("titanc"), f"--dump-phases={folder}", "--train", run, *IN_FLOAT64, *LOAD_PASSES, *passes, PROGRAM])
    return folder


def raised():
    """The plugin's pass replaces log(1 + exp(x)) by the plugin's operation."""
    text = (dump("one", RAISE) / "00-model.mlir").read_text()
    return "softplus.softplus" in text and "titan.exp" in text, text  # cross-entropy contains exp


def gradients():
    """The gradients of a program with the operation agree with finite differences."""
    output = call([tool("titan-interpret"), LOAD_DIALECT, OUT / "one/01-gradient.mlir", "--program=train",
                 "--check-gradients"])
    return "agrees" in output and "DIFFERS" not in output, output


def partitioned():
    """After every phase, the program of two ranks computes the same as before the shard phase."""
    folder = dump("large", RAISE)
    output = ""
    for phase in sorted(folder.glob("*.mlir"))[2:]:
        output += call([tool("titan-interpret"), LOAD_DIALECT, phase, "--program=train", "--float64",
                      f"--compare={folder}/01-gradient.mlir"])
    return output.count("equal:") == len(list(folder.glob("*.mlir"))) - 2, output


def fused():
    """A fused region contains the operation, and the loop of the region contains its formula."""
    text = (dump("large", RAISE) / "03-fuse.mlir").read_text()
    regions = [part.split("titan.yield")[0] for part in text.split("titan.fused ")[1:]]
    source = OUT / "fused.cpp"
    call([tool("titanc"), "build", "--emit", "cpp", "-o", source, "--train", "large", *LOAD_PASSES, RAISE, PROGRAM])
    code = source.read_text()
    row = [line for line in code.splitlines() if "tm::min(" in line and "tm::log(" in line]
    return any("softplus.softplus" in region for region in regions) and bool(row), text + code


def same_in_titan_opt():
    """titan-opt with the plugin gives the same IR after the gradient phase as titanc."""
    model = OUT / "model.mlir"
    model.write_text(call([tool("titanc"), "--stop-after=model", "--mlir-print-debuginfo", "--train", "one",
                           *IN_FLOAT64, PROGRAM]))  # values are named by their locations
    ours = call([tool("titan-opt"), *LOAD_PASSES, RAISE, "--titan-phase-model", "--titan-phase-gradient", model])
    theirs = call([tool("titanc"), "--stop-after=gradient", "--train", "one", *IN_FLOAT64, *LOAD_PASSES, RAISE, PROGRAM])
    return ours.strip() == theirs.strip(), ours + theirs


def counted():
    """The pass counts what it made, as Titan's passes do."""
    command = [tool("titan-opt"), *LOAD_PASSES, "--pass-pipeline=builtin.module(raise-softplus)", "--titan-statistics",
               OUT / "model.mlir", "-o", "/dev/null"]
    counts = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return "raise-softplus numRaised 5" in counts, counts


def from_ir():
    """IR with the plugin's operation compiles to the program of the .titan file; titan-translate reads it, too."""
    folder = dump("large", RAISE)
    from_text = call([tool("titanc"), "build", "--emit", "cpp", "-o", "-", "--train", "large", *IN_FLOAT64, *LOAD_PASSES,
                      RAISE, PROGRAM])
    gradient = call([tool("titanc"), "build", "--emit", "cpp", "-o", "-", *LOAD_PASSES, folder / "01-gradient.mlir"])
    planned = call([tool("titan-translate"), LOAD_DIALECT, "--titan-to-cpp", folder / "05-memory.mlir"])
    return from_text == gradient == planned and "namespace train_" in planned, from_text


def losses(name: str, *flags: str) -> list[float]:
    """The losses of five steps of the run `large`, in a program that is built with `flags`."""
    exe, text = OUT / name, write_text(OUT / "text.txt", 2000)
    call([tool("titanc"), "build", PROGRAM, "--train", "large", "-o", exe, *flags])
    Launch(5, 7, 2).run(exe, text, OUT / f"{name}-run")
    rows = (OUT / f"{name}-run/metrics.jsonl").read_text().splitlines()
    found = [json.loads(row)["loss"] for row in rows]
    return [math.nan if loss is None else loss for loss in found]  # JSON has no NaN


def trained():
    """Large values overflow without the plugin, and train with it."""
    try:
        without = losses("without")
    except Failed:
        without = [math.nan]
    with_it = losses("with", *LOAD_PASSES, RAISE)
    return (all(map(math.isfinite, with_it)) and len(with_it) == 5
            and not all(map(math.isfinite, without))), f"{without} {with_it}"


def without_build_environment():
    """An installation whose build environment is gone uses the LibTorch of Python, and programs of two processes run."""
    toolchain = PREFIX / "lib/titan-runtime.json"
    text = toolchain.read_text()
    built = json.loads(text)["torch"]
    packages = str(Path(built).parents[1])
    environment = {**os.environ, "TITAN_PYTHON": sys.executable}
    environment.pop("TITAN_TORCH", None)
    exe = OUT / "moved"
    try:
        toolchain.write_text(text.replace(packages, "/gone/site-packages"))
        call([tool("titanc"), "build", "-O", "1", PROGRAM, "--train", "large", "-o", exe, *LOAD_PASSES, RAISE], env=environment)
    finally:
        toolchain.write_text(text)
    Launch(2, 7, 2).run(exe, write_text(OUT / "text.txt", 2000), OUT / "moved-run")
    return "/gone" not in call(["readelf", "-d", exe]), packages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("-v", action="store_true", help="show the details of passed cases too")
    arguments = parser.parse_args()
    report = Report()
    for run in (install, data_tool, build, raised, gradients, partitioned, fused, same_in_titan_opt, counted,
                from_ir, trained, without_build_environment):
        name = run.__name__.replace("_", " ")
        if all(part in name for part in arguments.names):
            report.case(name, run)
    report.end()


if __name__ == "__main__":
    main()
