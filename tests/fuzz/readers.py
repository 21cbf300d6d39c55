#!/usr/bin/env python3
"""Fuzzes the readers of data files: .npy, .safetensors, the .idx of tokens, and the index of several .safetensors.

    readers.py --program build/bin/fuzz-readers [--seconds 10]

Each reader is fuzzed for the given time, starting from valid files. Exit status 1 on a finding, which is printed.
"""

import argparse
import io
import struct
import sys
import tempfile
from pathlib import Path

import numpy

from libfuzzer import fuzz

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
    """Index files, each after the size of its token file in four bytes."""
    files = []
    for code, width, lengths, documents in ((1, 1, [3, 2], [0, 1, 2]), (8, 2, [4], [0, 1]), (5, 8, [], [0])):
        offsets = [width * sum(lengths[:i]) for i in range(len(lengths))]
        files.append(struct.pack("<I", width * sum(lengths)) + b"MMIDIDX\0\0" +
                     struct.pack("<QBQQ", 1, code, len(lengths), len(documents)) +
                     struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(lengths)}q", *offsets) +
                     struct.pack(f"<{len(documents)}q", *documents))
    return files


def shards() -> list[bytes]:
    return [b'{"metadata":{"total_size":8},"weight_map":{"a.b":"model-00001-of-00002.safetensors"}}',
            b'{"weight_map":{}}']


READERS = (npy, safetensors, index, shards)


def passes(program: Path, number: int, seconds: int, scratch: Path) -> bool:
    reader = READERS[number]
    scratch.mkdir()
    count, finding = fuzz(program, [bytes([number]) + file for file in reader()], scratch / "corpus", scratch, seconds,
                          4096)
    print(f"{reader.__name__}: {count} inputs, {'a finding' if finding else 'no finding'}\n{finding}".rstrip(),
          flush=True)
    # Without executed inputs, nothing was tested.
    return not finding and count > 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bin/fuzz-readers")
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results = [passes(arguments.program, number, arguments.seconds, Path(scratch) / str(number))
                   for number in range(len(READERS))]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
