"""Units of work: consecutive slices of the inputs of about equal size, which workers prepare and the journal counts."""

from dataclasses import dataclass

from titan_prepare.inputs.json_array import JsonArray, is_array
from titan_prepare.inputs.lines import JsonLines, TextLines, WholeText
from titan_prepare.inputs.parquet import Parquet
from titan_prepare.inputs.sources import Source
from titan_prepare.inputs.streams import Stream, StreamRows
from titan_prepare.inputs.tables import DELIMITERS, Table


@dataclass(frozen=True)
class Slice:
    source: int  # its number among the inputs
    begin: int
    end: int


@dataclass(frozen=True)
class Unit:
    index: int
    slices: tuple[Slice, ...]
    bytes: int  # for the progress; shards of a stream count 1


@dataclass(frozen=True)
class Inputs:
    """All inputs, and what their readers need to know."""
    sources: tuple[Source | Stream, ...]
    fields: tuple[str, ...] | None  # None: all that there are
    text_lines: bool  # each line of a text is a document, instead of each file
    optional: tuple[str, ...] = ()  # fields that are read where they are
    most_bytes: int = 1 << 62  # of a record

    def reader(self, source: Source | Stream):
        if isinstance(source, Stream):
            return StreamRows(source)
        if source.format == "jsonl":
            return (JsonArray if is_array(source) else JsonLines)(source, self.most_bytes)
        if source.format in DELIMITERS:
            return Table(source, self.most_bytes, DELIMITERS[source.format])
        if source.format == "parquet":
            return Parquet(source, self.fields, self.optional, self.most_bytes)
        return (TextLines if self.text_lines else WholeText)(source, self.most_bytes, self.fields[0])


def plan_units(inputs: Inputs, chunk: int) -> list[Unit]:
    """In the order of the inputs; a unit ends when its slices have `chunk` bytes. A shard of a stream is one unit."""
    units, slices, size = [], [], 0
    for number, source in enumerate(inputs.sources):
        least = 1 if isinstance(source, Stream) else chunk
        for begin, end, length in inputs.reader(source).slices(chunk):
            slices.append(Slice(number, begin, end))
            size += length
            if size >= least:
                units.append(Unit(len(units), tuple(slices), size))
                slices, size = [], 0
    if slices:
        units.append(Unit(len(units), tuple(slices), size))
    return units
