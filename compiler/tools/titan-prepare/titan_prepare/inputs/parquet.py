"""Parquet files. A slice is one row group; positions count the rows of the file from 0."""

from collections.abc import Iterator

from titan_prepare.errors import UserError
from titan_prepare.inputs.sources import Source
from titan_prepare.libraries import errors_as, require

ROWS_AT_ONCE = 256


class Parquet:
    def __init__(self, source: Source, fields: tuple[str, ...]):
        self.source, self.fields = source, list(fields)
        self.parquet = require("pyarrow.parquet")

    def open(self):
        with errors_as(UserError, f"'{self.source.path}' cannot be read as Parquet"):
            file = self.parquet.ParquetFile(self.source.path, page_checksum_verification=True)
        columns = file.schema_arrow.names
        for field in self.fields:
            if field not in columns:
                raise UserError(f"'{self.source.path}' has no column `{field}`; its columns are {', '.join(columns)}")
        return file

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        with self.open() as file:
            groups = file.metadata.num_row_groups
            return [(group, group + 1, file.metadata.row_group(group).total_byte_size) for group in range(groups)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, dict]]:
        with self.open() as file:
            at = sum(file.metadata.row_group(group).num_rows for group in range(begin))
            batches = file.iter_batches(ROWS_AT_ONCE, list(range(begin, end)), self.fields)
            while True:
                with errors_as(UserError, f"'{self.source.path}' is damaged near row {at + 1}"):
                    batch = next(batches, None)
                    rows = batch and batch.to_pylist()
                if rows is None:
                    return
                yield from enumerate(rows, at)
                at += len(rows)

    def parse(self, row: dict) -> dict:
        return row

    def locate(self, at: int) -> str:
        return f"{self.source.path}, row {at + 1}"
