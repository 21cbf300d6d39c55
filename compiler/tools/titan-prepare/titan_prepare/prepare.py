"""The steps of a preparation: find the inputs, prepare the units that its journal lacks, and publish the files. If the
files of the same preparation exist, nothing is done."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from titan_prepare.content import Content
from titan_prepare.errors import UserError
from titan_prepare.files import Folder, belongs_to_others, checksum_of, digest_of_json
from titan_prepare.forms import Wanted
from titan_prepare.identify import find_inputs, identify
from titan_prepare.indexed import smallest_type, write_index
from titan_prepare.inputs.sources import Source, open_source
from titan_prepare.inputs.streams import Stream
from titan_prepare.inputs.units import Unit, plan_units
from titan_prepare.journal import UNITS, Journal, read_lines
from titan_prepare.output import (COMPLETE, ENDINGS, Lock, publish, publish_found, remove_locked, require_regular,
                                  with_ending, write_complete)
from titan_prepare.parallel import run_in_order
from titan_prepare.pair_arrays import write_pairs
from titan_prepare.progress import Progress
from titan_prepare.recognize import recognize
from titan_prepare.request import Job, Request, make_job
from titan_prepare.sidecar import Identity, Memory, Sidecar, remember
from titan_prepare.tokenizers.interface import Tokenizer
from titan_prepare.work import Report, Task, Worker, survive


@dataclass(frozen=True)
class Outcome:
    sidecar: Sidecar
    made: bool  # by this run
    content: Content
    notes: tuple[str, ...] = ()


def prepare(request: Request) -> Outcome:
    require_regular(request.prefix)
    path = with_ending(request.prefix, ".partial")
    memory = Memory.read(request.prefix, path)
    sources, stream = find_inputs(request, memory)
    content = make_content(request, sources, stream)
    if not path.exists():
        known = Sidecar.read(request.prefix)
        if known and known.is_current(identify(request, content, sources, stream, memory)):
            return Outcome(known, False, content)
    with Lock(path) as folder:
        if folder.status(COMPLETE):
            publish_found(folder, request.prefix)
        else:
            return prepare_alone(request, content, sources, stream, folder)
    return prepare(request)


def prepare_alone(request: Request, content: Content, sources: list[Source], stream: Stream | None,
                  folder: Folder) -> Outcome:
    """Under the lock of the folder, which is then removed, unless it has units for a later preparation."""
    try:
        outcome = prepare_locked(request, content, sources, stream, folder)
    except BaseException:
        remove_if_unused(folder)
        raise
    if outcome.made:
        publish(folder, request.prefix, outputs_of(content))
    else:
        remove_if_unused(folder)
    return outcome


def prepare_locked(request: Request, content: Content, sources: list[Source], stream: Stream | None,
                   folder: Folder) -> Outcome:
    known = Sidecar.read(request.prefix)
    identity = identify(request, content, sources, stream, Memory.read(request.prefix, folder.path))
    remember(folder, identity)
    if known and known.is_current(identity):
        return Outcome(known, False, content)
    if not request.force:
        refuse_other_outputs(request.prefix, known, identity)
    tokenizer = request.tokenizer.open()
    job = make_job(request, content, tokenizer, (stream,) if stream else tuple(sources))
    total, checksums = run(request, job, identity, folder)
    check_unchanged(sources)
    sidecar = finish(request, job, identity, tokenizer, total, checksums, folder)
    notes = ()
    if job.ends.eos is None and request.eos == "auto" and not content.template:
        notes = ("the tokenizer has no end-of-document token; only the index separates documents (--eos TOKEN adds one)",)
    return Outcome(sidecar, True, content, notes)


def refuse_other_outputs(prefix: Path, known: Sidecar | None, identity: Identity) -> None:
    if known:
        if differing := known.differences(identity):
            raise UserError(f"'{prefix}' was prepared differently ({', '.join(differing)}); --force replaces it")
    elif belongs_to_others(sidecar := with_ending(prefix, ".json")):
        raise UserError(f"'{sidecar}' belongs to user {sidecar.stat().st_uid}, so it is unknown whether the tokens are those "
                        "of these inputs; --force replaces them")
    elif there := [ending for ending in (".bin", ".idx", ".safetensors", ".json") if with_ending(prefix, ending).exists()]:
        raise UserError(f"'{prefix}{there[0]}' exists, and no '{prefix}.json' says how it was prepared; --force replaces it")


def run(request: Request, job: Job, identity: Identity, folder: Folder) -> tuple[Report, dict[str, int]]:
    """Prepares the units that the journal lacks. Returns the counts, and the checksums of the streams."""
    units = plan_units(job.inputs, request.chunk)
    head = {"identity": identity.digest, "units": digest_of_json([asdict(unit) for unit in units])}
    journal = Journal(folder, head, smallest_type(job.limits.vocabulary), job.content.weighted, request.force)
    done = sum(unit.bytes for unit in units[:journal.units])
    progress = Progress("preparing", sum(unit.bytes for unit in units), done)
    try:
        scratch = folder.anchor / folder.make_folder(UNITS)
        append_units(request, job, units[journal.units:], scratch, journal, progress)
    finally:
        progress.end()
        journal.close()
    if not journal.total.documents:
        remove_locked(folder)
        raise UserError("the inputs have no document" + explain_nothing(journal.total))
    return journal.total, journal.checksums


def append_units(request: Request, job: Job, units: list[Unit], scratch: Path, journal: Journal,
                 progress: Progress) -> None:
    most = request.most and request.most * job.content.documents_each
    tasks = [Task(unit, scratch / str(unit.index), most) for unit in units]
    if journal.total.documents == most:
        return
    for task, report in run_tasks(request, job, tasks, progress):
        left = None if most is None else most - journal.total.documents
        last = left is not None and report.documents >= left
        if last:  # again, up to exactly the last document
            task = replace(task, folder=scratch / "last", most=left)
            (_, report), = run_tasks(request, job, [task], progress)
        journal.append(task.folder, report)
        progress.advance(task.unit.bytes)
        if last:
            return


def run_tasks(request: Request, job: Job, tasks: list[Task], progress: Progress):
    return run_in_order(Worker, job, tasks, request.workers, progress.count, survive)


def check_unchanged(sources: list[Source]) -> None:
    for source in sources:
        if open_source(source.path, source.format) != source:
            raise UserError(f"'{source.path}' was changed while it was read; prepare it again")


def finish(request: Request, job: Job, identity: Identity, tokenizer: Tokenizer, total: Report,
           checksums: dict[str, int], folder: Folder) -> Sidecar:
    kind = smallest_type(job.limits.vocabulary)
    *names, _ = outputs_of(job.content)
    for name, write in (("index", write_index), ("arrays", partial(write_pairs, length=request.length))):
        if name in names:
            write(folder, kind)
            with folder.open(name) as file:
                checksums = {**checksums, name: checksum_of(file)}
    outputs = {"token_type": kind.name, "bytes": {ENDINGS[name]: folder.status(name).st_size for name in names},
               "crc32": {ENDINGS[name]: checksums[name] for name in names}}
    sidecar = Sidecar.make(identity, tokenizer, request.tokenizer.path, job, total, outputs)
    write_complete(folder, [*names, "sidecar"], sidecar.values)
    return sidecar


def make_content(request: Request, sources: list[Source], stream: Stream | None) -> Content:
    """Its errors, such as those of the chat template, come before all work."""
    form, wanted = request.form, None
    if isinstance(form, Wanted):
        wanted, form = form, recognize(form, (stream,) if stream else tuple(sources), request.record.bytes)
    content = request.make_content(form, wanted)
    content.open(keeps_bytes=False)
    return content


def outputs_of(content: Content) -> list[str]:
    """The names of the files, as in `ENDINGS`."""
    if content.chosen:
        return ["arrays", "sidecar"]
    return ["tokens", *(["weights"] if content.weighted else []), "index", "sidecar"]


def explain_nothing(total: Report) -> str:
    counts = {"empty": total.empty, "too long": total.overlong, "bad": total.bad}
    found = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f" that can be used: {found}" if found else ""


def remove_if_unused(folder: Folder) -> None:
    """The folder of a preparation that ended before any unit was done. The caller has the lock."""
    if len(read_lines(folder)) < 2:
        remove_locked(folder)
