"""Parquet files. A slice is one row group; positions count the rows of the file from 0."""

from collections.abc import Iterator

from titan_prepare.errors import UserError
from titan_prepare.inputs.sources import Source
from titan_prepare.libraries import require

ROWS_AT_ONCE = 256


class Parquet:
    def __init__(self, source: Source, fields: tuple[str, ...]):
        self.source, self.fields = source, list(fields)
        self.arrow, self.parquet = require("pyarrow"), require("pyarrow.parquet")

    def open(self):
        try:
            file = self.parquet.ParquetFile(self.source.path, page_checksum_verification=True)
        except (self.arrow.ArrowException, OSError) as error:
            raise UserError(f"'{self.source.path}' cannot be read as Parquet: {error}") from error
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
            try:
                for batch in file.iter_batches(ROWS_AT_ONCE, list(range(begin, end)), self.fields):
                    yield from enumerate(batch.to_pylist(), at)
                    at += batch.num_rows
            except (self.arrow.ArrowException, OSError, ValueError) as error:
                raise UserError(f"'{self.source.path}' is damaged near row {at + 1}: {error}") from error

    def parse(self, row: dict) -> dict:
        return row

    def locate(self, at: int) -> str:
        return f"{self.source.path}, row {at + 1}"
