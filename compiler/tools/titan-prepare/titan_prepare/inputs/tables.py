"""Tables of texts: CSV as RFC 4180 describes it, with names of fields in the first record, and the same with tabs."""

import csv
import io
from collections.abc import Iterator

from titan_prepare.errors import BadRecord, UserError, printable
from titan_prepare.files import BLOCK
from titan_prepare.inputs.compression import damage_named
from titan_prepare.inputs.lines import BYTE_ORDER_MARK, Lines
from titan_prepare.inputs.sources import Source
from titan_prepare.limits import TooLarge, refuse_large

QUOTE = b'"'
DELIMITERS = {"csv": ",", "tsv": "\t"}  # by the name of the format


class Table(Lines):
    """Positions are offsets of records in bytes. A field in quotes may have line breaks, so only the beginning of the file
    is surely one of a record."""

    def __init__(self, source: Source, most_bytes: int, delimiter: str):
        super().__init__(source, most_bytes)
        self.delimiter, self.names = delimiter, []

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        return [(0, 1 << 62, self.source.bytes)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, bytes | TooLarge]]:
        records = self.records()
        _, head = next(records, (0, b""))
        self.names = self.read_names(head)
        yield from records

    def read_names(self, head: bytes | TooLarge) -> list[str]:
        try:
            refuse_large(head, self.most_bytes)
            names = self.values(head)
        except BadRecord as error:
            raise UserError(f"'{self.source.path}' has no first record with the names of its fields: {error}") from error
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UserError(printable(f"'{self.source.path}' has two fields `{twice}` in its first record"))
        return names

    def records(self) -> Iterator[tuple[int, bytes | TooLarge]]:
        """Records that are not blank. Of one that is too large only the size is kept."""
        with damage_named(self.source.path), self.open() as file:
            at, parts, size, quoted = 0, [], 0, False
            while piece := self.read_piece(file):
                quoted = self.ends_quoted(piece, quoted, begins=size == 0)
                size += len(piece)
                parts = [*parts, piece] if size <= self.most_bytes + 2 else []
                if not quoted and piece.endswith(b"\n"):
                    yield from self.record(at, parts, size)
                    at, parts, size = at + size, [], 0
            if quoted:
                raise UserError(f"'{self.source.path}' is damaged: the record of line {self.locate(at).rpartition(':')[2]} "
                                "has a quote without an end")
            yield from self.record(at, parts, size)

    def record(self, at: int, parts: list[bytes], size: int) -> Iterator[tuple[int, bytes | TooLarge]]:
        if size > self.most_bytes + 2:
            yield at, TooLarge(size)
        elif (row := b"".join(parts)).strip():
            yield at, row.removeprefix(BYTE_ORDER_MARK) if at == 0 else row

    def read_piece(self, file) -> bytes:
        """A line, or a part of a long one that does not divide two quotes, or a quote from the delimiter before it."""
        piece = file.readline(BLOCK)
        while len(piece) >= BLOCK and piece.endswith((QUOTE, self.delimiter.encode())) and (more := file.read(1)):
            piece += more
            if len(piece) > 2 * BLOCK:
                raise UserError(f"'{self.source.path}' is damaged: {BLOCK:,} quotes or delimiters follow one another")
        return piece

    def ends_quoted(self, piece: bytes, quoted: bool, begins: bool) -> bool:
        """Whether a piece ends within quotes. They begin a field; two of them within are a quote."""
        at, field = 0, self.delimiter.encode() + QUOTE
        if begins and piece.removeprefix(BYTE_ORDER_MARK).startswith(QUOTE):
            quoted, at = True, piece.index(QUOTE) + 1
        while True:
            at = piece.find(QUOTE if quoted else field, at)
            if at < 0:
                return quoted
            if not quoted:
                quoted, at = True, at + len(field)
            elif piece[at + 1:at + 2] == QUOTE:
                at += 2
            else:
                quoted, at = False, at + 1

    def values(self, record: bytes) -> list[str]:
        csv.field_size_limit(1 << 60)  # --record-bytes is the limit
        try:
            rows = list(csv.reader(io.StringIO(record.decode(), newline=""), delimiter=self.delimiter, strict=True))
        except UnicodeDecodeError as error:
            raise BadRecord(f"not UTF-8: {error.reason} at byte {error.start + 1} of the record") from error
        except csv.Error as error:
            raise BadRecord(f"not CSV: {error}") from error
        if len(rows) != 1:
            raise BadRecord(f"not CSV: {len(rows)} records in one")
        return rows[0]

    def parse(self, row: bytes | TooLarge) -> dict:
        refuse_large(row, self.most_bytes)
        values = self.values(row)
        if len(values) != len(self.names):
            raise BadRecord(f"the record has {len(values)} fields, and the first record names {len(self.names)}")
        return dict(zip(self.names, values))
