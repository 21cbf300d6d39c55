"""Names, sizes and marks that somebody else has put where titan-prepare works: nothing outside is written, nothing planted
is believed, and two preparations are never mixed."""

import json
import os
import random
import shutil
import sys
import zlib
from pathlib import Path

import numpy
from hostile_values import change_value
from prepared import PACKAGE, contents, expect, prepare, read, refused, run, write_lines

HEAD = {"identity": "x", "units": "y"}
LEFT = b"precious\n" * 100
NAMES = ("tokens", "lengths", "weights", "journal", "inputs.json", "sidecar", "index", "complete", "lock")


def write_source(out: Path) -> tuple:
    source = write_lines(out / "in.jsonl", [{"text": "abc"}, {"text": "defg"}])
    return source, "--tokenizer", "bytes", "-o", out / "o"


def planted_links(out: Path) -> None:
    """A link in the folder of unfinished work, also a second name of a file, is not followed; nor is the folder, if it is
    a link."""
    arguments, victim = write_source(out), out / "precious"
    victim.write_bytes(LEFT)
    for plant in (os.symlink, os.link):
        for name in NAMES:
            (out / "o.partial").mkdir()
            plant(victim, out / "o.partial" / name)
            status, output = run(*arguments)
            expect(victim.read_bytes() == LEFT, f"{plant.__name__} {name}: overwritten")
            expect(status in (0, 1) and "Traceback" not in output, f"{name}: {status} {output}")
            if status == 0:
                expect(read(out / "o").documents == [list(b"abc"), list(b"defg")], f"{name}: other documents")
            for left in out.glob("o.*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    (out / "folder").mkdir()
    (out / "o.partial").symlink_to(out / "folder")
    refused(1, ["o.partial", "is a link"], *arguments)
    expect(not list((out / "folder").iterdir()), "worked in the folder of the link")


def journal_line(value) -> bytes:
    text = json.dumps(value).encode() + b"\n"
    return b"%08x " % zlib.crc32(text) + text


def write_unfinished(path: Path) -> list:
    """Writes a folder of unfinished work with three units; returns the lines of its journal as values."""
    from titan_prepare.files import Folder
    from titan_prepare.indexed import TYPES
    from titan_prepare.journal import Journal
    from titan_prepare.work import Report
    path.mkdir()
    with Folder(path, private=True) as folder:
        journal = Journal(folder, HEAD, TYPES[1], True, False)
        for _ in range(3):
            unit = path / "units-x"
            unit.mkdir()
            for name, data in (("tokens", b"12345678"), ("lengths", b"\4\0\0\0"), ("weights", b"\0\1\1\1")):
                (unit / name).write_bytes(data)
            journal.append(unit, Report(1, 4, 3))
        journal.close()
    return [json.loads(line.partition(b" ")[2]) for line in (path / "journal").read_bytes().splitlines()]


def open_journal(path: Path):
    from titan_prepare.files import Folder
    from titan_prepare.indexed import TYPES
    from titan_prepare.journal import Journal
    return Journal(Folder(path, private=True), HEAD, TYPES[1], True, False)


def journals_with_right_checksums(out: Path) -> None:
    """A journal with other values is refused, or continues with exactly the streams that were written."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.errors import UserError
    out.mkdir(parents=True)
    victim = out / "precious"
    victim.write_bytes(LEFT)
    draw, good, refusals = random.Random(5), write_unfinished(out / "good.partial"), 0
    for number in range(400):
        folder, lines = out / f"{number}.partial", [*good]
        at = draw.randrange(len(lines))
        lines[at] = change_value(lines[at], draw, keys=("../precious", "../../precious", "tokens"))
        if draw.random() < 0.1:
            del lines[draw.randrange(len(lines))]
        shutil.copytree(out / "good.partial", folder)
        (folder / "journal").write_bytes(b"".join(map(journal_line, lines)))
        try:
            journal = open_journal(folder)
        except UserError:
            refusals += 1
            continue
        finally:
            expect(victim.read_bytes() == LEFT, f"{lines}: a foreign file was changed")
        journal.close()
        sizes = {name: (folder / name).stat().st_size for name in ("tokens", "lengths", "weights")}
        done = journal.units
        expect(sizes == {"tokens": 8 * done, "lengths": 4 * done, "weights": 4 * done}, f"{sizes} for {lines}")
        expect(journal.total.documents == done and journal.total.tokens == 4 * done, f"{journal.total} for {lines}")
        shutil.rmtree(folder)
    expect(refusals > 200, f"only {refusals} of 400 journals were refused")
    folder = out / "bits.partial"
    shutil.copytree(out / "good.partial", folder)
    (folder / "tokens").write_bytes(b"12345678" * 2 + b"1234567x")
    try:
        open_journal(folder)
        expect(False, "other tokens than the journal's were believed")
    except UserError as error:
        expect("other data in `tokens`" in str(error), str(error))


def marks_of_complete_work(out: Path) -> None:
    """A mark of complete work and its sidecar with other values: refused, or the tokens and the index are the prepared
    ones."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.errors import UserError
    from titan_prepare.output import Lock, publish_found
    draw, refusals = random.Random(9), 0
    prepare(*write_source(out))
    good = contents(out / "o")
    for number in range(200):
        prefix, mark = out / f"m{number}", ["tokens", "index", "sidecar"]
        sidecar = json.loads(good["o.json"])
        if number % 2:
            mark = change_value(mark, draw, keys=("../in.jsonl", "journal", "../../precious"))
        else:
            sidecar = change_value(sidecar, draw)
        with Lock(prefix.with_name(f"{prefix.name}.partial")) as folder:
            for name, data in (("tokens", good["o.bin"]), ("index", good["o.idx"]), ("sidecar", json.dumps(sidecar).encode()),
                               ("complete", json.dumps(mark).encode())):
                (folder.path / name).write_bytes(data)
            try:
                publish_found(folder, prefix)
            except UserError:
                refusals += 1
                continue
        found = {name.replace(prefix.name, "o"): data for name, data in contents(prefix).items()}
        expect(all(found[name] == good[name] for name in ("o.bin", "o.idx")), f"{mark} {sidecar}: {list(found)}")
    expect(refusals > 100 and (out / "in.jsonl").exists(), f"only {refusals} were refused")


def sidecars_with_other_values(out: Path) -> None:
    """A finished or remembered preparation with other values is no error, and believed only if the files are there."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.sidecar import Identity, Memory, Sidecar
    draw, current = random.Random(10), 0
    prepare(*write_source(out))
    good = json.loads((out / "o.json").read_text())
    source = good["inputs"][0]
    identity = Identity({}, [source], None, good["options"])
    expect(Sidecar.read(out / "o").is_current(identity), "the preparation itself is not current")
    (out / "o.partial").mkdir(mode=0o700)
    for _ in range(600):
        changed = change_value(good, draw)
        (out / "o.json").write_text(json.dumps(changed))
        (out / "o.partial" / "inputs.json").write_text(json.dumps(changed))
        Memory.read(out / "o", out / "o.partial")
        if found := Sidecar.read(out / "o"):
            found.summary(), found.left_out(), found.remarks()
            if found.is_current(identity):
                current += 1
                expect(found.values["outputs"]["bytes"] == good["outputs"]["bytes"], f"{changed}")
    expect(100 < current < 550, f"{current} of 600 are current")


def forged_output(out: Path) -> None:
    """Tokens of the right size are not believed if they were changed; a later touch alone prepares nothing."""
    arguments = write_source(out)
    prepare(*arguments)
    good = contents(out / "o")
    for name in ("o.bin", "o.idx"):
        (out / name).write_bytes(bytes(len(good[name])))
        expect("up to date" not in prepare(*arguments) and contents(out / "o") == good, f"zeros in {name} were believed")
        os.utime(out / name)
        expect("up to date" in prepare(*arguments), f"a touch of {name}")
    if os.geteuid() == 0:
        for name in ("o.json", "o.bin"):
            prepare(*arguments, "--force")
            os.chown(out / name, 1234, 1234)
            status, output = run(*arguments)
            expect("up to date" not in output, f"{name} of another user was believed: {output}")
        (out / "o.partial").mkdir()
        os.chown(out / "o.partial", 1234, 1234)
        refused(1, ["o.partial", "belongs to user 1234"], *arguments, "--force")


def arrays_are_never_mixed(out: Path) -> None:
    """Killed at any change of a name, `--arrays --force` leaves arrays of one data set, or lacks one."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare import arrays, files
    out.mkdir(parents=True)
    for name, value in (("a", 0), ("b", 1)):
        numpy.savez(out / f"{name}.npz", image=numpy.full((5, 2), value, "f4"), label=numpy.full(5, value))
    for killed in range(1, 9):
        shutil.rmtree(out / "o", ignore_errors=True)
        arrays.write_arrays([str(out / "a.npz")], [], out / "o", False)
        if os.fork() == 0:
            changes = iter(range(1, 100))

            def until_killed(change):
                def call(*arguments):
                    return os._exit(1) if next(changes) == killed else change(*arguments)
                return call
            files.Folder.move, files.Folder.remove = map(until_killed, (files.Folder.move, files.Folder.remove))
            arrays.write_arrays([str(out / "b.npz")], [], out / "o", True)
            os._exit(0)
        os.wait()
        found = {path.stem: numpy.load(path).flat[0] for path in (out / "o").glob("*.npy")}
        expect(len(found) < 2 or len(set(found.values())) == 1, f"killed at change {killed}: {found}")
    expect(found == {"image": 1, "label": 1}, f"{found}")
    victim = out / "precious"
    victim.write_bytes(LEFT)
    for name in (".image.npy.new", "image.npy"):
        (out / "o" / name).unlink(missing_ok=True)
        (out / "o" / name).symlink_to(victim)
        arrays.write_arrays([str(out / "a.npz")], [], out / "o", True)
        expect(victim.read_bytes() == LEFT, f"{name} was followed")


CASES = [planted_links, journals_with_right_checksums, marks_of_complete_work, sidecars_with_other_values,
         forged_output, arrays_are_never_mixed]
