"""The finished files PREFIX.bin, .weights.bin, .idx and .json, and the lock on their folder of unfinished work."""

import fcntl
import json
import os
import shutil
import sys
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import sync, sync_folder

# The endings of the finished files, by their names in PREFIX.partial, in the order in which they are renamed. Programs
# need .idx, and a later preparation needs .json, so both are last.
ENDINGS = {"tokens": ".bin", "weights": ".weights.bin", "index": ".idx", "sidecar": ".json"}
COMPLETE = "complete"  # exists from the moment when only renaming is left; lists the files


def with_ending(prefix: Path, ending: str) -> Path:
    return prefix.with_name(prefix.name + ending)


class Lock:
    """Excludes other preparations of the same prefix, also of other processes of one run, and waits for them."""

    def __init__(self, folder: Path):
        self.folder, self.file = folder, None

    def __enter__(self) -> Path:
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self.file = open(self.folder / "lock", "a")
            except FileNotFoundError:  # the other preparation has removed the folder since
                continue
            self.wait()
            if self.still_there():
                return self.folder
            self.file.close()

    def wait(self) -> None:
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another preparation of {self.folder.stem}", file=sys.stderr)
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def still_there(self) -> bool:
        """The other preparation may have ended and removed the folder."""
        try:
            return os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.folder / "lock"))
        except FileNotFoundError:
            return False

    def __exit__(self, *_) -> None:
        self.file.close()


def remove_locked(folder: Path) -> None:
    """Removes a folder whose lock the caller has. The folder is renamed first, so that a preparation that waits cannot
    lock a folder of which some files are removed."""
    removed = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        os.rename(folder, removed)
    except FileNotFoundError:
        return
    shutil.rmtree(removed, ignore_errors=True)


def write_complete(folder: Path, names: list[str], sidecar: dict) -> None:
    """The sidecar, and then the mark that all is ready to be renamed."""
    write_synced(folder / "sidecar", json.dumps(sidecar, indent=1, ensure_ascii=False) + "\n")
    write_synced(folder / f"{COMPLETE}.new", json.dumps(names))
    sync_folder(folder)
    os.rename(folder / f"{COMPLETE}.new", folder / COMPLETE)
    sync_folder(folder)


def write_synced(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        sync(file)


def publish(folder: Path, prefix: Path) -> None:
    """Gives the files their names; continues after a crash in between. Until the last one has its name, there is no
    index and no sidecar of older files beside new ones."""
    names = json.loads((folder / COMPLETE).read_text())
    if (folder / "tokens").exists():
        for ending in reversed(ENDINGS.values()):
            if ending != ".bin":
                with_ending(prefix, ending).unlink(missing_ok=True)
    for name in names:
        if (folder / name).exists():
            os.replace(folder / name, with_ending(prefix, ENDINGS[name]))
    sync_folder(prefix.absolute().parent)
    remove_locked(folder)


def require_regular(prefix: Path) -> None:
    """Outputs replace regular files and nothing else."""
    for ending in ENDINGS.values():
        path = with_ending(prefix, ending)
        if path.exists() and not path.is_file():
            raise UserError(f"'{path}' is not a regular file, and is not replaced")
