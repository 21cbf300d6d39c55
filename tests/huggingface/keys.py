"""Compares the files of an export beside its weights with those of its source."""

import json
from pathlib import Path

from titan import ROOT

OWN_FILES = ("config.json", "program.titan")  # in which an export differs, or which it adds


def compare_keys(given, written, prefix: str = "") -> list[str]:
    """The keys that differ, with both values; numbers compare as numbers, objects key by key."""
    if isinstance(given, dict) and isinstance(written, dict):
        return [line for key in given.keys() | written.keys()
                for line in compare_keys(given.get(key, "absent"), written.get(key, "absent"), f"{prefix}{key}.")]
    return [] if given == written else [f"{prefix[:-1]}: {given} -> {written}"]


def compare_files(given: Path, out: Path, **changed) -> list[str]:
    """Differences between the files of a directory and those of its export, apart from `changed` keys."""
    written = json.loads((out / "config.json").read_text())
    wrong = [] if isinstance(written.pop("titan", None), dict) else ["config.json has no settings"]
    wrong += compare_keys({**json.loads((given / "config.json").read_text()), **changed}, written)
    names = [{path.name for path in folder.iterdir() if not path.name.startswith("model")} for folder in (given, out)]
    wrong += [f"{name} is in one only" for name in names[0] ^ names[1] if name not in OWN_FILES]
    wrong += [f"{name} differs" for name in names[0] & names[1] - {*OWN_FILES}
              if (given / name).read_bytes() != (out / name).read_bytes()]
    return wrong + [f"{path.name} has paths of this machine" for path in (out / "config.json", out / "program.titan")
                    if str(ROOT) in path.read_text()]
