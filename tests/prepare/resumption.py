"""Resumption: after kills at random moments, and with files truncated by a power failure, the output is the same."""

import json
import os
import random
import resource
import shutil
import signal
import time
from pathlib import Path

import makers
from prepared import contents, expect, prepare, read, refused, run, start, write_lines, Wrong
from texts import corpus


def write_source(out: Path, documents: int) -> Path:
    return write_lines(out / "in.jsonl", [{"q": text[:9], "a": text[9:]} for text in corpus(documents, seed=5)])


def options(source: Path, prefix: Path) -> list:
    return [source, "--prompt", "q", "--answer", "a", "--tokenizer", source.parent / "bpe", "-o", prefix,
            "--chunk-bytes", 20_000]


def finished(out: Path, documents: int = 1500) -> tuple[Path, Path, dict[str, bytes]]:
    """A source, a prefix, and the files that an undisturbed preparation gives for it."""
    source = write_source(out, documents)
    makers.byte_pairs(out / "bpe")
    prepare(*options(source, out / "whole" / "data"))
    return source, out / "data", contents(out / "whole" / "data")


def any_number_of_workers(out: Path) -> None:
    source, _, expected = finished(out)
    for workers in (2, 3):
        prepare(*options(source, out / f"{workers}" / "data"), workers=workers)
        expect(contents(out / f"{workers}" / "data") == expected, f"{workers} workers")


def children_of(process) -> list[int]:
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what, seconds: float = 300) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.002)  # a unit of work takes a few milliseconds
    return False


def journal_lines(prefix: Path) -> int:
    path = Path(f"{prefix}.partial/journal")
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_nine(out: Path) -> None:
    """Runs are killed, each after some more units. Workers end with their parent; the last run prepares only missing
    units."""
    source, prefix, expected = finished(out)
    draw, kills = random.Random(11), 0
    for workers in (1, 3, 2, 1):
        before = journal_lines(prefix)
        process = start(*options(source, prefix), "--workers", workers)
        expect(wait_for(lambda: journal_lines(prefix) > max(before, 1) + draw.randint(0, 2) or process.poll() is not None),
               "no progress")
        worker_ids = children_of(process)
        process.kill()
        process.wait()
        process.stdout.close()
        kills += process.returncode == -signal.SIGKILL
        expect(wait_for(lambda: not any(map(alive, worker_ids)), 60), "workers live on")
    expect(kills >= 2 and not Path(f"{prefix}.idx").exists(), f"killed only {kills} times in time")
    prepare(*options(source, prefix), workers=2)
    expect(contents(prefix) == expected, "the files differ")
    expect(not Path(f"{prefix}.partial").exists(), "unfinished work is left")


def signalled(source: Path, prefix: Path, workers: int, lines: int, number: signal.Signals):
    """A run that got the signal when the journal had more than `lines` lines, and its output. On a busy machine a run
    may end before that; then another one begins."""
    for _ in range(10):
        process = start(*options(source, prefix), "--workers", workers)
        expect(wait_for(lambda: journal_lines(prefix) > lines or process.poll() is not None), "no progress")
        process.send_signal(number)
        output, _ = process.communicate(timeout=300)
        if process.returncode != 0:
            return process, output
        for made in prefix.parent.glob(f"{prefix.name}.*"):
            made.unlink()
    raise Wrong("each run ended before the signal")


def interrupted(out: Path) -> None:
    """Ctrl-C ends the preparation with status 1 and a message how to continue."""
    source, prefix, expected = finished(out, documents=12000)  # so that the signal comes before the end on a busy machine, too
    process, output = signalled(source, prefix, 2, 2, signal.SIGINT)
    expect(process.returncode == 1 and "the same command continues" in output, f"{process.returncode}: {output}")
    prepare(*options(source, prefix))
    expect(contents(prefix) == expected, "the files differ")


def unfinished(out: Path) -> tuple[Path, Path, dict[str, bytes], Path]:
    """As `finished`, with the folder of a run that was killed after some units."""
    source, prefix, expected = finished(out)
    signalled(source, prefix, 1, 4, signal.SIGKILL)
    folder = Path(f"{prefix}.partial")
    expect(folder.exists(), "it ended before it was killed")
    return source, prefix, expected, folder


def cut_files(out: Path) -> None:
    """A torn journal, and files with more than the journal says, continue."""
    source, prefix, expected, folder = unfinished(out)
    saved = out / "saved"
    shutil.copytree(folder, saved)
    journal = (folder / "journal").read_bytes()
    lines = journal.splitlines(keepends=True)
    for kept in (b"", lines[0][:20], lines[0], b"".join(lines[:3]) + lines[3][:-1], b"".join(lines[:3]) + b"\0" * 100):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(saved, folder)
        (folder / "journal").write_bytes(kept)
        with open(folder / "tokens", "ab") as tokens:
            tokens.write(b"\xff" * 999)
        prepare(*options(source, prefix))
        expect(contents(prefix) == expected, f"after {len(kept)} bytes of the journal")
        for path in out.glob("data.*"):
            path.unlink()
    shutil.copytree(saved, folder)
    os.truncate(folder / "tokens", 3)
    refused(1, ["less data in `tokens`", "--force"], *options(source, prefix))
    prepare(*options(source, prefix), "--force")
    expect(contents(prefix) == expected, "after --force")


