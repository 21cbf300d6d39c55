"""PREFIX.json: a record of a preparation, so that a second preparation with the same inputs does nothing."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import Folder, belongs_to_others, checksum_of, digest_of_json, read_json
from titan_prepare.output import ENDINGS, LISTS, MOST_BYTES, with_ending
from titan_prepare.tokenizers.interface import Tokenizer
from titan_prepare.request import Job
from titan_prepare.work import Report

VERSION = 1
MEMORY = "inputs.json"  # in PREFIX.partial: digests and commits of the inputs of an interrupted preparation

OUTPUTS = [{ENDINGS[name] for name in names[:-1]} for names in LISTS]
# The members of the file that later preparations read.
COUNTS = ("documents", "tokens", "empty", "overlong", "bad")
SCHEMA = {"identity": dict, "inputs": list, "bad_records": list, "counts": dict.fromkeys(COUNTS, int),
          "outputs": {"token_type": str, "bytes": dict}}


@dataclass(frozen=True)
class Identity:
    """All that determines the output, without paths and times."""
    tokenizer: dict[str, str]  # digests by the names of its files
    inputs: list[dict]
    stream: dict | None
    options: dict

    def parts(self) -> dict:
        contents = [(entry["format"], entry["bytes"], entry["sha256"]) for entry in self.inputs]
        return {name: digest_of_json(value) for name, value in
                (("tokenizer", self.tokenizer), ("inputs", [contents, self.stream]), ("options", self.options))}

    @property
    def digest(self) -> str:
        return digest_of_json([VERSION, self.parts()])


@dataclass(frozen=True)
class Sidecar:
    prefix: Path | None
    values: dict

    @staticmethod
    def read(prefix: Path) -> "Sidecar | None":
        """None if there is no file, or the file is not a sidecar of this version, or is one of another user."""
        path = with_ending(prefix, ".json")
        if not path.exists() or belongs_to_others(path):
            return None
        try:
            values = read_json(path)
        except UserError:
            return None
        return Sidecar(prefix, values) if values.get("version") == VERSION and fits(values, SCHEMA) else None

    @staticmethod
    def make(identity: Identity, tokenizer: Tokenizer, path: Path | None, job: Job, total: Report,
             outputs: dict) -> "Sidecar":
        counts = asdict(total)
        places, remarks = counts.pop("places"), counts.pop("remarks")
        if not job.content.weighted:
            del counts["weighted"]
        return Sidecar(None, {
            "version": VERSION,
            "identity": identity.parts(),
            "tokenizer": {"kind": tokenizer.kind, "path": None if path is None else str(path),
                          "sha256": identity.tokenizer, "vocabulary": job.limits.vocabulary,
                          "bos": job.ends.bos, "eos": job.ends.eos},
            "inputs": identity.inputs,
            **({"dataset": identity.stream} if identity.stream else {}),
            "options": identity.options,
            "counts": counts,
            "bad_records": places,
            **({"remarks": remarks} if remarks else {}),
            "outputs": outputs})

    def summary(self) -> str:
        counts = self.values["counts"]
        kind = self.values["outputs"]["token_type"]
        pairs = ".safetensors" in self.values["outputs"]["bytes"]
        number = f"{counts['documents'] // 2:,} preference pairs" if pairs else f"{counts['documents']:,} documents"
        text = f"{number}, {counts['tokens']:,} tokens ({kind})"
        weighted = counts.get("weighted")
        return text + (f", {weighted:,} of them count in the loss" if isinstance(weighted, int) else "")

    def left_out(self) -> str:
        names = {"empty": "without tokens that count in the loss", "overlong": "too long", "bad": "bad"}
        return ", ".join(f"{count:,} {what}" for name, what in names.items() if (count := self.values["counts"][name]))

    def is_current(self, identity: Identity) -> bool:
        return not self.differences(identity) and self.has_outputs()

    def differences(self, identity: Identity) -> list[str]:
        return [name for name, digest in identity.parts().items() if self.values["identity"].get(name) != digest]

    def has_outputs(self) -> bool:
        """Whether the files have the recorded sizes and were not touched since, or else have the recorded content."""
        outputs = self.values["outputs"]
        sizes, checksums = outputs.get("bytes"), outputs.get("crc32")
        if not isinstance(sizes, dict) or not isinstance(checksums, dict) or set(sizes) not in OUTPUTS:
            return False
        written = with_ending(self.prefix, ".json").stat().st_mtime_ns
        return all(has_output(with_ending(self.prefix, ending), size, checksums.get(ending), written)
                   for ending, size in sizes.items())

    def remarks(self) -> list[str]:
        found = self.values.get("remarks")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def has_output(path: Path, size: int, checksum: int, written: int) -> bool:
    if not path.is_file() or belongs_to_others(path) or path.stat().st_size != size:
        return False
    if path.stat().st_mtime_ns == written:
        return True
    with open(path, "rb") as file:
        return checksum_of(file) == checksum


def remember(folder: Folder, identity: Identity) -> None:
    folder.write(MEMORY, json.dumps({"inputs": identity.inputs, "dataset": identity.stream}).encode())


@dataclass(frozen=True)
class Memory:
    """The inputs from which this prefix was prepared or is being prepared: digests of files, commits of data sets."""
    inputs: list[dict]
    streams: list[dict]

    @staticmethod
    def read(prefix: Path, folder: Path) -> "Memory":
        found = [sidecar.values] if (sidecar := Sidecar.read(prefix)) else []
        if (remembered := read_remembered(folder)) is not None:
            found.append(remembered)
        found = [entry for entry in found if isinstance(entry, dict)]
        lists = [entry["inputs"] for entry in found if isinstance(entry.get("inputs"), list)]
        return Memory([entry for entries in lists for entry in entries if isinstance(entry, dict)],
                      [entry["dataset"] for entry in found if isinstance(entry.get("dataset"), dict)])


def read_remembered(path: Path):
    """Only a folder of this user is asked."""
    try:
        with Folder(path, private=True) as folder:
            return json.loads(folder.read(MEMORY, MOST_BYTES))
    except (OSError, ValueError, RecursionError, UserError):
        return None


def fits(value, schema) -> bool:
    """Whether a JSON value has the types of a schema; an object may have more members."""
    if isinstance(schema, dict):
        return isinstance(value, dict) and all(fits(value.get(name), kind) for name, kind in schema.items())
    return isinstance(value, schema) and not (schema is int and isinstance(value, bool))
