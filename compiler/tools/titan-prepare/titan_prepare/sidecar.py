"""PREFIX.json: a record of a preparation, so that a second preparation with the same inputs does nothing."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import digest_of_json, read_json
from titan_prepare.output import ENDINGS, with_ending
from titan_prepare.tokenizers.interface import Tokenizer
from titan_prepare.request import Job
from titan_prepare.work import Report

VERSION = 1
MEMORY = "inputs.json"  # in PREFIX.partial: digests and commits of the inputs of an interrupted preparation

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
        """None if there is no file, or the file is not a sidecar of this version."""
        path = with_ending(prefix, ".json")
        if not path.exists():
            return None
        try:
            values = read_json(path)
        except UserError:
            return None
        return Sidecar(prefix, values) if values.get("version") == VERSION and fits(values, SCHEMA) else None

    @staticmethod
    def make(identity: Identity, tokenizer: Tokenizer, path: Path | None, job: Job, total: Report, token_type: str,
             sizes: dict[str, int]) -> "Sidecar":
        counts = asdict(total)
        places = counts.pop("places")
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
            "outputs": {"token_type": token_type,
                        "bytes": {ENDINGS[name]: size for name, size in sizes.items()}}})

    def summary(self) -> str:
        counts = self.values["counts"]
        kind = self.values["outputs"]["token_type"]
        text = f"{counts['documents']:,} documents, {counts['tokens']:,} tokens ({kind})"
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
        sizes = self.values["outputs"].get("bytes")
        return isinstance(sizes, dict) and all(
            with_ending(self.prefix, ending).is_file() and with_ending(self.prefix, ending).stat().st_size == size
            for ending, size in sizes.items())


def remember(folder: Path, identity: Identity) -> None:
    (folder / MEMORY).write_text(json.dumps({"inputs": identity.inputs, "dataset": identity.stream}))


@dataclass(frozen=True)
class Memory:
    """The inputs from which this prefix was prepared or is being prepared: digests of files, commits of data sets."""
    inputs: list[dict]
    streams: list[dict]

    @staticmethod
    def read(prefix: Path, folder: Path) -> "Memory":
        found = [sidecar.values] if (sidecar := Sidecar.read(prefix)) else []
        try:
            found.append(json.loads((folder / MEMORY).read_text()))
        except (OSError, ValueError):
            pass
        found = [entry for entry in found if isinstance(entry, dict)]
        lists = [entry["inputs"] for entry in found if isinstance(entry.get("inputs"), list)]
        return Memory([entry for entries in lists for entry in entries if isinstance(entry, dict)],
                      [entry["dataset"] for entry in found if isinstance(entry.get("dataset"), dict)])


def fits(value, schema) -> bool:
    """Whether a JSON value has the types of a schema; an object may have more members."""
    if isinstance(schema, dict):
        return isinstance(value, dict) and all(fits(value.get(name), kind) for name, kind in schema.items())
    return isinstance(value, schema)
