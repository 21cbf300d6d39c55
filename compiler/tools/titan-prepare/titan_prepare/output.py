"""The finished files PREFIX.bin, .weights.bin, .idx and .json, or PREFIX.safetensors and .json, and the lock on their
folder of unfinished work."""

import fcntl
import json
import os
import shutil
import sys
from pathlib import Path

from titan_prepare.errors import UserError, printable
from titan_prepare.files import Folder, checksum_of

# The endings of the finished files, by their names in PREFIX.partial, in the order in which they are renamed. Programs
# need .idx, and a later preparation needs .json, so both are last.
ENDINGS = {"tokens": ".bin", "weights": ".weights.bin", "index": ".idx", "arrays": ".safetensors", "sidecar": ".json"}
COMPLETE = "complete"  # exists from the moment when only renaming is left; lists the files
LISTS = (["tokens", "index", "sidecar"], ["tokens", "weights", "index", "sidecar"], ["arrays", "sidecar"])  # all that it can list
LOCK = "lock"
MOST_BYTES = 1 << 30  # of a sidecar, which lists the inputs


def with_ending(prefix: Path, ending: str) -> Path:
    return prefix.with_name(prefix.name + ending)


class Lock:
    """Excludes other preparations of the same prefix, also of other processes of one run, and waits for them."""

    def __init__(self, path: Path):
        self.path, self.folder, self.file = path, None, None

    def __enter__(self) -> Folder:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                self.path.mkdir(mode=0o700, exist_ok=True)
                self.folder = Folder(self.path, private=True)
                self.file = self.folder.open_or_create(LOCK)
                self.wait()
                if self.still_there():
                    return self.folder
            except FileNotFoundError:  # the other preparation has removed the folder since
                pass
            except FileExistsError as error:
                raise UserError(f"'{self.path}' is no folder") from error
            self.release()

    def wait(self) -> None:
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another preparation of {printable(self.path.stem)}", file=sys.stderr)
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def still_there(self) -> bool:
        """The other preparation may have ended and removed the folder."""
        return os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path / LOCK, follow_symlinks=False))

    def release(self) -> None:
        for opened in (self.file, self.folder):
            if opened:
                opened.close()
        self.file = self.folder = None

    def __exit__(self, *_) -> None:
        self.release()


def remove_locked(folder: Folder) -> None:
    """Removes a folder whose lock the caller has. The folder is renamed first, so that a preparation that waits cannot
    lock a folder of which some files are removed."""
    removed = folder.path.with_name(f"{folder.path.name}.{os.getpid()}")
    try:
        if not os.path.samestat(os.fstat(folder.descriptor), os.stat(folder.path, follow_symlinks=False)):
            return  # it is removed, and another preparation has begun
        os.rename(folder.path, removed)
    except FileNotFoundError:
        return
    shutil.rmtree(removed, ignore_errors=True)


def write_complete(folder: Folder, names: list[str], sidecar: dict) -> None:
    """The sidecar, and then the mark that all is ready to be renamed."""
    text = printable(json.dumps(sidecar, indent=1, ensure_ascii=False)) + "\n"
    folder.write("sidecar", text.encode())
    folder.write(COMPLETE, json.dumps(names).encode())


def publish(folder: Folder, prefix: Path, names: list[str]) -> None:
    """Gives the files their names. Until the last one has its name, there is no index and no sidecar of older files
    beside new ones."""
    with Folder(prefix.absolute().parent) as target:
        if folder.status(names[0]):
            for ending in reversed(ENDINGS.values()):
                if ending != ENDINGS[names[0]]:
                    target.remove(prefix.name + ending)
            target.sync()
        for name in names:
            if folder.status(name):
                give_time(folder, name)
                folder.move(name, target, prefix.name + ENDINGS[name])
        target.sync()
    remove_locked(folder)


def give_time(folder: Folder, name: str) -> None:
    """The files of a preparation have one time of modification, so that a later change of one shows."""
    time = folder.status(COMPLETE).st_mtime_ns
    os.utime(name, ns=(time, time), dir_fd=folder.descriptor, follow_symlinks=False)


def publish_found(folder: Folder, prefix: Path) -> None:
    """Continues `publish` after a crash. The mark is believed only if it lists what this program lists, and if the files
    are those of the sidecar."""
    names = json_of(folder.read(COMPLETE, 1 << 10))
    sidecar = json_of(read_moved(folder, prefix, "sidecar"))
    if names not in LISTS or not has_checksums(sidecar):
        raise UserError(f"'{folder.path}' has a mark that titan-prepare did not write; remove this folder")
    for name in names[:-1]:
        with open_moved(folder, prefix, name) as file:
            if checksum_of(file) != sidecar["outputs"]["crc32"].get(ENDINGS[name]):
                raise UserError(f"'{folder.path}' has a file `{name}` that is not the one of its sidecar; remove this "
                                "folder")
    publish(folder, prefix, names)


def json_of(data: bytes):
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def has_checksums(sidecar) -> bool:
    outputs = sidecar.get("outputs") if isinstance(sidecar, dict) else None
    return isinstance(outputs, dict) and isinstance(outputs.get("crc32"), dict)


def open_moved(folder: Folder, prefix: Path, name: str):
    """A file of the folder, which may have its final name already."""
    try:
        if folder.status(name):
            return folder.open(name)
        with Folder(prefix.absolute().parent) as target:
            return target.open(prefix.name + ENDINGS[name])
    except FileNotFoundError as error:
        raise UserError(f"'{folder.path}' lacks the file `{name}`, which its mark lists; remove this folder") from error


def read_moved(folder: Folder, prefix: Path, name: str) -> bytes:
    with open_moved(folder, prefix, name) as file:
        return file.read(MOST_BYTES)


def require_regular(prefix: Path) -> None:
    """Outputs replace regular files and nothing else."""
    for ending in ENDINGS.values():
        path = with_ending(prefix, ending)
        if path.exists() and not path.is_file():
            raise UserError(f"'{path}' is not a regular file, and is not replaced")