def crash_while_renaming(out: Path) -> None:
    """With any number of the files renamed, the next run completes them."""
    source, prefix, expected = finished(out)
    names = {"tokens": ".bin", "weights": ".weights.bin", "index": ".idx", "sidecar": ".json"}
    folder = Path(f"{prefix}.partial")
    for renamed in range(5):
        for path in out.glob("data.*"):
            path.unlink()
        folder.mkdir()
        (folder / "complete").write_text(json.dumps(list(names)))
        for number, (name, ending) in enumerate(names.items()):
            (Path(f"{prefix}{ending}") if number < renamed else folder / name).write_bytes(expected[f"data{ending}"])
        output = prepare(*options(source, prefix))
        expect("up to date" in output and contents(prefix) == expected, f"{renamed} renamed: {output}")


def up_to_date(out: Path) -> None:
    """Equal inputs and options do nothing, also after a copy or a touch; anything else is refused, or replaced."""
    source, prefix, expected = finished(out)
    prepare(*options(source, prefix))
    written = Path(f"{prefix}.bin").stat().st_mtime_ns
    os.utime(source)
    for arguments in (options(source, prefix), [*options(source, prefix), "--workers", "3", "--chunk-bytes", "999"]):
        output = prepare(*arguments)
        expect("up to date" in output and Path(f"{prefix}.bin").stat().st_mtime_ns == written, output)
    refused(1, ["options", "--force"], *options(source, prefix), "--eos", "none")
    expect(contents(prefix)["data.bin"] == expected["data.bin"], "it was changed")
    write_lines(out / "bpe" / "tokenizer_config.json", [{"eos_token": "<|end|>"}])
    refused(1, ["(tokenizer)"], *options(source, prefix))
    makers.byte_pairs(out / "bpe")
    with open(source, "a") as lines:
        lines.write('{"q": "new", "a": "line"}\n')
    refused(1, ["(inputs)"], *options(source, prefix))
    before = len(read(prefix).documents)
    output = prepare(*options(source, prefix), "--force")
    expect("up to date" not in output and len(read(prefix).documents) == before + 1, output)
    prepare(source, "--field", "a", "--tokenizer", "bytes", "-o", prefix, "--force")
    expect(not Path(f"{prefix}.weights.bin").exists(), "weights of the replaced files are left")


def damaged_output(out: Path) -> None:
    """A file of the wrong size is prepared again; files of somebody else are not replaced."""
    source, prefix, expected = finished(out)
    prepare(*options(source, prefix))
    os.truncate(f"{prefix}.bin", 10)
    prepare(*options(source, prefix))
    expect(contents(prefix)["data.bin"] == expected["data.bin"], "not repaired")
    Path(f"{prefix}.json").write_text('{"something": "else"}')
    refused(1, ["data.json", "--force"], *options(source, prefix))


def two_at_once(out: Path) -> None:
    """Several processes prepare the same data, like the ranks of a run: one prepares, the others wait for it."""
    source, prefix, expected = finished(out)
    processes = [start(*options(source, prefix), "--workers", "1") for _ in range(3)]
    outputs = [process.communicate(timeout=600)[0] for process in processes]
    expect([process.returncode for process in processes] == [0] * 3, "\n".join(outputs))
    expect(sum("up to date" in one for one in outputs) == 2, "\n".join(outputs))
    expect(contents(prefix) == expected, "the files differ")


def full_disk(out: Path) -> None:
    """A file that may not grow ends the preparation with the reason; afterwards it continues."""
    source, prefix, expected = finished(out)
    limit = len(expected["data.bin"]) // 2
    status, output = run(*options(source, prefix), "--workers", "2",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    expect(status == 1 and "File too large" in output and "Traceback" not in output, f"status {status}: {output}")
    expect(journal_lines(prefix) > 2, "nothing was kept")
    prepare(*options(source, prefix))
    expect(contents(prefix) == expected, "the files differ")


def other_work(out: Path) -> None:
    """Unfinished work with other options is not thrown away without --force."""
    source, prefix, _, folder = unfinished(out)
    refused(1, [folder.name, "--force"], *options(source, prefix), "--max-length", 5, "--overlong", "skip")
    status, output = run(*options(source, prefix), "--max-length", 5, "--overlong", "skip", "--force")
    expect(status == 0 and max(map(len, read(prefix).documents)) <= 5, output)


CASES = [any_number_of_workers, kill_nine, interrupted, cut_files, crash_while_renaming, up_to_date, damaged_output,
         two_at_once, full_disk, other_work]
