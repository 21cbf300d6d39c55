"""Builds CUDA programs that run on a CPU (README.md)."""

import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "parity"))
from titan import BUILD, ROOT, TITANC, call, precision, lock_product

HERE = Path(__file__).resolve().parent
OUT = ROOT / "out" / "cuda-host"
FOLDER = BUILD / "tests" / "cuda" / "host"
RUNTIME = json.loads((BUILD / "lib" / "titan-runtime.json").read_text())
# Like nvcc: the device keywords are predefined. Every access of a kernel calls Accesses.cpp.
DEVICE = ["-x", "c++", "-std=c++20", "-O0", "-g1", "-D__CUDACC__", "-D__CUDA_ARCH__=900", "-include",
          "cuda_runtime.h", "-fsanitize=thread"]
CACHE = [shutil.which("ccache")] if shutil.which("ccache") else []


def compile_device(source: Path, folder: Path = FOLDER) -> Path:
    """The object of an emitted source; `folder` has the header with translated launches."""
    result = source.with_suffix(".o")
    includes = [folder / "include", HERE / "include", *RUNTIME["include"]]
    call([*CACHE, RUNTIME["compiler"], *DEVICE, *[f"-I{i}" for i in includes], "-c", source, "-o", result],
         env={**os.environ, "CCACHE_NOHASHDIR": "1"})
    return result


def compile_host(source: Path, result: Path, includes: list[Path] = ()) -> Path:
    """The object of a host source, compiled with the emulation's headers."""
    folders = [HERE / "include", *includes, *RUNTIME["include"]]
    call([*CACHE, RUNTIME["compiler"], "-std=c++20", "-DFMT_HEADER_ONLY", *[f"-I{f}" for f in folders],
          "-c", source, "-o", result])
    return result


def captured(program: Path) -> list[Path]:
    """The objects of a program whose steps are captured and launched as graphs: CaptureSteps.cpp."""
    renamed = program.with_suffix(".renamed.o")
    call(["objcopy", "--redefine-sym", "_ZN5titan2rt7programEPKl=emittedProgram", program, renamed])
    return [renamed, compile_host(HERE / "CaptureSteps.cpp", program.with_suffix(".capture.o"))]


def link(objects: list[Path], exe: Path, library: str = "libtitan_runtime_main.a",
         instead_of: str = "") -> Path:
    """Links like titanc for CUDA: the CUDA library as a whole, before the CPU library. `library` has main().
    `instead_of` names a library object that the objects replace."""
    host = exe.with_suffix(".a")
    shutil.copy(BUILD / "lib" / "libcuda-host.a", host)
    if instead_of:
        call(["ar", "d", host, instead_of])
    rest = [word for word in RUNTIME["link"] if not word.endswith("libtitan_runtime_main.a")]
    call([RUNTIME["compiler"], *objects, BUILD / "lib" / library, "-Wl,--whole-archive", host,
          "-Wl,--no-whole-archive", *rest, "-o", exe])
    host.unlink()
    return exe


def emit(program: Path, train: str, dtype: str, target: str, source: Path, settings=()) -> Path:
    source.parent.mkdir(parents=True, exist_ok=True)
    call([TITANC, "build", program, "--train", train, "--target", target, "--emit=cpp", "-o", source,
          *precision(dtype), *(word for setting in settings for word in ("--set", setting))])
    return source


def build_for_device(program: Path, train: str, dtype: str, exe: Path, settings=()) -> Path:
    source = emit(program, train, dtype, "cuda", exe.with_suffix(".cu"), settings)
    return link([compile_device(source)], exe)
