"""Links, pipes and devices with the names of a run's files: nothing is written through a link, no device is
replaced, no pipe blocks, and an error names the obstacle."""

import os
import shutil
import stat
from functools import partial
from pathlib import Path

from trials import TEXT, expect, run, run_well

FILES = ["config.toml", "program.titan", "metrics.jsonl", "status.json", "model.safetensors", "tokenizer.json",
         "tokenizer_config.json"]
TEMPORARIES = [f"{name}.partial" for name in FILES]
FOLDERS = ["checkpoints", "checkpoints/step-5", "checkpoints/step-5.partial", "replaced",
           "tensorboard"]
PRECIOUS = "what somebody else needs\n"


def make_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))  # like /dev/full
    except PermissionError:
        path.symlink_to("/dev/full")


PLANTS = {
    "a link to a file": lambda path, folder: path.symlink_to(folder / "precious"),
    "a link to nothing": lambda path, folder: path.symlink_to(folder / "made"),
    "a link to a folder": lambda path, folder: path.symlink_to(folder / "theirs"),
    "a pipe": lambda path, folder: os.mkfifo(path),
    "a device": lambda path, folder: make_device(path),
}


def training(folder: Path, *more) -> list:
    return ["--data", folder / "text", "--out", folder / "run", "--steps", 6, "--log-every", 1,
            "--set", "checkpoint.every=5", "--tokenizer", folder / "tokenizer", *more]


def check_others(folder: Path) -> None:
    expect((folder / "precious").read_text() == PRECIOUS, "a foreign file was changed")
    expect(not (folder / "made").exists(), "a file was made through a link")
    expect(list((folder / "theirs").iterdir()) == [], "a foreign folder was written to")


def plant(folder: Path, name: str, make) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)
    path = folder / "run" / name
    path.parent.mkdir(parents=True)
    make(path, folder)
    before = path.lstat().st_mode
    status, output = run(*training(folder), timeout=20)
    expect(status in (0, 1, 70), f"exit status {status}: {output[:600]}")
    expect(status == 0 or name.split("/")[0] in output, f"not named: {output[:600]}")
    # A folder linked into the run's directory belongs to the run.
    if name in FOLDERS:
        expect((folder / "precious").read_text() == PRECIOUS, "a foreign file was changed")
    else:
        check_others(folder)
    shutil.rmtree(folder / "theirs")
    (folder / "theirs").mkdir()
    if name.endswith(".partial") or stat.S_ISLNK(before):
        return
    expect(stat.S_IFMT(path.lstat().st_mode) == stat.S_IFMT(before), "it was replaced")
    expect(status == 1 or name in FOLDERS, f"exit status {status}: {output[:600]}")
    expect("step 1/6" not in output or status == 0, f"it began all the same: {output[:600]}")


def write_to(folder: Path, option: str, target: Path, accepted: bool) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)
    before = target.lstat()
    status, output = run(*training(folder, option, target, "--resume", "none"), timeout=20)
    expect(status == (0 if accepted else 1), f"exit status {status}: {output[:600]}")
    expect(accepted or f"cannot write '{target}'" in output, f"not named: {output[:600]}")
    after = target.lstat()
    expect((before.st_ino, before.st_mode) == (after.st_ino, after.st_mode), "it was replaced")


def write_through(folder: Path) -> None:
    """An output that is a link to a file becomes a separate file."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    target = folder / "output"
    target.symlink_to(folder / "precious")
    run_well(*training(folder, "--save-initial", target, "--resume", "none"))
    check_others(folder)
    expect(not target.is_symlink() and target.stat().st_size > 1000, "there are no weights")


def planted(everything: bool, chance, folder: Path):
    (folder / "text").write_bytes(TEXT)
    (folder / "precious").write_text(PRECIOUS)
    (folder / "theirs").mkdir()
    (folder / "tokenizer").mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / "tokenizer" / name).write_text("{}")
    names = [".lock", *FILES, *TEMPORARIES, *FOLDERS]
    for name in names:
        for words, make in PLANTS.items():
            if everything or chance.random() < 0.4:
                yield f"{name} is {words}", partial(plant, folder, name, make)
    os.mkfifo(folder / "pipe")
    make_device(folder / "full")
    (folder / "to-full").symlink_to("/dev/full")
    (folder / "to-null").symlink_to("/dev/null")
    for option in ("--save-initial", "--save-gradients"):
        for target, accepted in ((folder / "pipe", False), (folder / "full", False),
                                 (folder / "to-full", False), (folder / "to-null", True),
                                 (Path("/dev/null"), True), (folder / "theirs", False)):
            yield f"{option} {target.name}", partial(write_to, folder, option, target, accepted)
    yield "an output is a link", partial(write_through, folder)
