"""Data sets of the Hugging Face hub, or of a local folder, read by their name through `datasets` without a download of
the whole. A slice is one of the shards in which the set is stored."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from titan_prepare.errors import UserError
from titan_prepare.inputs.parquet import without_absent
from titan_prepare.libraries import errors_as, require


@dataclass(frozen=True)
class Stream:
    """A set by name. `revision` is a commit, once it is resolved."""
    name: str
    config: str | None
    split: str
    revision: str | None


def resolve_revision(stream: Stream) -> Stream:
    """With the commit of the hub that the name refers to now, so that all workers and later runs read the same set."""
    if os.path.isdir(stream.name):
        return stream
    hub = require("huggingface_hub")
    with errors_as(UserError, f"the data set '{stream.name}' cannot be found"):
        commit = hub.HfApi().dataset_info(stream.name, revision=stream.revision).sha
    return Stream(stream.name, stream.config, stream.split, commit)


class StreamRows:
    """Positions are pairs of a shard and a row of it."""

    def __init__(self, stream: Stream):
        self.stream = stream
        self.opened = None

    def open(self):
        if self.opened is None:
            datasets = require("datasets")
            datasets.disable_progress_bars()
            with errors_as(UserError, f"the data set '{self.stream.name}' cannot be opened"):
                self.opened = datasets.load_dataset(self.stream.name, self.stream.config, split=self.stream.split,
                                                    revision=self.stream.revision, streaming=True)
        return self.opened

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        return [(shard, shard + 1, 1) for shard in range(self.open().num_shards)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[tuple[int, int], dict]]:
        data = self.open()
        rows = enumerate(data.shard(num_shards=data.num_shards, index=begin))
        while True:
            with errors_as(UserError, f"the data set '{self.stream.name}' cannot be read, shard {begin}"):
                found = next(rows, None)
            if found is None:
                return
            yield (begin, found[0]), found[1]

    def columns(self, fields: dict):
        return fields

    def parse(self, row: dict) -> dict:
        return {name: without_absent(value) for name, value in row.items()}

    def locate(self, at: tuple[int, int]) -> str:
        return f"{self.stream.name}, shard {at[0]}, row {at[1] + 1}"
