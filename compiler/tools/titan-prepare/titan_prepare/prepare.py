"""The whole preparation: what is asked for, whether it exists already, and the steps to it."""

import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import digest_of, digest_of_json
from titan_prepare.indexed import smallest_type, write_index
from titan_prepare.inputs.sources import Source, find_sources, open_source, output_files, walk
from titan_prepare.inputs.streams import Stream, resolve_revision
from titan_prepare.inputs.units import Inputs, Unit, plan_units
from titan_prepare.encoding import Limits
from titan_prepare.journal import NAME, Journal
from titan_prepare.output import COMPLETE, Lock, beside, publish, require_regular, write_complete
from titan_prepare.parallel import ordered
from titan_prepare.progress import Progress
from titan_prepare.sidecar import Identity, Memory, Sidecar, remember
from titan_prepare.tokenizers.interface import Ends, Tokenizer
from titan_prepare.tokenizers.opening import TokenizerFile
from titan_prepare.work import Content, Job, Report, Task, Worker

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Request:
    """The command line, checked."""
    paths: tuple[str, ...]
    format: str
    stream: Stream | None
    text_lines: bool
    tokenizer: TokenizerFile
    content: Content
    bos: str  # auto, none, or a token
    eos: str
    vocabulary: int | None
    length: int | None
    overlong: str
    skip_bad: bool
    most: int | None  # documents
    prefix: Path
    force: bool
    workers: int
    chunk: int  # bytes of a unit

    def options(self) -> dict:
        """All that changes the output, except the tokenizer and the inputs."""
        return {**asdict(self.content), "text_lines": self.text_lines, "bos": self.bos, "eos": self.eos,
                "special": "parse" if self.tokenizer.parse_special else "text", "vocabulary": self.vocabulary,
                "max_length": self.length, "overlong": self.overlong, "skip_bad": self.skip_bad,
                "max_documents": self.most}


@dataclass(frozen=True)
class Outcome:
    sidecar: Sidecar
    made: bool  # by this run
    notes: tuple[str, ...] = ()


def prepare(request: Request) -> Outcome:
    require_regular(request.prefix)
    folder = beside(request.prefix, ".partial")
    memory = Memory.read(request.prefix, folder)
    sources, stream = find_inputs(request, memory)
    if not folder.exists():
        known = Sidecar.read(request.prefix)
        if known and known.is_current(identify(request, sources, stream, memory)):
            return Outcome(known, made=False)
    with Lock(folder):
        if (folder / COMPLETE).exists():
            publish(folder, request.prefix)
            return prepare(request)
        try:
            outcome = prepare_locked(request, sources, stream, folder)
        except BaseException:
            remove_if_unused(folder)
            raise
        if outcome.made:
            publish(folder, request.prefix)
        else:
            remove_if_unused(folder)
        return outcome


def prepare_locked(request: Request, sources: list[Source], stream: Stream | None, folder: Path) -> Outcome:
    known = Sidecar.read(request.prefix)
    identity = identify(request, sources, stream, Memory.read(request.prefix, folder))
    remember(folder, identity)
    if known and known.is_current(identity):
        return Outcome(known, made=False)
    if not request.force:
        refuse_others(request.prefix, known, identity)
    tokenizer = request.tokenizer.open()
    job = make_job(request, tokenizer, (stream,) if stream else tuple(sources))
    total = run(request, job, identity, folder)
    check_unchanged(sources)
    sidecar = finish(request, job, identity, tokenizer, total, folder)
    notes = ()
    if job.ends.eos is None and request.eos == "auto" and not request.content.template:
        notes = ("the tokenizer names no token for the end of a document; only the index divides them "
                 "(--eos TOKEN adds one)",)
    return Outcome(sidecar, made=True, notes=notes)


def find_inputs(request: Request, memory: Memory) -> tuple[list[Source], Stream | None]:
    """The files, those of a local data set included, and the set with its commit."""
    outputs = output_files(str(request.prefix))
    stream = request.stream
    if stream is None:
        return find_sources(list(request.paths), request.format, outputs), None
    if os.path.isdir(stream.name):
        files = [path for path in walk(stream.name) if os.path.realpath(path) not in outputs]
        return [open_source(path, "dataset") for path in files], stream
    return [], find_commit(stream, [] if request.force else memory.streams)


def find_commit(stream: Stream, known: list[dict]) -> Stream:
    """The set with a commit: the given one, the one that this prefix was begun with, or the newest."""
    if COMMIT.fullmatch(stream.revision or ""):
        return stream
    begun = [one for one in known if {**one, "revision": None} == asdict(stream) and isinstance(one["revision"], str)]
    return Stream(**begun[-1]) if begun else resolve_revision(stream)


