"""The CUDA target without a device: emitted projects compile with nvcc and link.

    run.py [-v] [NAME...]

Every example is emitted as a CUDA project, which must build by itself and link against CUDA's runtime,
cuBLAS, NCCL and LibTorch for CUDA. The resulting program must reach the search for a device.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from titan import ROOT, TITANC, call, try_examples

OUT = ROOT / "out" / "cuda"
LIBRARIES = ["libcudart", "libcublas", "libnccl", "libtorch_cpu", "libtorch_cuda"]


def try_project(source: Path, text: Path, arguments):
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
    lines = result.stderr.strip().splitlines()
    # 0 with a device; without one, or with too few processes, an error message of Titan.
    good = result.returncode in (0, 1) and (result.returncode == 0 or bool(lines))
    return good, f"    exit status {result.returncode}: {' '.join(lines)[:300]}"


if __name__ == "__main__":
    try_examples(__doc__, OUT, try_project)
