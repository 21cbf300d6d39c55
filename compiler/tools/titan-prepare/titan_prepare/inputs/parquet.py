"""Parquet files. A slice is one row group; positions count the rows of the file from 0."""

from collections.abc import Iterator

from titan_prepare.errors import UserError
from titan_prepare.inputs.sources import Source
from titan_prepare.libraries import errors_as, require
from titan_prepare.limits import TooLarge, refuse_large

ROWS_AT_ONCE = 256


class Parquet:
    def __init__(self, source: Source, fields: tuple[str, ...] | None, optional: tuple[str, ...], most_bytes: int):
        self.source, self.optional, self.most_bytes = source, optional, most_bytes
        self.reads_all, self.fields = fields is None, list(fields or ())
        self.parquet, self.names = require("pyarrow.parquet"), []

    def open(self):
        with errors_as(UserError, f"'{self.source.path}' cannot be read as Parquet"):
            file = self.parquet.ParquetFile(self.source.path, page_checksum_verification=True)
        with errors_as(UserError, f"'{self.source.path}' cannot be read as Parquet"):  # names that are not UTF-8
            self.names = file.schema_arrow.names
        for field in self.fields:
            if self.names.count(field) != 1:
                what = "has no column" if field not in self.names else "has two columns"
                raise UserError(f"'{self.source.path}' {what} `{field}`; its columns are {', '.join(self.names)}")
        return file

    def columns(self, _: dict) -> list[str]:
        return self.names

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        with self.open() as file:
            groups = file.metadata.num_row_groups
            return [(group, group + 1, file.metadata.row_group(group).total_byte_size) for group in range(groups)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, dict]]:
        with self.open() as file:
            at = sum(file.metadata.row_group(group).num_rows for group in range(begin))
            columns = None if self.reads_all else [
                *self.fields, *(name for name in self.optional if self.names.count(name) == 1)]
            batches = file.iter_batches(ROWS_AT_ONCE, list(range(begin, end)), columns)
            while True:
                with errors_as(UserError, f"'{self.source.path}' is damaged near row {at + 1}"):
                    batch = next(batches, None)
                    rows = batch and rows_of(batch, self.most_bytes)
                if rows is None:
                    return
                yield from enumerate(rows, at)
                at += len(rows)

    def parse(self, row: dict | TooLarge) -> dict:
        refuse_large(row, self.most_bytes)
        return {name: without_absent(value) for name, value in row.items()}

    def locate(self, at: int) -> str:
        return f"{self.source.path}, row {at + 1}"


def rows_of(batch, most_bytes: int) -> list[dict | TooLarge]:
    """The rows of a batch. Those that are too large never become Python's objects, which need far more memory."""
    if batch.nbytes <= most_bytes:
        return batch.to_pylist()
    rows = [batch.slice(at, 1) for at in range(len(batch))]
    return [TooLarge(row.nbytes) if row.nbytes > most_bytes else row.to_pylist()[0] for row in rows]


def without_absent(value):
    """A structure of Arrow has all fields in each row, and null in place of an absent one. JSON has no such field."""
    if isinstance(value, dict):
        return {key: without_absent(item) for key, item in value.items() if item is not None}
    return [without_absent(item) for item in value] if isinstance(value, list) else value