def identify(request: Request, sources: list[Source], stream: Stream | None, memory: Memory) -> Identity:
    """Reads the files whose size or time differ from what is known."""
    digests = {(one.get("path"), one.get("bytes"), one.get("modified")): one.get("sha256")
               for one in memory.inputs}
    progress = Progress("reading inputs", sum(source.bytes for source in sources))

    def describe(source: Source) -> dict:
        digest = digests.get((source.path, source.bytes, source.modified)) or digest_of(source.path)
        progress.advance(source.bytes)
        return {**asdict(source), "sha256": digest}

    with ThreadPoolExecutor(request.workers) as threads:
        inputs = list(threads.map(describe, sources))
    progress.end()
    return Identity(request.tokenizer.digests(), inputs, asdict(stream) if stream else None, request.options())


def refuse_others(prefix: Path, known: Sidecar | None, identity: Identity) -> None:
    if known:
        if differing := known.differences(identity):
            raise UserError(f"'{prefix}.bin' was prepared differently ({', '.join(differing)}); --force replaces it")
    elif any(beside(prefix, ending).exists() for ending in (".bin", ".idx", ".json")):
        raise UserError(f"'{prefix}.bin' exists, and no '{prefix}.json' says how it was prepared; --force replaces it")


def make_job(request: Request, tokenizer: Tokenizer, sources: tuple) -> Job:
    defaults = Ends(None, None) if request.content.template else tokenizer.default_ends()
    ends = Ends(choose_token("bos", request.bos, defaults.bos, tokenizer),
                choose_token("eos", request.eos, defaults.eos, tokenizer))
    vocabulary = max(tokenizer.vocabulary, *(1 + token for token in (ends.bos, ends.eos) if token is not None), 1)
    limits = Limits(request.vocabulary or vocabulary, request.length, request.overlong)
    for token in (ends.bos, ends.eos):
        if token is not None and token >= limits.vocabulary:
            raise UserError(f"--vocabulary {limits.vocabulary} leaves out the token {token}, which --bos or --eos adds")
    inputs = Inputs(sources, request.content.fields, request.text_lines)
    return Job(inputs, request.tokenizer, request.content, ends, limits, request.skip_bad)


def choose_token(option: str, choice: str, default: int | None, tokenizer: Tokenizer) -> int | None:
    if choice == "auto":
        return default
    if choice == "none":
        return None
    if choice.isdecimal():
        return int(choice)
    if (token := tokenizer.token_id(choice)) is None:
        raise UserError(f"--{option}: the tokenizer has no token `{choice}`")
    return token


def run(request: Request, job: Job, identity: Identity, folder: Path) -> Report:
    """Prepares the units that the journal lacks."""
    units = plan_units(job.inputs, request.chunk)
    head = {"identity": identity.digest, "units": digest_of_json([asdict(unit) for unit in units])}
    journal = Journal(folder, head, request.force)
    done = sum(unit.bytes for unit in units[:journal.units])
    progress = Progress("preparing", sum(unit.bytes for unit in units), done)
    try:
        scratch = Path(tempfile.mkdtemp(prefix="units-", dir=folder))
        append_units(request, job, units[journal.units:], scratch, journal, progress)
    finally:
        progress.end()
        journal.close()
    if not journal.total.documents:
        shutil.rmtree(folder)
        raise UserError("the inputs hold no document" + explain_nothing(journal.total))
    return journal.total


def append_units(request: Request, job: Job, units: list[Unit], scratch: Path, journal: Journal,
                 progress: Progress) -> None:
    tasks = [Task(unit, scratch / str(unit.index), request.most) for unit in units]
    for task, report in run_tasks(request, job, tasks, progress):
        left = None if request.most is None else request.most - journal.total.documents
        if left == 0:
            return
        if left is not None and report.documents > left:
            task = replace(task, folder=scratch / "last", most=left)
            (_, report), = run_tasks(request, job, [task], progress)
        journal.append(task.folder, report)
        progress.advance(task.unit.bytes)


def run_tasks(request: Request, job: Job, tasks: list[Task], progress: Progress):
    return ordered(Worker, job, tasks, request.workers, progress.count)


def check_unchanged(sources: list[Source]) -> None:
    for source in sources:
        if open_source(source.path, source.format) != source:
            raise UserError(f"'{source.path}' was changed while it was read; prepare it again")


def finish(request: Request, job: Job, identity: Identity, tokenizer: Tokenizer, total: Report,
           folder: Path) -> Sidecar:
    kind = smallest_type(job.limits.vocabulary)
    write_index(folder / "index", folder / "lengths", kind)
    names = ["tokens", *(["weights"] if job.content.weighted else []), "index"]
    sidecar = Sidecar.make(identity, tokenizer, request.tokenizer.path, job, total, kind.name,
                           {name: (folder / name).stat().st_size for name in names})
    write_complete(folder, [*names, "sidecar"], sidecar.values)
    return sidecar


def explain_nothing(total: Report) -> str:
    counts = {"empty": total.empty, "too long": total.overlong, "bad": total.bad}
    found = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f" that can be used: {found}" if found else ""


def remove_if_unused(folder: Path) -> None:
    """The folder of a preparation that ended before any unit was done. The caller has the lock."""
    journal = folder / NAME
    if not journal.exists() or journal.read_bytes().count(b"\n") < 2:
        shutil.rmtree(folder, ignore_errors=True)
