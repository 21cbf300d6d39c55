"""Power cuts: a program trains on a file system in a file, and is stopped at a random moment. A copy of the
file then has the content of a disk after a power failure: synced data, and arbitrary other writes. From the
copy the run must continue after its last completed checkpoint, and end bitwise equal to an undisturbed run.

The file system is ext4 with its default options. A disk's own cache is not part of the trial.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from trials import TEXT, Skipped, Wrong, expect, losses, run_well, start

EVERY, STEPS = 5, 90
MEBIBYTES = 32

# A library whose fsync() ignores checkpoint.json: the trial must detect it.
FORGETFUL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int fsync(int file) {
  char link[64], name[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, "checkpoint.json"))
    return 0;
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
"""


def command(*words) -> None:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


@contextmanager
def mounted(image: Path, at: Path):
    at.mkdir(exist_ok=True)
    command("mount", "-o", "loop", image, at)
    try:
        yield at
    finally:
        for _ in range(50):  # the killed process may still exist
            if subprocess.run(["umount", at], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        else:
            command("umount", "-l", at)


def make_image(image: Path) -> None:
    with open(image, "wb") as file:
        file.truncate(MEBIBYTES << 20)
    command("mkfs.ext4", "-q", "-F", image)


def copy_image(image: Path, copy: Path) -> None:
    """An atomic copy: the kernel may write back while a file is copied."""
    for _ in range(20):
        shutil.copyfile(image, copy)
        if subprocess.run(["cmp", "-s", image, copy]).returncode == 0:
            return
    raise OSError(f"{image} did not come to rest")


def check_tools(folder: Path) -> None:
    if os.geteuid() != 0:
        raise Skipped("mounting a file system takes root")
    if not shutil.which("mkfs.ext4"):
        raise Skipped("there is no mkfs.ext4")
    try:
        make_image(folder / "probe")
        with mounted(folder / "probe", folder / "mounted"):
            pass
    except OSError as error:
        raise Skipped(f"no file system in a file can be mounted: {error}")


def training(folder: Path, out: Path, keep: int, steps: int, mode="sync") -> list:
    return ["--data", folder / "text", "--out", out, "--steps", steps, "--log-every", 1, "--set",
            f"checkpoint.every={EVERY}", "--set", f"checkpoint.keep={keep}", "--set",
            f"checkpoint.mode={mode}"]


def completed(out: Path, mode: str) -> int:
    """The step of the last checkpoint that must be complete, by the rows of metrics. Training continues beside
    a checkpoint in the background, but the next one waits for it."""
    last = max(max(losses(out), default=0) - 1, 0) // EVERY * EVERY
    return max(last - (EVERY if mode == "async" else 0), 0)


def check_end(out: Path, whole: Path) -> None:
    expect(losses(out) == losses(whole), "the losses are not those of a run that nobody cut")
    expect((out / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes(),
           "the weights are not those of a run that nobody cut")
    expect('"finished"' in (out / "status.json").read_text(), "the status is not finished")


def stop(process) -> None:
    """Stops the process; a process that syncs a file stops after the sync."""
    if process.poll() is None:  # it may have finished
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def cut(folder: Path, seconds: float, keep: int, mode="sync", variables=None) -> None:
    """Stops a run after `seconds`, and resumes it from the copy of its file system."""
    image, copy, live, after = (folder / name for name in ("image", "copy", "live", "after"))
    make_image(image)
    with mounted(image, live):
        process = start(*training(folder, live / "run", keep, STEPS, mode), variables=variables)
        time.sleep(seconds)
        stop(process)
        copy_image(image, copy)
        saved = completed(live / "run", mode)
        process.kill()
        process.communicate()
    with mounted(copy, after):
        output = run_well(*training(folder, after / "run", keep, STEPS, mode))
        words = output.split("resuming after step ")
        resumed = int(words[1].split()[0]) if len(words) > 1 else 0
        expect(resumed >= saved, f"saved step {saved}, resumed after {resumed}: {output[:600]}")
        expect("warning" not in output, output[:600])
        check_end(after / "run", folder / "whole")
        left = list((after / "run").rglob("*.partial"))
        expect(not left, f"left behind: {left}")


def cut_at_end(mode: str, folder: Path) -> None:
    """Cuts the power right after the program has ended with status 0."""
    image, copy, live, after = (folder / name for name in ("image", "copy", "live", "after"))
    make_image(image)
    with mounted(image, live):
        run_well(*training(folder, live / "run", 1, STEPS, mode))
        copy_image(image, copy)
    with mounted(copy, after):
        check_end(after / "run", folder / "whole")
        names = [path.name for path in (after / "run/checkpoints").iterdir()]
        expect(names == [f"step-{STEPS}"], f"checkpoints {names}")
        for name in ("config.toml", "program.titan"):
            expect((after / "run" / name).stat().st_size > 0, f"{name} is empty")


def write_tokenizer(folder: Path) -> Path:
    """Any files of a tokenizer; larger than what a journal keeps beside the names."""
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps({"vocabulary": list(range(20_000))}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>"}))
    return folder


def expect_tokenizer(at: Path, tokenizer: Path) -> None:
    for file in tokenizer.iterdir():
        expect((at / file.name).read_bytes() == file.read_bytes(), f"{file.name} is not the copied one")


def cut_with_tokenizer(folder: Path) -> None:
    """Cuts the power after a run with a tokenizer."""
    tokenizer = write_tokenizer(folder / "tokenizer")
    image, copy, live, after = (folder / name for name in ("image", "copy", "live", "after"))
    make_image(image)
    with mounted(image, live):
        run_well(*training(folder, live / "run", 1, STEPS), "--tokenizer", tokenizer)
        copy_image(image, copy)
    with mounted(copy, after):
        check_end(after / "run", folder / "whole")
        expect_tokenizer(after / "run", tokenizer)


def cut_after_export(again: bool, folder: Path) -> None:
    """Cuts the power after an export; `again`: over an earlier one, of other weights."""
    tokenizer = write_tokenizer(folder / "tokenizer")
    image, copy, live, after = (folder / name for name in ("image", "copy", "live", "after"))
    make_image(image)
    export = ["export", "--tokenizer", tokenizer, "--init-from"]
    run_well(*export, folder / "whole", "--hf", folder / "exported")
    with mounted(image, live):
        if again:
            run_well(*training(folder, folder / "other", 1, STEPS // 2))
            run_well(*export, folder / "other", "--hf", live / "hf")
        run_well(*export, folder / "whole", "--hf", live / "hf")
        copy_image(image, copy)
    with mounted(copy, after):
        names = sorted(path.name for path in (folder / "exported").iterdir())
        expect(sorted(path.name for path in (after / "hf").iterdir()) == names, "other files than without a cut")
        for name in names:
            expect((after / "hf" / name).read_bytes() == (folder / "exported" / name).read_bytes(), f"{name} differs")
        expect_tokenizer(after / "hf", tokenizer)
    shutil.rmtree(folder / "exported")


def detects_missing_sync(folder: Path) -> None:
    """If checkpoint.json is not synced, a cut loses checkpoints: the trial must detect it."""
    (folder / "forgetful.c").write_text(FORGETFUL)
    library = folder / "forgetful.so"
    command("cc", "-shared", "-fPIC", "-o", library, folder / "forgetful.c", "-ldl")
    try:
        cut(folder, 0.5, 3, variables={"LD_PRELOAD": str(library)})
    except Wrong:
        return
    raise Wrong("a checkpoint.json that is not synced was not noticed")


def power_cuts(count: int, chance, folder: Path):
    check_tools(folder)
    (folder / "text").write_bytes(TEXT)
    run_well(*training(folder, folder / "whole", 0, STEPS))
    yield "a checkpoint.json that is not synced is noticed", partial(detects_missing_sync, folder)
    yield "after a run with a tokenizer", partial(cut_with_tokenizer, folder)
    for again in (False, True):
        yield f"after an export{', over another' if again else ''}", partial(cut_after_export, again, folder)
    for number in range(count):
        mode = ("sync", "async")[number % 2]
        if number % 5 == 4:
            yield f"right after the end, {mode}", partial(cut_at_end, mode, folder)
        else:
            seconds, keep = chance.uniform(0.02, 0.8), chance.choice([1, 3])
            yield f"after {seconds:.3f} s, keep {keep}, {mode}", partial(cut, folder, seconds, keep, mode)
