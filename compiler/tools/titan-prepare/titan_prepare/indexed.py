"""Megatron-LM's indexed token files as base/data/TokenIndex.h describes them: every document is one sequence."""

import struct
from dataclasses import dataclass

import numpy as np

from titan_prepare.errors import UserError
from titan_prepare.files import Folder, sync

MAGIC = b"MMIDIDX\0\0"
VERSION = 1
LONGEST = 2**31 - 1  # tokens of a document: an index stores lengths as i32
LENGTH, OFFSET = np.dtype("<i4"), np.dtype("<i8")
BLOCK = 1 << 20  # documents that are in memory at once


@dataclass(frozen=True)
class TokenType:
    name: str
    code: int  # in the index
    numpy: np.dtype
    most: int  # the largest token


TYPES = (TokenType("u8", 1, np.dtype("<u1"), 2**8 - 1),
         TokenType("u16", 8, np.dtype("<u2"), 2**16 - 1),
         TokenType("i32", 4, np.dtype("<i4"), 2**31 - 1))


def smallest_type(vocabulary: int) -> TokenType:
    """The smallest type that stores the tokens 0 to vocabulary - 1."""
    return next(kind for kind in TYPES if vocabulary - 1 <= kind.most)


def write_index(folder: Folder, kind: TokenType) -> None:
    """The index of the documents whose lengths, as i32, are in a file of the folder."""
    folder.remove("index")
    documents = folder.status("lengths").st_size // LENGTH.itemsize
    with folder.create("index") as index, folder.open("lengths") as lengths_file:
        index.write(MAGIC + struct.pack("<QBQQ", VERSION, kind.code, documents, documents + 1))
        for lengths in blocks(lengths_file):
            index.write(lengths.tobytes())
        begin = 0
        for lengths in blocks(lengths_file):
            ends = begin + np.cumsum(lengths, dtype=OFFSET) * kind.numpy.itemsize
            index.write(np.concatenate([[begin], ends[:-1]]).astype(OFFSET).tobytes())
            begin = int(ends[-1])
        for first in range(0, documents + 1, BLOCK):
            index.write(np.arange(first, min(first + BLOCK, documents + 1), dtype=OFFSET).tobytes())
        sync(index)
    if begin != folder.status("tokens").st_size:
        raise UserError(f"'{folder.path}' has lengths of documents that are not those of its tokens; --force begins again")


def blocks(file):
    file.seek(0)
    while block := file.read(BLOCK * LENGTH.itemsize):
        lengths = np.frombuffer(block, LENGTH)
        if lengths.min() < 1:
            raise UserError("the unfinished work has a document without tokens; --force begins again")
        yield lengths
