"""Single-device parity and speed on a machine with a device and without Titan.

    device.py pack DIR [--target cpu]    writes projects, a text and run.sh
    DIR/run.sh RESULTS                   there: builds and runs them all (bash, cmake, ninja, nvcc, torch)
    device.py judge RESULTS              here: parity with PyTorch, and the measurements

The projects contain the libraries of the build that packs them. If the other machine has another processor,
pack with a build for x86-64-v3 (-DTITAN_MARCH=x86-64-v3, TITAN_BUILD=...). --target cpu tests all of this
without a device.
"""

import argparse
import json
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from run import OUT, PROGRAMS, SEED, TEXT_BYTES, Case
from titan import ROOT, TITANC, Report, call, precision, require_titanc, write_text

PARITY = [Case(model, dtype) for model in ("llama3", "gpt2")
          for dtype in ("float64", "float32", "bfloat16")]
SPEED = [(program, dtype) for program in ("llama_134m", "gpt2_124m")
         for dtype in ("float32", "bfloat16")]
TIMED, UNTIMED = 20, 5  # steps, and the warm-up steps among them


def emit(source: Path, train: str, dtype: str, folder: Path, target: str) -> None:
    """Emits the project `folder` and moves its libraries to `lib`, the folder that all projects share."""
    call([TITANC, "build", source, "--train", train, "--target", target, "--emit=project",
          "-o", folder, *precision(dtype)])
    shared = folder.parents[1] / "lib"
    if shared.exists():
        shutil.rmtree(folder / "lib")
    else:
        shutil.move(folder / "lib", shared)


def pack(folder: Path, target: str) -> None:
    """Writes all projects, their list (`projects.txt`), the text, the seed and run.sh to `folder`."""
    require_titanc()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "projects").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("device.sh"), folder / "run.sh")
    write_text(folder / "text.txt", TEXT_BYTES)
    lines = []
    for case in PARITY:
        name = case.folder.name
        emit(PROGRAMS / f"{case.model}.titan", "parity", case.dtype, folder / "projects" / name,
             target)
        lines.append(f"{name} {case.model} {case.steps}")
    for program, dtype in SPEED:
        name = f"{program}-{dtype}"
        emit(ROOT / "bench/programs" / f"{program}.titan", "bench", dtype,
             folder / "projects" / name, target)
        lines.append(f"{name} {program} {TIMED}")
    (folder / "projects.txt").write_text("\n".join(lines) + "\n")
    (folder / "seed").write_text(f"{SEED}\n")


def judge(results: Path) -> None:
    """Compares each result with PyTorch, as parity/run.py does with its own single-process runs, and prints the
    measured rates."""
    text = write_text(OUT / "text.txt", TEXT_BYTES)
    report = Report()
    for case in PARITY:
        shutil.rmtree(case.folder, ignore_errors=True)
        if (results / case.folder.name).exists():
            shutil.copytree(results / case.folder.name, case.folder / "one")
        report.case(f"{case.folder.name} against PyTorch",
                    lambda: case.against_reference(text) if (case.folder / "one").exists()
                    else (False, "    it did not run"))
    for program, dtype in SPEED:
        rows = results / f"{program}-{dtype}" / "metrics.jsonl"
        if rows.exists():
            rates = [json.loads(line)["tokens_per_second"] for line in rows.read_text().splitlines()]
            print(f"{program} {dtype}: {statistics.median(rates[UNTIMED:]):,.0f} tokens/s, median of "
                  f"{len(rates) - UNTIMED} steps")
    report.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=["pack", "judge"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="cuda", choices=["cpu", "cuda"])
    parser.add_argument("-v", action="store_true", help="show the tables of what passed too")
    arguments = parser.parse_args()
    if arguments.command == "pack":
        pack(arguments.folder, arguments.target)
    else:
        judge(arguments.folder)


if __name__ == "__main__":
    main()
