"""The unfinished output of a preparation, in the folder PREFIX.partial: files that grow by one unit at a time, and a
journal with a line of JSON and its CRC-32 for each unit that they contain. After a crash the next preparation cuts the
files back to the last complete unit and continues.

Nothing in the folder is believed because it is there: the streams have names of this program only, their sizes must be
those of the documents that the journal counts, and their content must have the recorded checksums.
"""

import json
import os
import shutil
import zlib
from dataclasses import asdict, fields
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import BLOCK, Folder, checksum_of, sync
from titan_prepare.indexed import LENGTH, TokenType
from titan_prepare.work import STREAMS, Report

NAME = "journal"
MOST_BYTES = 1 << 30  # of a journal
UNITS = "units-"  # begins the names of folders of units in progress


class Journal:
    """`head` identifies the work: inputs, options and division into units. `kind` is the type of its tokens."""

    def __init__(self, folder: Folder, head: dict, kind: TokenType, weighted: bool, force: bool):
        self.folder, self.kind, self.weighted = folder, kind, weighted
        self.total, self.units, self.streams = Report(), 0, {}
        folder.remove_folders(UNITS)
        lines = read_lines(folder)
        state = self.resume(lines, head) if lines else None
        if isinstance(state, str):
            if not force:
                raise UserError(f"'{folder.path}' {state}; --force begins again")
            state = None
        self.sizes, self.checksums = state or (dict.fromkeys(STREAMS, 0), dict.fromkeys(STREAMS, 0))
        self.file = self.open_or_begin(NAME, sum(map(len, lines)) if state else 0)
        if not state:
            self.total, self.units = Report(), 0
            self.write(head)
        self.streams = {name: self.open_or_begin(name, size) for name, size in self.sizes.items()}
        folder.sync()

    def resume(self, lines: list[bytes], head: dict) -> tuple[dict, dict] | str | None:
        """Sizes and checksums of the streams after the last complete unit, None if there is no unit, or the reason why
        these lines cannot be continued."""
        first, *units = (json.loads(line.partition(b" ")[2]) for line in lines)
        if not units:
            return None
        if first != head:
            return "has unfinished work on other inputs or with other options"
        for line in units:
            if not is_unit(line):
                return "has a journal that this titan-prepare did not write"
            self.total.add(Report(**line["report"]))
        self.units = len(units)
        sizes, checksums = units[-1]["sizes"], units[-1]["checksums"]
        if sizes != self.expected_sizes():
            return "has a journal whose sizes are not those of its documents"
        return self.difference(sizes, checksums) or (sizes, checksums)

    def expected_sizes(self) -> dict[str, int]:
        return {"tokens": self.total.tokens * self.kind.numpy.itemsize, "lengths": self.total.documents * LENGTH.itemsize,
                "weights": self.total.tokens if self.weighted else 0}

    def difference(self, sizes: dict[str, int], checksums: dict[str, int]) -> str | None:
        for name, size in sizes.items():
            status = self.folder.status(name)
            if size and (not status or status.st_size < size):
                return f"has less data in `{name}` than its journal says"
            if size:
                with self.folder.open(name) as stream:
                    if checksum_of(stream, size) != checksums[name]:
                        return f"has other data in `{name}` than its journal says"
        return None

    def open_or_begin(self, name: str, size: int):
        """The file, cut to a size. One that is to be empty is a new one."""
        if not size:
            self.folder.remove(name)
            return self.folder.create(name)
        file = self.folder.open(name, os.O_RDWR)
        file.truncate(size)
        file.seek(size)
        return file

    def write(self, line: dict) -> None:
        text = json.dumps(line).encode() + b"\n"
        self.file.write(checksum_line(text) + b" " + text)
        sync(self.file)

    def append(self, unit: Path, report: Report) -> None:
        """Moves the files of a unit to the end of the streams, and records them."""
        for name, stream in self.streams.items():
            with open(unit / name, "rb") as file:
                while block := file.read(BLOCK):
                    stream.write(block)
                    self.checksums[name] = zlib.crc32(block, self.checksums[name])
            sync(stream)
        self.total.add(report)
        self.units += 1
        self.sizes = {name: stream.tell() for name, stream in self.streams.items()}
        self.write({"report": asdict(report), "sizes": self.sizes, "checksums": self.checksums})
        shutil.rmtree(unit)

    def close(self) -> None:
        for stream in (self.file, *self.streams.values()):
            stream.close()
        self.folder.sync()


def read_lines(folder: Folder) -> list[bytes]:
    """The lines of the journal up to the first that is torn or damaged."""
    lines = []
    try:
        data = folder.read(NAME, MOST_BYTES)
    except FileNotFoundError:
        return lines
    for line in data.splitlines(keepends=True):
        checksum, _, text = line.partition(b" ")
        if checksum != checksum_line(text) or not text.endswith(b"\n") or not is_json(text):
            break
        lines.append(line)
    return lines


def is_json(text: bytes) -> bool:
    try:
        json.loads(text)
        return True
    except (ValueError, RecursionError):
        return False


def checksum_line(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


def is_unit(line) -> bool:
    """Whether a line of the journal has what `append` writes, and nothing else."""
    if not isinstance(line, dict) or set(line) != {"report", "sizes", "checksums"}:
        return False
    numbers = [line["sizes"], line["checksums"]]
    if not all(isinstance(found, dict) and set(found) == set(STREAMS) and all(map(is_count, found.values()))
               for found in numbers):
        return False
    report, kinds = line["report"], {entry.name: entry.type for entry in fields(Report)}
    return isinstance(report, dict) and set(report) == set(kinds) and all(
        is_count(value) if kinds[name] is int else is_texts(value) for name, value in report.items())


def is_count(value) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def is_texts(value) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
