"""Whether two safetensors files have tensors of the same names and shapes: same_tensors.py ONE OTHER"""

import json
import struct
import sys
from pathlib import Path


def shapes(path: str) -> dict:
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return {name: entry["shape"] for name, entry in json.loads(data[8 : 8 + length]).items()}


one, other = map(shapes, sys.argv[1:])
assert one == other, sorted(set(map(str, one.items())) ^ set(map(str, other.items())))
print(f"{len(one)} tensors of equal names and shapes")
