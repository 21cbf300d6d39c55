"""Finds the files, or the commit of a data set, that a preparation reads, and computes the digests of the files."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from titan_prepare.files import digest_of
from titan_prepare.inputs.sources import Source, find_sources, open_source, output_files, walk
from titan_prepare.inputs.streams import Stream, resolve_revision
from titan_prepare.progress import Progress
from titan_prepare.content import Content
from titan_prepare.request import Request
from titan_prepare.sidecar import Identity, Memory

COMMIT = re.compile(r"[0-9a-f]{40}")


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
    begun = [earlier for earlier in known
             if {**earlier, "revision": None} == asdict(stream) and isinstance(earlier["revision"], str)]
    return Stream(**begun[-1]) if begun else resolve_revision(stream)


def identify(request: Request, content: Content, sources: list[Source], stream: Stream | None,
             memory: Memory) -> Identity:
    """Reads only the files whose size or time differs from the recorded one."""
    digests = {(known.get("path"), known.get("bytes"), known.get("modified")): known.get("sha256")
               for known in memory.inputs}
    progress = Progress("reading inputs", sum(source.bytes for source in sources))

    def describe(source: Source) -> dict:
        digest = digests.get((source.path, source.bytes, source.modified)) or digest_of(source.path)
        progress.advance(source.bytes)
        return {**asdict(source), "sha256": digest}

    with ThreadPoolExecutor(request.workers) as threads:
        inputs = list(threads.map(describe, sources))
    progress.end()
    return Identity(request.tokenizer.digests(), inputs, asdict(stream) if stream else None, request.options(content))
