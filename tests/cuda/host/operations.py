"""Every operation on generated cases (tests/ops), on the emulated device, compared with the interpreter."""

import json
import math
import subprocess
from pathlib import Path

import numpy as np

from emulated import BUILD, OUT, compile_device, link
from titan import call

BIN = BUILD / "bin"
CASES = ["--large", "--count=4"]
NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i1": np.bool_}
TOLERANCE = {"f64": 1e-12, "f32": 2e-6, "bf16": 1e-2}


def to_bytes(tensor) -> bytes:
    values = np.array(tensor["values"], dtype=np.float64)
    if tensor["type"] == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return values.astype(NUMPY[tensor["type"]]).tobytes()


def from_bytes(data: bytes, kind: str) -> np.ndarray:
    if kind == "bf16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(data, NUMPY[kind])


def emit(folder: Path, target: str = "cuda") -> Path:
    """All cases as one source, with one program each."""
    folder.mkdir(parents=True, exist_ok=True)
    module, planned, source = (folder / name for name in ("cases.mlir", "planned.mlir", "cases.cu"))
    module.write_text(call([BIN / "titan-check-ops", "--module", *CASES]))
    call([BIN / "titan-opt", "--titan-plan-memory", module, "-o", planned])
    call([BIN / "titan-translate", f"--titan-to-{target}", planned, "-o", source])
    return source


def describe(folder: Path) -> list:
    """The cases; their inputs are written to files."""
    cases, seen = [], {}
    for line in call([BIN / "titan-check-ops", "--describe", *CASES]).splitlines():
        case = json.loads(line)
        name = case["op"].removeprefix("titan.")
        case["name"] = f"{name}_{seen.setdefault(name, 0)}"
        seen[name] += 1
        for i, operand in enumerate(case["operands"]):
            (folder / f"{case['name']}.{i}.in").write_bytes(to_bytes(operand))
        cases.append(case)
    return cases


def deviation(folder: Path, case) -> str | None:
    """The error of a case's results, or None."""
    for i, wanted in enumerate(case["results"]):
        file = folder / f"{case['name']}.{i}.out"
        if not file.exists():
            return f"result {i} is not there"
        got = from_bytes(file.read_bytes(), wanted["type"]).astype(np.float64)
        want = np.array(wanted["values"], dtype=np.float64)
        off = math.sqrt(((got - want) ** 2).sum()) / (math.sqrt((want ** 2).sum()) + 1e-3)
        if not off <= TOLERANCE.get(wanted["type"], 0):
            return f"result {i} deviates by {off:.3g}"
    return None


def run(exe: Path, folder: Path, cases: list) -> tuple[bool, str]:
    for file in folder.glob("*.out"):
        file.unlink()
    result = subprocess.run([exe, folder], capture_output=True, text=True, timeout=300)
    wrong = [f"    {case['name']}: {text}" for case in cases
             if (text := deviation(folder, case)) is not None]
    return (result.returncode == 0 and not wrong,
            "\n".join([f"    {len(cases)} cases, {len(wrong)} wrong", *wrong[:20],
                       "    " + result.stderr.strip()[-600:]]))


def check() -> tuple[bool, str]:
    folder = OUT / "operations"
    exe = link([compile_device(emit(folder))], folder / "cases", "libcuda-host-programs.a")
    return run(exe, folder, describe(folder))


if __name__ == "__main__":
    good, text = check()
    print(text)
