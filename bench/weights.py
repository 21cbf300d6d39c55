"""Times of reading weights of other software, against copying as many bytes, and against PyTorch.

    weights.py [--type f32|f64|bf16] [--threads N...] [--rounds N] [--build DIR] [--folder DIR]

Safetensors files in bf16, in the page cache, have matrices [12288, 4096] for one layout of a parameter each: as stored,
transposed, a third of the rows (fused projections), and rotary pairs from halves. `bench-weights` reads them as a
program does. A copy reads and writes as many bytes, by the same threads, from the file to the same kind of
memory. PyTorch loads the tensors, converts them and makes them contiguous in the layout. Prints a Markdown table:
seconds to fresh memory, which the system first clears, and to memory in use; and the share of the copy rate. Seconds are
those of all processors, system included, so other work on the machine does not count.

A second table compares reading files that the system has not cached, in gigabytes a second by the clock, with
sequential reads of them. --folder chooses the disk.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

ROOT = Path(__file__).resolve().parents[1]
SHAPE, HALF = (12288, 4096), 64  # of a stored matrix [out, in], and of half a head
LAYOUTS = {  # the parameter of a stored matrix w; the layouts of bench-weights (makeEntry)
    "plain": lambda w: w,
    "transposed": lambda w: w.t(),
    "fused": lambda w: w[SHAPE[0] // 3:SHAPE[0] // 3 * 2].t(),
    "interleaved": lambda w: w.view(-1, 2, HALF, SHAPE[1]).permute(3, 0, 2, 1),
}
TYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16}


def time_pytorch(path: Path, layout: str, dtype: torch.dtype) -> float:
    """Processor seconds in which PyTorch loads, converts and lays out all tensors, in memory that it allocates."""
    start = time.process_time()
    made = [LAYOUTS[layout](w).to(dtype, memory_format=torch.contiguous_format).contiguous()
            for w in load_file(path).values()]
    seconds = time.process_time() - start
    del made
    return seconds


def time_titan(build: Path, path: Path, kind: str, threads: int, rounds: int = 2) -> list[float]:
    """The numbers that bench-weights prints: bytes read and written, seconds of reading to fresh memory and to memory
    in use, and of copying to both."""
    done = subprocess.run([build / "bin" / "bench-weights", path, kind, str(rounds)], check=True, capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"})
    return [float(word) for word in done.stdout.split()[1:]]


def print_table(build: Path, files: dict[str, Path], kind: str, threads: int, rounds: int) -> None:
    torch.set_num_threads(threads)
    rows, peers = {layout: [] for layout in LAYOUTS}, {layout: [] for layout in LAYOUTS}
    for _ in range(rounds):  # in turns, since other work may run beside
        for layout, path in files.items():
            rows[layout].append(time_titan(build, path, kind, threads))
            peers[layout].append(time_pytorch(path, layout, TYPES[kind]))
    print(f"\nbf16 to {kind}, threads: {threads}\n")
    print("| layout | MB read, written | s fresh | of a copy | s in use | of a copy | PyTorch s | times ours |")
    print("|---|---|---|---|---|---|---|---|")
    for layout in LAYOUTS:
        read, written, fresh, used, copy, copy_used = (min(column) for column in zip(*rows[layout]))
        theirs = min(peers[layout])
        print(f"| {layout} | {read / 1e6:.0f}, {written / 1e6:.0f} | {fresh:.3f} | {copy / fresh:.2f} | {used:.3f} "
              f"| {copy_used / used:.2f} | {theirs:.3f} | {theirs / fresh:.1f} |", flush=True)


def measure_sequential_reads(path: Path) -> float:
    """Gigabytes a second of reading the file from its disk."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    buffer, start = bytearray(1 << 23), time.perf_counter()
    with open(file, "rb", buffering=0) as stream:
        while stream.readinto(buffer):
            pass
    return path.stat().st_size / 1e9 / (time.perf_counter() - start)


def print_cold_table(build: Path, files: dict[str, Path], kind: str, rounds: int) -> None:
    print(f"\nbf16 to {kind}, from the disk\n\n| layout | GB/s read | GB/s of sequential reads | ratio |\n|---|---|---|---|")
    for layout, path in files.items():
        own, disk = [], []
        for _ in range(rounds):
            done = subprocess.run([build / "bin" / "bench-weights", path, kind, "cold"], check=True, capture_output=True, text=True)
            _, size, seconds = done.stdout.split()
            own.append(int(size) / 1e9 / float(seconds))
            disk.append(measure_sequential_reads(path))
        print(f"| {layout} | {max(own):.2f} | {max(disk):.2f} | {max(own) / max(disk):.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, os.cpu_count()])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--folder", type=Path, help="of the files")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        torch.manual_seed(1)
        files = {layout: Path(folder) / f"{layout}.safetensors" for layout in LAYOUTS}
        for layout, path in files.items():
            save_file({f"{layout}.{i}": torch.randn(SHAPE).bfloat16() for i in range(2)}, path)
        for threads in arguments.threads:
            print_table(arguments.build, files, arguments.type, threads, arguments.rounds)
        print_cold_table(arguments.build, files, arguments.type, arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())
