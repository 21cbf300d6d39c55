"""Damage of the newest checkpoint, of the folder of checkpoints, and of files that are to be removed. A run
continues from the previous checkpoint, or reports the error; nothing existing is deleted."""

import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

from trials import TEXT, expect, losses, run, run_well

STEPS, EVERY = 30, 10
MODEL, OPTIMIZER = (f"{stem}-00001-of-00001.safetensors" for stem in ("model", "optimizer"))
MANIFEST, INDEX = "checkpoint.json", "model.safetensors.index.json"


def truncate(chance, file: Path) -> None:
    os.truncate(file, chance.randrange(file.stat().st_size))


def append(chance, file: Path) -> None:
    more = b""
    while not more.strip():  # blanks behind JSON damage nothing
        more = chance.randbytes(chance.randint(1, 5000))
    with open(file, "ab") as stream:
        stream.write(more)


def flip(chance, file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def zero(chance, file: Path) -> None:
    content = bytearray(file.read_bytes())
    begin = chance.choice([at for at, byte in enumerate(content) if byte])
    content[begin:begin + 200] = bytes(len(content[begin:begin + 200]))
    file.write_bytes(content)


def instead(make):
    """Replaces the file with something else of its name."""
    def damage(_, file: Path) -> None:
        file.unlink()
        make(file)
    return damage


DAMAGES = {
    "truncated": truncate, "appended to": append, "a bit flipped": flip, "zeros in it": zero,
    "deleted": instead(lambda file: None), "emptied": instead(Path.touch),
    "a directory": instead(Path.mkdir), "a pipe": instead(os.mkfifo),
    "a device": instead(lambda file: file.symlink_to("/dev/zero")),
    "a link to itself": instead(lambda file: file.symlink_to(file.name)),
    "a link to nothing": instead(lambda file: file.symlink_to("nowhere")),
    # Reading fails with EIO, like a bad sector.
    "a failing disk": instead(lambda file: file.symlink_to("/proc/self/mem")),
}


def training(folder: Path, out: Path, *more, steps: int = STEPS) -> list:
    return ["--data", folder / "text", "--out", out, "--steps", steps, "--log-every", 1, "--set",
            f"checkpoint.every={EVERY}", *more]


def copy_of(folder: Path) -> Path:
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(folder / "whole", out, symlinks=True)
    return out


def check_end(out: Path, folder: Path) -> None:
    whole = folder / "whole"
    expect(losses(out) == losses(whole), "the losses are not those of the run")
    expect((out / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes(),
           "the weights are not those of the run")


def damage_newest(chance, folder: Path, name: str, damage) -> None:
    out = copy_of(folder)
    newest = out / f"checkpoints/step-{STEPS}"
    damage(chance, newest / name)
    output = run_well(*training(folder, out))
    # Resumption does not read the index.
    step = STEPS if name == INDEX else STEPS - EVERY
    expect(f"resuming after step {step} " in output, output[:600])
    if name != INDEX:
        expect(f"{name}" in output or "has no checkpoint.json" in output, f"not named: {output[:600]}")
        expect((out / f"replaced/step-{STEPS}").is_dir(), "the damaged one was not set aside")
    check_end(out, folder)


def damage_folder(folder: Path, make) -> None:
    """A file instead of a folder, or a dangling link: an error that names it."""
    out = copy_of(folder)
    shutil.move(out / "checkpoints", folder / "moved")
    try:
        make(out / "checkpoints")
        status, output = run(*training(folder, out))
        expect(status == 1 and f"{out}/checkpoints" in output, f"{status}: {output[:600]}")
        expect((out / "model.safetensors").exists() and not (out / "replaced").exists(),
               "it began anew")
    finally:
        shutil.rmtree(folder / "moved")


def lose_folder(folder: Path) -> None:
    """Rows without checkpoints: only --resume none starts again."""
    out = copy_of(folder)
    shutil.rmtree(out / "checkpoints")
    status, output = run(*training(folder, out))
    expect(status == 1 and "--resume none" in output, f"{status}: {output[:600]}")
    run_well(*training(folder, out, "--resume", "none"))
    expect((out / "replaced/metrics.jsonl").exists(), "rows of the run before are lost")
    check_end(out, folder)


def keep_unremovable(folder: Path) -> None:
    """An old checkpoint that cannot be removed is a warning."""
    out = copy_of(folder)
    stuck = out / f"checkpoints/step-{EVERY}" / MODEL
    shutil.rmtree(out / f"checkpoints/step-{STEPS}")
    moved = out / f"checkpoints/step-{EVERY}.removed.partial" / MODEL
    if subprocess.run(["chattr", "+i", stuck], capture_output=True).returncode:
        return  # not as another user, nor on every file system
    try:
        output = run_well(*training(folder, out, "--set", "checkpoint.keep=1"))
        expect("warning: cannot remove" in output, output[:600])
        check_end(out, folder)
    finally:
        subprocess.run(["chattr", "-i", moved if moved.exists() else stuck], check=True)
    again = run_well(*training(folder, out, "--set", "checkpoint.keep=1", steps=STEPS + EVERY))
    expect("cannot remove" not in again and not moved.exists(), "it was not removed later")


def damages(rounds: int, chance, folder: Path):
    (folder / "text").write_bytes(TEXT)
    run_well(*training(folder, folder / "whole"))
    for _ in range(rounds):
        for name in (MODEL, OPTIMIZER, MANIFEST, INDEX):
            for words, damage in DAMAGES.items():
                if rounds > 1 or name in (MODEL, MANIFEST) or chance.random() < 0.2:
                    yield f"{name} {words}", partial(damage_newest, chance, folder, name, damage)
    for words, make in {
            "a dangling link": lambda path: path.symlink_to("/nowhere/mounted"),
            "a link to itself": lambda path: path.symlink_to("checkpoints"),
            "a file": Path.touch, "a pipe": os.mkfifo,
            "a device": lambda path: path.symlink_to("/dev/null")}.items():
        yield f"checkpoints {words}", partial(damage_folder, folder, make)
    yield "checkpoints lost", partial(lose_folder, folder)
    yield "an old one cannot be removed", partial(keep_unremovable, folder)
