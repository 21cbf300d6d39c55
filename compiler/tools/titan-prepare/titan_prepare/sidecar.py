"""PREFIX.json: what was prepared, so that a second preparation of the same does nothing."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import digest_of_json, read_json
from titan_prepare.output import ENDINGS, beside
from titan_prepare.tokenizers.interface import Tokenizer
from titan_prepare.work import Job, Report

VERSION = 1
MEMORY = "inputs.json"  # in PREFIX.partial: digests that an interrupted preparation has computed


@dataclass(frozen=True)
class Identity:
    """All that determines the output. Paths and times do not."""
    tokenizer: dict[str, str]  # digests by the names of its files
    inputs: list[dict]
    stream: dict | None
    options: dict

    def parts(self) -> dict:
        contents = [(one["format"], one["bytes"], one["sha256"]) for one in self.inputs]
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
        """None where there is none, or the file is something else."""
        path = beside(prefix, ".json")
        if not path.exists():
            return None
        try:
            values = read_json(path)
        except UserError:
            return None
        fits = values.get("version") == VERSION and all(
            isinstance(values.get(name), kind) for name, kind in
            (("identity", dict), ("inputs", list), ("counts", dict), ("outputs", dict)))
        return Sidecar(prefix, values) if fits else None

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

    @property
    def inputs(self) -> list[dict]:
        return [one for one in self.values["inputs"] if isinstance(one, dict)]

    def is_current(self, identity: Identity) -> bool:
        return not self.differences(identity) and self.has_outputs()

    def differences(self, identity: Identity) -> list[str]:
        return [name for name, digest in identity.parts().items() if self.values["identity"].get(name) != digest]

    def has_outputs(self) -> bool:
        sizes = self.values["outputs"].get("bytes")
        return isinstance(sizes, dict) and all(
            beside(self.prefix, ending).is_file() and beside(self.prefix, ending).stat().st_size == size
            for ending, size in sizes.items())


def remember_inputs(folder: Path, inputs: list[dict]) -> None:
    (folder / MEMORY).write_text(json.dumps(inputs))


def remembered_inputs(folder: Path) -> list[dict]:
    try:
        found = json.loads((folder / MEMORY).read_text())
    except (OSError, ValueError):
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
