"""Runs titan-prepare, and reads its files with `struct` only: a second implementation of the formats."""

import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "compiler" / "tools" / "titan-prepare"
COMMAND = [sys.executable, "-m", "titan_prepare"]
FORMATS = {1: "B", 8: "H", 4: "i"}


def environment(path: Path = PACKAGE) -> dict[str, str]:
    """`path` is a folder with modules that replace others."""
    return {**os.environ, "PYTHONPATH": f"{path}:{PACKAGE}", "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1",
            "HF_HOME": os.environ.get("XDG_CACHE_HOME", "/tmp") + "/titan-tests-hub"}


def start(*arguments, path: Path = PACKAGE, **options) -> subprocess.Popen:
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=environment(path), text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def run(*arguments, **options) -> tuple[int, str]:
    """Exit status and output."""
    process = start(*arguments, **options)
    output, _ = process.communicate(timeout=600)
    return process.returncode, output


class Wrong(Exception):
    """A result differs from the expected one; the text explains the difference."""


def expect(holds: bool, message: str) -> None:
    if not holds:
        raise Wrong(message)


def workers_of(count: int | None) -> tuple:
    return ("--workers", count) if count else ()


def prepare(*arguments, workers: int | None = 1, **options) -> str:
    """Output of a preparation that must succeed."""
    status, output = run(*arguments, *workers_of(workers), **options)
    expect(status == 0, f"status {status}:\n{output}")
    return output


def refused(status: int, words: list[str], *arguments, workers: int | None = 1, **options) -> None:
    """The command must end with this status and a message of these words, and leave nothing unfinished."""
    found, output = run(*arguments, *workers_of(workers), **options)
    expect(found == status, f"status {found} instead of {status}:\n{output}")
    for word in words:
        expect(word in output, f"`{word}` is missing in:\n{output}")
    expect("Traceback" not in output, output)


@dataclass
class Prepared:
    code: int  # of the token type
    documents: list[list[int]]
    weights: list[list[int]] | None
    sidecar: dict


def unpack(letter: str, data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data))


def read(prefix: Path) -> Prepared:
    """Checks the index as base/data/TokenIndex.h describes it."""
    index = Path(f"{prefix}.idx").read_bytes()
    expect(index[:9] == b"MMIDIDX\0\0", "magic")
    version, code, sequences, documents = struct.unpack_from("<QBQQ", index, 9)
    expect(version == 1 and documents == sequences + 1, "counts")
    at = 34
    lengths = unpack("i", index[at:at + 4 * sequences])
    offsets = unpack("q", index[at + 4 * sequences:at + 12 * sequences])
    firsts = unpack("q", index[at + 12 * sequences:])
    expect(firsts == list(range(sequences + 1)), "documents")
    width = struct.calcsize(FORMATS[code])
    tokens = unpack(FORMATS[code], Path(f"{prefix}.bin").read_bytes())
    expect(offsets == [width * sum(lengths[:i]) for i in range(sequences)], "offsets")
    expect(sum(lengths) == len(tokens), "lengths")
    weights_file = Path(f"{prefix}.weights.bin")
    weights = list(weights_file.read_bytes()) if weights_file.exists() else None
    expect(weights is None or len(weights) == len(tokens), "weights")
    return Prepared(code, divide(tokens, lengths), None if weights is None else divide(weights, lengths),
                    json.loads(Path(f"{prefix}.json").read_text()))


def divide(values: list[int], lengths: list[int]) -> list[list[int]]:
    found, at = [], 0
    for length in lengths:
        found.append(values[at:at + length])
        at += length
    return found


def write_lines(path: Path, records: list) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def contents(prefix: Path) -> dict[str, bytes]:
    """All files of a prefix."""
    return {path.name: path.read_bytes() for path in sorted(prefix.parent.glob(f"{prefix.name}.*"))}
