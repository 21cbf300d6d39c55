"""The work of a worker: it prepares units, each in a separate folder."""

import json
import os
import signal
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from titan_prepare.documents import Group
from titan_prepare.encoding import Empty, Encoded, Encoder, Overlong
from titan_prepare.errors import BadRecord, UserError, printable
from titan_prepare.indexed import LENGTH, smallest_type
from titan_prepare.inputs.units import Unit
from titan_prepare.limits import one_record
from titan_prepare.request import Job

STREAMS = ("tokens", "lengths", "weights")  # the files of a folder
DOCUMENTS_AT_ONCE, CHARACTERS_AT_ONCE = 256, 1 << 20
PLACES = 20  # the number of bad records whose locations are listed, and of remarks
NOW, NOW_BYTES = "now", 200  # a file in a task's folder: the records that are worked on


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
    remarks: list[str] = field(default_factory=list)  # on the records, each once

    def add(self, other: "Report") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)
        self.remarks = list(dict.fromkeys(self.remarks))[:PLACES]
        del self.places[PLACES:]


@dataclass(frozen=True)
class Task:
    unit: Unit
    folder: Path  # where the files of STREAMS are written; created by the worker
    most: int | None  # documents
    killers: tuple = ()  # positions of records, with their source, that have killed a worker
    one_by_one: bool = False  # tokenizes each document alone, to find out which one kills a worker


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
        with open(task.folder / "tokens", "xb") as tokens, open(task.folder / "lengths", "xb") as lengths, \
             open(task.folder / "weights", "xb") as weights, open(task.folder / NOW, "xb", buffering=0) as self.now:
            for batch in self.batches(task, report):
                self.record_now(batch[0][0].at, batch[-1][0].at)
                done = self.encode(batch, report)
                self.write(done, tokens, lengths, weights, report)
                progress(len(done), sum(len(encoded.tokens) for encoded in done))
        report.remarks = sorted(self.content.remarks())[:PLACES]
        return report

    def record_now(self, first: tuple, last: tuple) -> None:
        """What the worker works on, for the parent, if the worker is killed."""
        os.pwrite(self.now.fileno(), json.dumps([first, last]).encode().ljust(NOW_BYTES), 0)

    def batches(self, task: Task, report: Report):
        """Lists of groups of documents with their places, until the unit ends or has `most` documents."""
        batch, characters = [], 0
        at_once, each = 1 if task.one_by_one else DOCUMENTS_AT_ONCE, self.job.content.documents_each
        for locate, group in self.groups(task, report):
            batch.append((locate, group))
            characters += sum(len(document.text) for document in group)
            wanted = at_once if task.most is None else min(at_once, (task.most - report.documents) // each)
            if len(batch) >= wanted or characters >= CHARACTERS_AT_ONCE:
                yield batch
                batch, characters = [], 0
                if report.documents == task.most:
                    return
        if batch:
            yield batch

    def groups(self, task: Task, report: Report):
        for rows in task.unit.slices:
            reader = self.reader(rows.source)
            for position, row in reader.rows(rows.begin, rows.end):
                place = Place(reader, (rows.source, position))
                try:
                    groups = self.groups_of(reader, row, place, task)
                except BadRecord as error:
                    self.leave_out(place, error, report)
                else:
                    yield from ((place, group) for group in groups)

    def groups_of(self, reader, row, place: "Place", task: Task) -> list[Group]:
        if place.at in task.killers:
            raise BadRecord("a worker process was killed while it prepared this record; it needs too much memory or time")
        self.record_now(place.at, place.at)
        with one_record(self.job.record):
            fields = reader.parse(row)
            self.content.look_at(reader.columns(fields))
            groups = self.content.groups(fields)
        longest = max(len(document.text) for group in groups for document in group)
        if self.job.content.template and longest > self.job.record.bytes:
            raise BadRecord(f"the chat template writes {longest:,} characters, and --record-bytes allows "
                            f"{self.job.record.bytes:,}")
        return groups

    def reader(self, source: int):
        if source not in self.readers:
            self.readers = {source: self.job.inputs.reader(self.job.inputs.sources[source])}
        return self.readers[source]

    def leave_out(self, locate, error: BadRecord, report: Report) -> None:
        if not self.job.skip_bad:
            raise UserError(printable(f"{locate()}: {error}; --skip-bad leaves such records out and counts them")) from error
        report.bad += 1
        if len(report.places) < PLACES:
            report.places.append(printable(f"{locate()}: {error}"))

    def encode(self, batch: list, report: Report) -> list[Encoded]:
        done = []
        for locate, encode in self.encoders(batch):
            try:
                done += encode()
            except Empty:
                report.empty += 1
            except Overlong:
                report.overlong += 1
            except BadRecord as error:
                self.leave_out(locate, error, report)
        return done

    def encoders(self, batch: list):
        """For each group a function that gives its tokens. Documents without spans, which are no groups, are encoded
        together, which is faster, or one by one if that fails."""
        if batch[0][1][0].spans is not None:
            return [(locate, lambda group=group: self.encoder.group(group)) for locate, group in batch]
        try:
            found = self.encoder.texts([document for _, (document,) in batch])
        except BadRecord:
            return [(locate, lambda group=group: self.encode_text(group)) for locate, group in batch]
        return [(locate, lambda tokens=tokens: [self.encoder.finish_text(tokens)])
                for (locate, _), tokens in zip(batch, found)]

    def encode_text(self, group: Group) -> list[Encoded]:
        return [self.encoder.finish_text(self.encoder.texts(list(group))[0])]

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


@dataclass(frozen=True)
class Place:
    """Where a record is: the number of its source, and its position there. Its line is counted only for a message."""
    reader: object
    at: tuple

    def __call__(self) -> str:
        return self.reader.locate(self.at[1])


def survive(job: Job, task: Task, status: int) -> Task:
    """The task again, after a worker was killed by one of its records, without this record. An error if bad records are
    not to be left out. If it is unknown which of several records it was, they are tokenized one by one."""
    why = f"took more than twice {job.record.seconds} seconds (--record-seconds)" if status == -signal.SIGVTALRM else \
        f"was killed (status {status}; the system's log may say why, mostly it is memory: see --record-bytes)"
    try:
        first, last = map(as_place, json.loads((task.folder / NOW).read_bytes()))
    except (OSError, ValueError):
        raise UserError(f"a worker process {why}") from None
    if not job.skip_bad:
        where = [job.inputs.reader(job.inputs.sources[source]).locate(at) for source, at in (first, last)]
        named = where[0] if first == last else f"{where[0]} to {where[1]}"
        raise UserError(printable(f"{named}: a worker process that prepared this {why}"))
    return replace(task, folder=task.folder.with_name(task.folder.name + "-again"), one_by_one=True,
                   killers=(*task.killers, first) if first == last else task.killers)


def as_place(value: list) -> tuple:
    """The source and the position, which is a number or a pair of numbers."""
    return value[0], tuple(value[1]) if isinstance(value[1], list) else value[1]
