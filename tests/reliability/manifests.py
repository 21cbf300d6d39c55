"""Hostile checkpoint.json: randomly changed fields with a valid checksum. The program ends within seconds,
with an error that names the file or with the result that the manifest requests; it never crashes."""

import copy
import json
import shutil
from functools import partial
from pathlib import Path

from trials import TEXT, expect, run, run_well

NUMBERS = [-1, -4, 0, 1, 5, 7, 2**31, 2**32, 2**53 + 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64 - 1,
           2**64, 10**30, -2**63, -2**63 - 1, 1.5, -0.0, 1e300, 1e19]
WORDS = ["", ".", "..", "x", "../../etc/shadow", "/etc/shadow", "/dev/zero", "a/b", "a\0b", "\n", "\u2028",
         "parameters", "optimizer", "x" * 300, "%s%n", "checkpoint.json", "nan", "model-00001-of-00001.safetensors"]
OTHERS = [None, True, [], {}, [[]], {"a": {}}]


def crc32c(content: bytes) -> int:
    remainder = 0xffffffff
    for byte in content:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82f63b78 if remainder & 1 else 0)
    return remainder ^ 0xffffffff


def list_paths(value, path=()):
    """The paths of all values within a JSON value."""
    if path:
        yield path
    items = (value.items() if isinstance(value, dict) else
             enumerate(value) if isinstance(value, list) else ())
    for key, element in items:
        yield from list_paths(element, (*path, key))


def mutate(chance, manifest: dict) -> str:
    path = chance.choice([p for p in list_paths(manifest) if p != ("crc32c",)])
    inner = manifest
    for key in path[:-1]:
        inner = inner[key]
    key, kind = path[-1], chance.randrange(8)
    if kind == 0:
        del inner[key]
        return f"{path} is not there"
    if kind == 1 and isinstance(inner, list):
        inner.append(copy.deepcopy(inner[key]))
        return f"{path} is there twice"
    if kind == 2:
        nested = []
        for _ in range(chance.choice([5, 10, 500])):
            nested = [nested] if chance.random() < 0.5 else {"a": nested}
        inner[key] = nested
        return f"{path} is nested"
    inner[key] = chance.choice(NUMBERS if kind < 6 else [*WORDS, *OTHERS])
    return f"{path} is {str(inner[key])[:60]!r}"


def text_of(manifest: dict) -> str:
    manifest.pop("crc32c", None)
    compact = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False)
    manifest["crc32c"] = crc32c(compact.encode())
    return json.dumps(manifest, indent=1, ensure_ascii=False)


def training(folder: Path, out: str, *more) -> list:
    return ["--data", folder / "text", "--out", folder / out, "--steps", 8, "--log-every", 1, *more]


def resume(folder: Path, text: str, name: str, words: str = "") -> None:
    step = folder / name
    shutil.rmtree(folder / "out", ignore_errors=True)
    if not step.exists():
        shutil.copytree(folder / "run/checkpoints/step-5", step)
    (step / "checkpoint.json").write_text(text)
    status, output = run(*training(folder, "out", "--resume", step), timeout=10)
    expect(status in (0, 1), f"exit status {status}: {output[-600:]}")
    expect(status == 0 or "error" in output and (str(step) in output or "seed" in output),
           f"no file is named: {output[-600:]}")
    expect(words in output, f"missing: {words}: {output[-600:]}")


def deep(levels: int) -> str:
    return '{"format":1,"crc32c":0,"a":' + "[" * levels + "]" * levels + "}"


def hostile(count: int, chance, folder: Path):
    (folder / "text").write_bytes(TEXT)
    run_well(*training(folder, "run", "--stop-at", 5))
    good = json.loads((folder / "run/checkpoints/step-5/checkpoint.json").read_text())

    def changed(words: str, **fields):
        manifest = {**copy.deepcopy(good), **fields}
        return f"{words}: {fields}", partial(resume, folder, text_of(manifest), "step-5", words)
    yield changed("resuming after step 5")
    for sample in (-1, -4, 2**63 - 1):
        yield changed("`data.sample` is", data={**good["data"], "sample": sample})
    for step in (-1, -2**63, 2**62 + 1):
        yield changed("`step` is", step=step)
    yield changed("`step` is 7, but the folder is named step-5", step=7)
    yield ("a folder of another name",
           partial(resume, folder, text_of({**copy.deepcopy(good), "step": 8}), "copy",
                   "no steps are left"))
    for name in ("/etc/shadow", "../../x", "..", ""):
        file = {**good["files"][0], "name": name}
        yield changed("`files[0].name` is", files=[file, good["files"][1]])
    yield changed("`files[0].content` is", files=[{**good["files"][0], "content": "x"}, good["files"][1]])
    for levels in (20, 60_000, 1_000_000):
        yield (f"{levels} levels", partial(resume, folder, deep(levels), "step-5", "nests deeper"))
    for _ in range(count):
        manifest = copy.deepcopy(good)
        words = [mutate(chance, manifest) for _ in range(chance.choice([1, 1, 1, 2]))]
        yield ("; ".join(words), partial(resume, folder, text_of(manifest),
                                         chance.choice(["step-5", "copy"])))
