"""Files of lines: JSON objects or plain texts. A slice is a range of bytes and owns the lines that begin in it."""

import json
from collections.abc import Iterator

from titan_prepare.errors import BadRecord, json_type, printable
from titan_prepare.files import BLOCK
from titan_prepare.inputs.compression import damage_named, open_file
from titan_prepare.inputs.sources import Source
from titan_prepare.limits import TooLarge, refuse_large

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Lines:
    """Positions are offsets in bytes; those of a compressed file count its decompressed bytes."""

    def __init__(self, source: Source, most_bytes: int):
        self.source, self.most_bytes = source, most_bytes

    def columns(self, fields: dict):
        return fields

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        """(begin, end, bytes) of each. A compressed file cannot be entered in the middle."""
        size = self.source.bytes
        if self.source.compressed:
            return [(0, 1 << 62, size)]
        return [(begin, min(begin + chunk, size), min(begin + chunk, size) - begin)
                for begin in range(0, size, chunk)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, "bytes | TooLarge"]]:
        with damage_named(self.source.path), self.open() as file:
            at = self.first_line(file, begin)
            while at < end and (line := file.readline(self.most_bytes + 2)):
                size = len(line)
                row = line.removeprefix(BYTE_ORDER_MARK) if at == 0 else line
                if len(line.rstrip(b"\r\n")) > self.most_bytes:
                    size += 0 if line.endswith(b"\n") else pass_line(file)
                    row = TooLarge(size)
                if isinstance(row, TooLarge) or row.strip():
                    yield at, row
                at += size

    def open(self):
        return open_file(self.source.path)

    @staticmethod
    def first_line(file, begin: int) -> int:
        """Moves to the first line that begins at `begin` or later."""
        if begin == 0:
            return 0
        file.seek(begin - 1)
        return begin - 1 + pass_line(file)

    def locate(self, at: int) -> str:
        """The line is counted only here, where an error needs it."""
        line = 1
        with self.open() as file:
            while at > 0 and (block := file.read(min(at, BLOCK))):
                line += block.count(b"\n")
                at -= len(block)
        return f"{self.source.path}:{line}"


def pass_line(file) -> int:
    """Reads to the end of the line, and returns the number of bytes."""
    size = 0
    while block := file.readline(BLOCK):
        size += len(block)
        if block.endswith(b"\n"):
            break
    return size


def object_of(pairs: list[tuple]) -> dict:
    """An object of JSON. Which of two values of one key is meant, nobody knows."""
    found = dict(pairs)
    if len(found) != len(pairs):
        key = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise BadRecord(f"an object has the key `{printable(key)}` twice")
    return found


class JsonLines(Lines):
    def parse(self, row: "bytes | TooLarge") -> dict:
        refuse_large(row, self.most_bytes)
        try:
            fields = json.loads(row.decode(), object_pairs_hook=object_of)
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

    def __init__(self, source: Source, most_bytes: int, field: str):
        super().__init__(source, most_bytes)
        self.field = field

    def parse(self, row: "bytes | TooLarge") -> dict:
        refuse_large(row, self.most_bytes)
        return {self.field: row.removesuffix(b"\n").removesuffix(b"\r")}


class WholeText(TextLines):
    """The file is one document."""

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        return [(0, self.source.bytes, self.source.bytes)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        with damage_named(self.source.path), self.open() as file:
            yield 0, file.read().removeprefix(BYTE_ORDER_MARK)

    def parse(self, row: bytes) -> dict:
        return {self.field: row}

    def locate(self, at: int) -> str:
        return self.source.path
