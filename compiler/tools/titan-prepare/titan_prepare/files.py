"""Reading and writing files so that a crash or a power failure leaves either the old or the new file, and that a name
which somebody else has planted is neither followed nor believed."""

import hashlib
import json
import os
import secrets
import shutil
import stat
import zlib
from pathlib import Path

from titan_prepare.errors import UserError

BLOCK = 1 << 20


def digest_of(path: str | os.PathLike) -> str:
    """SHA-256 of a file, as sha256sum prints it."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def digest_of_json(value) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def checksum_of(file, size: int | None = None) -> int:
    """CRC-32 of the first `size` bytes of an open file, or of all."""
    checksum, left = 0, size
    file.seek(0)
    while block := file.read(BLOCK if left is None else min(BLOCK, left)):
        checksum = zlib.crc32(block, checksum)
        left = None if left is None else left - len(block)
    return checksum


def sync(file) -> None:
    file.flush()
    os.fsync(file.fileno())


def unique_name(name: str) -> str:
    """A name for a file that becomes `name`. Nobody can guess it, and listings leave it out."""
    return f".{name}.{os.getpid()}-{secrets.token_hex(6)}"


class Folder:
    """A folder that is opened once, so that it stays the same whatever happens to its path. Names in it are plain; no link
    is followed; what is opened is a regular file of this user, with one name, and what is created did not exist."""

    def __init__(self, path: Path, private: bool = False):
        """`private`: it must belong to this user, and nobody else may write to it from now on."""
        self.path = path
        try:
            self.descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if private else 0))
        except NotADirectoryError as error:  # a link, too
            raise UserError(f"'{path}' is a link, or no folder, and is not used") from error
        if private:
            self.require_own(os.fstat(self.descriptor), path)
            os.fchmod(self.descriptor, 0o700)

    @property
    def anchor(self) -> Path:
        """A path to this folder for all processes of this user, while this one lives."""
        return Path(f"/proc/{os.getpid()}/fd/{self.descriptor}")

    @staticmethod
    def require_own(status: os.stat_result, path: Path) -> None:
        if status.st_uid != os.geteuid():
            raise UserError(f"'{path}' belongs to user {status.st_uid}, not to {os.geteuid()}, and is not used")

    def status(self, name: str) -> os.stat_result | None:
        """None if there is no such name."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str, flags: int = os.O_RDONLY):
        """An existing file, or with O_CREAT a new one, for reading or with O_RDWR for writing in the middle."""
        path = self.path / name
        try:
            descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666, dir_fd=self.descriptor)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise UserError(f"'{path}' is not a regular file that can be opened: {error.strerror}") from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            os.close(descriptor)
            raise UserError(f"'{path}' is not a regular file with one name, and is not used")
        self.require_own(status, path)
        return os.fdopen(descriptor, "r+b" if flags & os.O_RDWR else "rb")

    def create(self, name: str):
        """A new file for reading and writing."""
        return self.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL)

    def open_or_create(self, name: str):
        return self.open(name, os.O_RDWR | os.O_CREAT)

    def read(self, name: str, most: int) -> bytes:
        with self.open(name) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise UserError(f"'{self.path / name}' is larger than any that titan-prepare writes, and is not used")
        return data

    def write(self, name: str, data: bytes) -> None:
        """The file is complete under its name, on the disk, or is as it was."""
        unfinished = unique_name(name)
        try:
            with self.create(unfinished) as file:
                file.write(data)
                sync(file)
            os.rename(unfinished, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except BaseException:
            self.remove(unfinished)
            raise
        self.sync()

    def move(self, name: str, target: "Folder", new_name: str) -> None:
        os.rename(name, new_name, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            pass

    def make_folder(self, prefix: str) -> str:
        """The name of a new, private folder in this one."""
        name = f"{prefix}{secrets.token_hex(6)}"
        os.mkdir(name, 0o700, dir_fd=self.descriptor)
        return name

    def remove_folders(self, prefix: str) -> None:
        """Removes what begins with `prefix`, links themselves instead of what they name."""
        for name in os.listdir(self.descriptor):
            if name.startswith(prefix):
                if stat.S_ISDIR(self.status(name).st_mode):
                    shutil.rmtree(name, dir_fd=self.descriptor)
                else:
                    self.remove(name)

    def sync(self) -> None:
        """Makes the names durable."""
        os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def belongs_to_others(path: Path) -> bool:
    """Whether another user, who is not the administrator, may have written a file."""
    return path.exists() and path.stat().st_uid not in (os.geteuid(), 0)


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UserError(f"'{path}' cannot be read: {error}") from error


def read_json(path: Path) -> dict:
    """An object; a missing file or other content is an error with the file's name."""
    try:
        value = json.loads(read_text(path))
        json.dumps(value, ensure_ascii=False).encode()  # without halves of surrogate pairs, which no library takes
    except (ValueError, RecursionError) as error:
        raise UserError(f"'{path}' cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise UserError(f"'{path}' is not a JSON object")
    return value
