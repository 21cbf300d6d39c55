#!/usr/bin/env python3
"""Fuzzes the readers of data files: .npy, .safetensors, and the .idx of tokens.

    readers.py --program build/bin/fuzz-readers [--seconds 10]

Each reader is fuzzed for that long, from files that are valid. An input may take 10 s and 1 GB. Exit status 1 on a
finding, which is printed.
"""

import argparse
import io
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]


def npy() -> list[bytes]:
    files = []
    for array in (numpy.arange(6, dtype=numpy.int16).reshape(2, 3), numpy.zeros((0, 4)), numpy.array(True),
                  numpy.ones((3, 1, 2), numpy.float16)):
        file = io.BytesIO()
        numpy.save(file, array)
        files.append(file.getvalue())
    return files


def safetensors() -> list[bytes]:
    header = (b'{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[3],'
              b'"data_offsets":[8,11]},"__metadata__":{"format":"pt"}}')
    return [struct.pack("<Q", len(header)) + header + bytes(11), struct.pack("<Q", 2) + b"{}"]


def index() -> list[bytes]:
    """After the size of the token file."""
    files = []
    for code, width, lengths, documents in ((1, 1, [3, 2], [0, 1, 2]), (8, 2, [4], [0, 1]), (5, 8, [], [0])):
        offsets = [width * sum(lengths[:i]) for i in range(len(lengths))]
        files.append(struct.pack("<I", width * sum(lengths)) + b"MMIDIDX\0\0" +
                     struct.pack("<QBQQ", 1, code, len(lengths), len(documents)) +
                     struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(lengths)}q", *offsets) +
                     struct.pack(f"<{len(documents)}q", *documents))
    return files


READERS = (npy, safetensors, index)


def fuzz(program: Path, number: int, seconds: int, scratch: Path) -> bool:
    """Whether there is no finding."""
    reader = READERS[number]
    corpus, seeds = scratch / f"corpus-{number}", scratch / f"seeds-{number}"
    for folder in (corpus, seeds):
        folder.mkdir()
    for i, file in enumerate(reader()):
        (seeds / str(i)).write_bytes(bytes([number]) + file)
    done = subprocess.run([program, corpus, seeds, f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10",
                           "-rss_limit_mb=1024", "-print_final_stats=1", f"-artifact_prefix={scratch}/finding-"],
                          cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    executed = re.search(r"number_of_executed_units: *(\d+)", done.stdout)
    print(f"{reader.__name__}: {executed.group(1) if executed else 'no'} inputs, "
          f"{'a finding' if done.returncode else 'no finding'}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:])
        for finding in scratch.glob("finding-*"):
            print(f"the input: {finding.read_bytes()!r}")
    # Without executed inputs, nothing was tested.
    return done.returncode == 0 and executed is not None and int(executed.group(1)) > 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bin/fuzz-readers")
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results = [fuzz(arguments.program.resolve(), number, arguments.seconds, Path(scratch))
                   for number in range(len(READERS))]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
