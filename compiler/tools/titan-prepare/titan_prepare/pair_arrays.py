"""PREFIX.safetensors: preference pairs as arrays with one row for each pair, which programs map (docs/data.md)."""

import json
import struct

import numpy as np

from titan_prepare.errors import UserError
from titan_prepare.files import Folder, sync
from titan_prepare.indexed import LENGTH, TokenType, smallest_type

PAIRS_AT_ONCE = 1024
U8 = np.dtype("<u1")
NAMES = {"|u1": "U8", "<u2": "U16", "<i4": "I32"}  # of types, in the format


def write_pairs(folder: Folder, kind: TokenType, length: int | None) -> None:
    """The documents of the folder, which are chosen and rejected by turns, as packed samples of two documents. A row has
    the slots of two documents of `length` tokens, or those of the longest pair."""
    with folder.open("lengths") as file:
        lengths = np.memmap(file, LENGTH, "r").reshape(-1, 2)
    slots = 2 * (length - 1) if length else int(lengths.sum(1, dtype=np.int64).max()) - 2
    types = {"tokens": kind.numpy, "labels": kind.numpy, "positions": smallest_type(slots).numpy, "weights": U8,
             "documents": U8, "used": U8}
    sizes = [len(lengths) * slots * dtype.itemsize for dtype in types.values()]
    header = make_header(types, sizes, [len(lengths), slots])
    folder.remove("arrays")
    with folder.create("arrays") as file, folder.open("tokens") as tokens, folder.open("weights") as weights:
        file.write(header)
        file.truncate(len(header) + sum(sizes))
        for first in range(0, len(lengths), PAIRS_AT_ONCE):
            rows = rows_of(lengths[first:first + PAIRS_AT_ONCE], slots, tokens, weights, kind)
            at = len(header)
            for (name, dtype), size in zip(types.items(), sizes):
                file.seek(at + first * slots * dtype.itemsize)
                file.write(rows[name].astype(dtype).tobytes())
                at += size
        sync(file)


def make_header(types: dict[str, np.dtype], sizes: list[int], shape: list[int]) -> bytes:
    entries, begin = {}, 0
    for (name, dtype), size in zip(types.items(), sizes):
        entries[name] = {"dtype": NAMES[dtype.str], "shape": shape, "data_offsets": [begin, begin + size]}
        begin += size
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def rows_of(lengths: np.ndarray, slots: int, tokens, weights, kind: TokenType) -> dict[str, np.ndarray]:
    """The rows of the next pairs of both files, by the names of arrays."""
    both, first, count = lengths.sum(1, keepdims=True) - 2, lengths[:, :1] - 1, int(lengths.sum(dtype=np.int64))
    if both.max() > slots or lengths.min() < 1:
        raise UserError("the unfinished work has a document of another length; --force begins again")
    at = np.arange(slots)
    documents = np.where(at < first, 0, np.where(at < both, 1, 2))
    used = documents < 2
    begins = np.cumsum(both + 2, axis=0) - (both + 2)
    source = np.where(used, begins + at + (documents == 1), 0)  # of the input in the file; the label is the next
    token, weight = (np.frombuffer(file.read(count * dtype.itemsize), dtype)
                     for file, dtype in ((tokens, kind.numpy), (weights, U8)))
    if len(token) != count or len(weight) != count:
        raise UserError("the unfinished work lacks tokens of its documents; --force begins again")
    return {"tokens": np.where(used, token[source], 0), "labels": np.where(used, token[source + 1], 0),
            "weights": np.where(used, weight[source + 1], 0), "documents": documents, "used": used,
            "positions": np.where(documents == 1, at - first, np.where(used, at, 0))}
