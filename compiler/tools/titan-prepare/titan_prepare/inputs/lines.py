"""Files of lines: JSON objects or plain texts. A slice is a range of bytes and owns the lines that begin in it."""

import gzip
import json
import zlib
from collections.abc import Iterator

from titan_prepare.errors import BadRecord, UserError, json_type
from titan_prepare.files import BLOCK
from titan_prepare.inputs.sources import Source

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Lines:
    """Positions are offsets in bytes; those of a compressed file count its decompressed bytes."""

    def __init__(self, source: Source):
        self.source = source

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        """(begin, end, bytes) of each. A compressed file cannot be entered in the middle."""
        size = self.source.bytes
        if self.source.compressed:
            return [(0, 1 << 62, size)]
        return [(begin, min(begin + chunk, size), min(begin + chunk, size) - begin)
                for begin in range(0, size, chunk)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        try:
            with self.open() as file:
                at = self.first_line(file, begin)
                while at < end and (line := file.readline()):
                    row = line.removeprefix(BYTE_ORDER_MARK) if at == 0 else line
                    if row.strip():
                        yield at, row
                    at += len(line)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UserError(f"'{self.source.path}' is damaged: {error}") from error

    def open(self):
        return gzip.open(self.source.path) if self.source.compressed else open(self.source.path, "rb")

    @staticmethod
    def first_line(file, begin: int) -> int:
        """Moves to the first line that begins at `begin` or later."""
        if begin == 0:
            return 0
        file.seek(begin - 1)
        return begin - 1 + len(file.readline())

    def locate(self, at: int) -> str:
        """The line is counted only here, where an error needs it."""
        line = 1
        with self.open() as file:
            while at > 0 and (block := file.read(min(at, BLOCK))):
                line += block.count(b"\n")
                at -= len(block)
        return f"{self.source.path}:{line}"


class JsonLines(Lines):
    def parse(self, row: bytes) -> dict:
        try:
            fields = json.loads(row.decode())
        except UnicodeDecodeError as error:
            raise BadRecord(f"not UTF-8: {error.reason} at byte {error.start + 1} of the line") from error
        except RecursionError as error:
            raise BadRecord("not JSON that can be read: it is nested too deeply") from error
        except ValueError as error:
            hint = "; each line must be one object, not a part of an array" if row.lstrip()[:1] == b"[" else ""
            raise BadRecord(f"not JSON: {error}{hint}") from error
        if not isinstance(fields, dict):
            raise BadRecord(f"each line must be a JSON object, and this is {json_type(fields)}")
        return fields


class TextLines(Lines):
    """Each line is a document, without its line break."""

    def __init__(self, source: Source, field: str):
        super().__init__(source)
        self.field = field

    def parse(self, row: bytes) -> dict:
        return {self.field: row.removesuffix(b"\n").removesuffix(b"\r")}


class WholeText(TextLines):
    """The file is one document."""

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        return [(0, self.source.bytes, self.source.bytes)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        try:
            with self.open() as file:
                yield 0, file.read().removeprefix(BYTE_ORDER_MARK)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UserError(f"'{self.source.path}' is damaged: {error}") from error

    def parse(self, row: bytes) -> dict:
        return {self.field: row}

    def locate(self, at: int) -> str:
        return self.source.path
