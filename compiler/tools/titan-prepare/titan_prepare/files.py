"""Reading and writing files so that a crash or a power failure leaves either the old or the new file."""

import hashlib
import json
import os
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


def sync(file) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Makes names in the folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict:
    """An object; a missing file or other content is an error with the file's name."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"'{path}' cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise UserError(f"'{path}' is not a JSON object")
    return value
