"""The unfinished output of a preparation, in the folder PREFIX.partial: files that grow by one unit at a time, and a
journal with a line of JSON and its CRC-32 for each unit that they contain. After a crash the next preparation cuts the
files back to the last complete unit and continues."""

import json
import shutil
import zlib
from dataclasses import asdict
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import sync, sync_folder
from titan_prepare.work import STREAMS, Report

NAME = "journal"


class Journal:
    """`head` identifies the work: inputs, options and division into units."""

    def __init__(self, folder: Path, head: dict, force: bool):
        self.folder, self.total, self.units = folder, Report(), 0
        self.file = open_or_make(folder / NAME)
        lines = self.read()
        if reason := self.why_unusable(lines, head):
            if len(lines) > 1 and not force:
                raise UserError(f"'{folder}' {reason}; --force begins again")
            lines = []
            self.file.seek(0)
        self.file.truncate()
        if not lines:
            self.write(head)
        for line in lines[1:]:
            self.total.add(Report(**line["report"]))
        self.units = len(lines[1:])
        self.streams = {name: self.open_stream(name, size) for name, size in self.sizes(lines).items()}
        self.remove_units()

    def why_unusable(self, lines: list[dict], head: dict) -> str | None:
        if lines and lines[0] != head:
            return "has unfinished work on other inputs or with other options"
        short = [name for name, size in self.sizes(lines).items()
                 if size and (not (self.folder / name).exists() or (self.folder / name).stat().st_size < size)]
        return f"has less data in `{short[0]}` than its journal says" if short else None

    @staticmethod
    def sizes(lines: list[dict]) -> dict[str, int]:
        """The sizes of the streams after the last complete unit."""
        return lines[-1]["sizes"] if len(lines) > 1 else dict.fromkeys(STREAMS, 0)

    def read(self) -> list[dict]:
        """Lines up to the first that is torn or damaged; the file is then at the end of the last good one."""
        lines, end = [], 0
        for line in self.file:
            checksum, _, text = line.partition(b" ")
            if checksum != checksum_of(text) or not text.endswith(b"\n"):
                break
            lines.append(json.loads(text))
            end += len(line)
        self.file.seek(end)
        return lines

    def write(self, line: dict) -> None:
        text = json.dumps(line).encode() + b"\n"
        self.file.write(checksum_of(text) + b" " + text)
        sync(self.file)

    def open_stream(self, name: str, size: int):
        stream = open_or_make(self.folder / name)
        stream.truncate(size)
        stream.seek(size)
        return stream

    def remove_units(self) -> None:
        for folder in self.folder.glob("units-*"):
            shutil.rmtree(folder)

    def append(self, folder: Path, report: Report) -> None:
        """Moves the files of a unit to the end of the streams, and records them."""
        for name, stream in self.streams.items():
            with open(folder / name, "rb") as unit:
                shutil.copyfileobj(unit, stream, 1 << 20)
            sync(stream)
        self.total.add(report)
        self.units += 1
        self.write({"report": asdict(report), "sizes": {name: s.tell() for name, s in self.streams.items()}})
        shutil.rmtree(folder)

    def close(self) -> None:
        for stream in (self.file, *self.streams.values()):
            stream.close()
        sync_folder(self.folder)


def checksum_of(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


def open_or_make(path: Path):
    return open(path, "r+b" if path.exists() else "w+b")
