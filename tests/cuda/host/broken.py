"""Mutated sources: the emulation or the comparison must detect each mutation."""

from functools import partial
from pathlib import Path

import attention
import launches
import titan
from compare import compare
from emulated import DEVICE, HERE, OUT, ROOT, RUNTIME, captured, compile_device, compile_host, emit, link
from titan import Failed, Launch, call

CUDA = ROOT / "runtime" / "lib" / "cuda"
HEADER = ROOT / "runtime" / "include" / "titan" / "runtime" / "kernel_cuda.h"
PROGRAM = HERE / "gates.titan"

# The emitted division of softmax over heads. After it, each thread reads the weights of all heads.
WEIGHTS = "y_1_[row * heads_ + i] = e_[row * heads_ + i] / y_3_;\n    }\n"
WITHOUT_BARRIER = WEIGHTS + "    __syncthreads();\n", WEIGHTS


def replaced(text: str, old: str, new: str, count: int = 1) -> str:
    if old not in text:
        raise Failed(f"nothing to break: {old!r} is not there")
    return text.replace(old, new, count)


# Each of the following functions breaks one source. It returns the objects that replace a library object, and the name
# of that object ("": none).
def in_emission(old: str, new: str, folder: Path):
    source = folder / "program.cu"
    # The single-process program is last.
    general, mark, alone = source.read_text().partition("namespace shard_1_ {")
    source.write_text(general + mark + replaced(alone, old, new, -1))
    return [compile_device(source)], ""


def in_header(old: str, new: str, folder: Path, capture=False):
    header = folder / "include" / "titan" / "runtime" / "kernel_cuda.h"
    header.parent.mkdir(parents=True)
    header.write_text(replaced(launches.translate(HEADER.read_text()), old, new))
    program = compile_device(folder / "program.cu", folder)
    return captured(program) if capture else [program], ""


def in_library(name: str, old: str, new: str, folder: Path, capture=False):
    source = folder / name
    source.write_text(replaced((CUDA / name).read_text(), old, new))
    broken = compile_host(source, source.with_suffix(".o"), [CUDA, CUDA.parent])
    program = compile_device(folder / "program.cu")
    return [broken, *(captured(program) if capture else [program])], f"{name}.o"


def unchanged(folder: Path):
    return [compile_device(folder / "program.cu")], ""


def program_differs(folder: Path, make) -> tuple[bool, str]:
    """Whether two steps of a small program give other results than on the CPU, or fail."""
    folder.mkdir(parents=True)
    text = titan.write_text(folder / "text.txt", 3000)
    emit(PROGRAM, "gates", "float32", "cuda", folder / "program.cu")
    titan.build(PROGRAM, "gates", "float32", folder / "processor")
    objects, instead_of = make(folder)
    exe = link(objects, folder / "device", instead_of=instead_of)
    Launch(2).run(folder / "processor", text, folder / "on-processor")
    try:
        Launch(2).run(exe, text, folder / "on-device")
    except Failed as failure:
        return True, "    " + str(failure).strip().splitlines()[-1].strip()
    result = compare(folder / "on-device", folder / "on-processor", "float32")
    return not result.passed(), result.table()


def unchanged_agrees(folder: Path) -> tuple[bool, str]:
    differs, text = program_differs(folder, unchanged)
    return not differs, text


def attention_differs(old: str, new: str, folder: Path) -> tuple[bool, str]:
    folder.mkdir(parents=True)
    source = folder / "Attention.cpp"
    source.write_text(replaced(launches.translate((CUDA / "Attention.cu").read_text()), old, new))
    call([RUNTIME["compiler"], *DEVICE, *[f"-I{i}" for i in [HERE / "include", CUDA, *RUNTIME["include"]]],
          "-c", source, "-o", folder / "Attention.o"])
    good, text = attention.check(folder, [folder / "Attention.o"], "Attention.cpp.o")
    return not good, text


def flash_differs(old: str, new: str, folder: Path) -> tuple[bool, str]:
    folder.mkdir(parents=True)
    source = folder / "FlashAttention.cpp"
    source.write_text(replaced((CUDA / source.name).read_text(), old, new))
    broken = compile_host(source, source.with_suffix(".o"), [CUDA, CUDA.parent])
    good, text = attention.check(folder, [broken], f"{source.name}.o")
    return not good, text


def cases():
    yield "nothing broken", partial(unchanged_agrees, OUT / "unchanged")
    programs = {
        "an emitted stride": partial(in_emission, "[row * vocab_ + i] = ", "[row + i] = "),
        "a barrier of emitted rows": partial(in_emission, *WITHOUT_BARRIER),
        "a barrier of reduceBlock": partial(
            in_header, "values[threadIdx.x] = value;\n  __syncthreads();", "values[threadIdx.x] = value;"),
        "a thread's first element": partial(in_header, "blockDim.x + threadIdx.x", "blockDim.x"),
        "which stream clears memory": partial(
            in_library, "CudaDevice.cpp", "cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), queue)",
            "cudaMemset(memory, 0, static_cast<size_t>(bytes))"),
        "captured: what products work in": partial(
            in_library, "CudaAbi.cpp",
            "checkBlas(cublasSetWorkspace(handle, memory, kBlasWorkspaceBytes),\n              ctx);", "",
            capture=True),
        "captured: when cuBLAS begins": partial(
            in_library, "CudaAbi.cpp", "cublasHandle_t handle = getHandle(ctx);\n  if (ctx.preparing)\n    return;",
            "if (ctx.preparing)\n    return;\n  cublasHandle_t handle = getHandle(ctx);", capture=True),
        "captured: when a kernel is loaded": partial(
            in_header, "cudaFuncGetAttributes(&attributes, kernel);", "", capture=True),
    }
    for i, (name, make) in enumerate(programs.items()):
        yield f"broken: {name}", partial(program_differs, OUT / f"broken-{i}", make)
    yield "broken: a stride of attention", partial(
        attention_differs, "k + offsetAt(row, key, s.k)", "k + offsetAt(row, key, s.v)",
        OUT / "broken-stride")
    flash = {
        "the alignment of the causal mask": ("std::min(s.keys, end + ahead)", "s.keys"),
        "a window's left bound": ("s.window - 1 + shift", "s.window - 1"),
        "gradients of keys that no query sees": (".zero_();", ";"),
        "the layout of the log-sum-exp": (".contiguous(), none", ", none"),
        "the order of sums": ("setDeterministicAlgorithms(true", "setDeterministicAlgorithms(false"),
    }
    for i, (name, change) in enumerate(flash.items()):
        yield f"broken: flash attention, {name}", partial(flash_differs, *change, OUT / f"broken-flash-{i}")
