"""The CUDA target without a device: emitted projects compile with nvcc and link.

    run.py [-v] [NAME...]

Every example is emitted as a project for CUDA, which must build by itself and be linked against
CUDA's runtime, cuBLAS, NCCL and LibTorch for CUDA; the program it makes must get as far as looking for a device.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from titan import ROOT, TITANC, Report, call, require_titanc, write_text

OUT = ROOT / "out" / "cuda"
LIBRARIES = ["libcudart", "libcublas", "libnccl", "libtorch_cpu", "libtorch_cuda"]


def try_project(source: Path, text: Path):
    project = OUT / source.stem
    call([TITANC, "build", source, "--target", "cuda", "--emit=project", "-o", project])
    build = project / "build"
    call(["cmake", "-G", "Ninja", "-S", project, "-B", build])
    call(["cmake", "--build", build])
    exe = build / source.stem
    linked = call(["ldd", exe])
    missing = [l for l in LIBRARIES if l not in linked]
    if missing or "not found" in linked:
        return False, f"    {exe} misses {missing}:\n{linked}"
    result = subprocess.run([exe, "--data", text, "--steps", "1", "--out", OUT / "run"],
                            capture_output=True, text=True, timeout=120)
    said = result.stderr.strip().splitlines()
    # 0 with a device; without one, or with too few processes, an error in one's own words.
    good = result.returncode in (0, 1) and (result.returncode == 0 or bool(said))
    return good, f"    exit status {result.returncode}: {' '.join(said)[:300]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("-v", action="store_true", help="show what the programs said")
    arguments = parser.parse_args()
    require_titanc()
    shutil.rmtree(OUT, ignore_errors=True)
    text = write_text(OUT / "text.txt", 100_000)
    report = Report()
    for source in sorted((ROOT / "examples").glob("*.titan")):
        if not arguments.names or source.stem in arguments.names:
            report.case(f"{source.name} as a CUDA project", lambda: try_project(source, text))
    report.end()


if __name__ == "__main__":
    main()
