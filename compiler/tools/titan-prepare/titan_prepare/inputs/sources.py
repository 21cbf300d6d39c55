"""The input files that the arguments name: their paths in order, and their formats."""

import glob
import os
from dataclasses import dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.inputs.compression import ENDINGS as COMPRESSED, compression_of

TEXT_FORMATS = {"jsonl": (".jsonl", ".json", ".ndjson"), "csv": (".csv",), "tsv": (".tsv",),
                "text": (".txt", ".text", ".md")}
FORMATS = {"parquet": (".parquet",), **{name: tuple(ending + how for how in ("", *COMPRESSED) for ending in endings)
                                        for name, endings in TEXT_FORMATS.items()}}


@dataclass(frozen=True)
class Source:
    """An input file."""
    path: str
    format: str
    bytes: int
    modified: int  # nanoseconds since 1970

    @property
    def compressed(self) -> bool:
        return compression_of(self.path) is not None


def format_of(path: str) -> str | None:
    return next((name for name, endings in FORMATS.items() if path.lower().endswith(endings)), None)


def find_sources(arguments: list[str], given_format: str, outputs: set[str]) -> list[Source]:
    """The files of the arguments, in their order; those of a directory or glob are sorted. `outputs` are left out of
    directories and globs."""
    paths = [path for argument in arguments for path in expand(argument, given_format, outputs)]
    seen = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise UserError(f"'{path}' is named twice among the inputs")
        seen.add(real)
        if real in outputs:
            raise UserError(f"'{path}' is an input, and the output of that name would replace it; "
                            "choose another --output")
    return [open_source(path, given_format) for path in paths]


def expand(argument: str, given_format: str, outputs: set[str]) -> list[str]:
    if os.path.isdir(argument):
        found = [path for path in walk(argument) if given_format != "auto" or format_of(path)]
        missing = "holds no file of a known format"
    elif not os.path.exists(argument) and glob.has_magic(argument):
        found = sorted(path for path in glob.glob(argument, recursive=True) if os.path.isfile(path))
        missing = "matches no file"
    else:
        return [argument]
    found = [path for path in found if os.path.realpath(path) not in outputs]
    if not found:
        raise UserError(f"'{argument}' {missing}")
    return found


def walk(folder: str) -> list[str]:
    """All files below a folder, without hidden ones and unfinished outputs."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and not name.endswith(".partial")]
        found += [os.path.join(parent, name) for name in names if not name.startswith(".")]
    return sorted(path for path in found if os.path.isfile(path))


def open_source(path: str, given_format: str) -> Source:
    kind = format_of(path) if given_format == "auto" else given_format
    if not os.path.exists(path):
        raise UserError(f"'{path}' does not exist")
    if not os.path.isfile(path):
        raise UserError(f"'{path}' is not a regular file")
    if not kind:
        known = " ".join(ending for endings in (*TEXT_FORMATS.values(), (".parquet",)) for ending in endings)
        raise UserError(f"'{path}' has none of the extensions {known}, nor one of them with {' or '.join(COMPRESSED)}; --format names the format of the inputs")
    status = os.stat(path)
    return Source(path, kind, status.st_size, status.st_mtime_ns)


def output_files(prefix: str) -> set[str]:
    """The real paths of the finished files of a preparation with this prefix."""
    return {os.path.realpath(prefix + ending) for ending in (".bin", ".idx", ".json", ".weights.bin", ".safetensors")}


def absolute_prefix(prefix: str) -> Path:
    for ending in (".bin", ".idx", ".safetensors"):
        prefix = prefix.removesuffix(ending)
    if not os.path.basename(prefix):
        raise UserError(f"--output needs a prefix of file names, and '{prefix}' ends with a slash")
    return Path(prefix)
