"""The work of a worker: it prepares units, each in a separate folder."""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from titan_prepare.documents import Document
from titan_prepare.encoding import Empty, Encoded, Encoder, Overlong
from titan_prepare.errors import BadRecord, UserError
from titan_prepare.indexed import LENGTH, smallest_type
from titan_prepare.inputs.units import Unit
from titan_prepare.request import Job

STREAMS = ("tokens", "lengths", "weights")  # the files of a folder
DOCUMENTS_AT_ONCE, CHARACTERS_AT_ONCE = 256, 1 << 20
PLACES = 20  # the number of bad records whose locations are listed


@dataclass
class Report:
    """Counts of one unit, or of all units."""
    documents: int = 0
    tokens: int = 0
    weighted: int = 0  # tokens that count in the loss, if there are weights
    empty: int = 0
    overlong: int = 0
    bad: int = 0
    places: list[str] = field(default_factory=list)  # of the first bad records, with the reasons

    def add(self, other: "Report") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)
        del self.places[PLACES:]


@dataclass(frozen=True)
class Task:
    unit: Unit
    folder: Path  # where the files of STREAMS are written; created by the worker
    most: int | None  # documents


class Worker:
    def __init__(self, job: Job):
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the workers are the parallelism
        self.job = job
        self.tokenizer = job.tokenizer.open()
        self.content = job.content.open(keeps_bytes=self.tokenizer.kind == "bytes")
        self.readers = {}  # of the latest source: opening a data set takes seconds
        self.encoder = Encoder(self.tokenizer, job.ends, job.limits)
        self.type = smallest_type(job.limits.vocabulary).numpy

    def __call__(self, task: Task, progress) -> Report:
        """`progress(documents, tokens)` is called after each batch."""
        os.makedirs(task.folder)
        report = Report()
        with open(task.folder / "tokens", "wb") as tokens, open(task.folder / "lengths", "wb") as lengths, \
             open(task.folder / "weights", "wb") as weights:
            for batch in self.batches(task, report):
                done = self.encode(batch, report)
                self.write(done, tokens, lengths, weights, report)
                progress(len(done), sum(len(encoded.tokens) for encoded in done))
        return report

    def batches(self, task: Task, report: Report):
        """Lists of documents with the way to locate each, until the unit ends or has `most` documents."""
        batch, characters = [], 0
        for locate, document in self.documents(task.unit, report):
            batch.append((locate, document))
            characters += len(document.text)
            wanted = DOCUMENTS_AT_ONCE if task.most is None else min(DOCUMENTS_AT_ONCE, task.most - report.documents)
            if len(batch) >= wanted or characters >= CHARACTERS_AT_ONCE:
                yield batch
                batch, characters = [], 0
                if report.documents == task.most:
                    return
        if batch:
            yield batch

    def documents(self, unit: Unit, report: Report):
        for rows in unit.slices:
            reader = self.reader(rows.source)
            for position, row in reader.rows(rows.begin, rows.end):
                def locate(reader=reader, position=position) -> str:
                    return reader.locate(position)
                try:
                    document = self.content.document(reader.parse(row))
                except BadRecord as error:
                    self.leave_out(locate, error, report)
                else:
                    yield locate, document

    def reader(self, source: int):
        if source not in self.readers:
            self.readers = {source: self.job.inputs.reader(self.job.inputs.sources[source])}
        return self.readers[source]

    def leave_out(self, locate, error: BadRecord, report: Report) -> None:
        if not self.job.skip_bad:
            raise UserError(f"{locate()}: {error}; --skip-bad leaves such records out and counts them") from error
        report.bad += 1
        if len(report.places) < PLACES:
            report.places.append(f"{locate()}: {error}")

    def encode(self, batch: list, report: Report) -> list[Encoded]:
        done = []
        for locate, encode in self.encoders(batch):
            try:
                done.append(encode())
            except Empty:
                report.empty += 1
            except Overlong:
                report.overlong += 1
            except BadRecord as error:
                self.leave_out(locate, error, report)
        return done

    def encoders(self, batch: list):
        """For each document a function that gives its tokens. Documents without spans are encoded together, which is
        faster, or one by one if that fails."""
        if batch[0][1].spans is not None:
            return [(locate, lambda document=document: self.encoder.with_spans(document)) for locate, document in batch]
        try:
            found = self.encoder.texts([document for _, document in batch])
        except BadRecord:
            return [(locate, lambda document=document: self.encode_text(document)) for locate, document in batch]
        return [(locate, lambda tokens=tokens: self.encoder.finish_text(tokens))
                for (locate, _), tokens in zip(batch, found)]

    def encode_text(self, document: Document) -> Encoded:
        return self.encoder.finish_text(self.encoder.texts([document])[0])

    def write(self, done: list[Encoded], tokens, lengths, weights, report: Report) -> None:
        for encoded in done:
            tokens.write(encoded.tokens.astype(self.type).tobytes())
            if encoded.weights is not None:
                weights.write(encoded.weights.tobytes())
                report.weighted += int(encoded.weights.sum())
        sizes = [len(encoded.tokens) for encoded in done]
        lengths.write(np.array(sizes, LENGTH).tobytes())
        report.documents += len(done)
        report.tokens += sum(sizes)
