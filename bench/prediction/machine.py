"""Machine files as text: constants are replaced where they stand, so that comments stay."""

import re
import tomllib
from pathlib import Path

from case import ROOT

LIBRARY = ROOT / "stdlib" / "machines"
FITTED = Path(__file__).resolve().parent / "machines"


def find(name: str) -> Path:
    """A fitted machine, or one of the library."""
    fitted = FITTED / f"{name}.toml"
    return fitted if fitted.exists() else LIBRARY / f"{name}.toml"


def get(text: str, path: str) -> float:
    value = tomllib.loads(text)
    for key in path.split("."):
        value = value[key]
    return float(value)


def replace(text: str, values: dict, comment: str = "") -> str:
    """With these numbers, by path; `comment` replaces the comments of their lines."""
    section, lines, left = "", [], dict(values)
    for line in text.splitlines():
        if header := re.match(r"\[(.+?)\]", line):
            section = header[1] + "."
        key = re.match(r"(\w+) *=", line)
        path = section + key[1] if key else ""
        if path in left:
            old = line.split("#", 1)[1] if "#" in line else ""
            note = comment or old.strip()
            line = f"{key[1]} = {left.pop(path):.6g}" + (f"  # {note}" if note else "")
        lines.append(line)
    if left:
        raise SystemExit(f"the machine has no {', '.join(left)}")
    return "\n".join(lines) + "\n"
