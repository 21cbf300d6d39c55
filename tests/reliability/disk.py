"""Full disks: a run on a file system that is too small ends with a fault that names the file. With enough
space, it continues after its last checkpoint, to the results of an undisturbed run."""

import os
import subprocess
from functools import partial
from pathlib import Path

from damage import check_end, training
from trials import TEXT, Skipped, expect, run, run_well


def mount(at: Path, *options: str) -> None:
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", at], capture_output=True, text=True)
    if done.returncode:
        raise Skipped(f"no file system in memory can be mounted: {done.stderr.strip()}")


def fill(folder: Path, kibibytes: int, mode: str) -> None:
    at = folder / "small"
    chosen = ["--set", f"checkpoint.mode={mode}"]
    mount(at, "-o", f"size={kibibytes}k")
    try:
        status, output = run(*training(folder, at / "run"), *chosen)
        if status != 0:
            expect(status == 70 and "No space left" in output, f"{status}: {output[-600:]}")
            expect(str(at) in output, f"no file is named: {output[-600:]}")
        mount(at, "-o", "remount,size=64m")
        run_well(*training(folder, at / "run"), *chosen)
        check_end(at / "run", folder)
    finally:
        subprocess.run(["umount", at], check=True)


def full_disks(count: int, chance, folder: Path):
    if os.geteuid() != 0:
        raise Skipped("mounting a file system takes root")
    (folder / "text").write_bytes(TEXT)
    run_well(*training(folder, folder / "whole"))
    for number in range(count):
        kibibytes, mode = chance.randint(4, 5000), ("sync", "async")[number % 2]
        yield f"{kibibytes} KiB, {mode}", partial(fill, folder, kibibytes, mode)
