"""Files that may be compressed, by the end of their name."""

import contextlib
import gzip
import io
import zlib

from titan_prepare.errors import UserError, first_line
from titan_prepare.libraries import require

ENDINGS = (".gz", ".zst")


def compression_of(path: str) -> str | None:
    return next((ending for ending in ENDINGS if path.lower().endswith(ending)), None)


def open_file(path: str):
    """A binary file for reading, with the content before its compression. Arrow reads Zstandard with libzstd."""
    ending = compression_of(path)
    if ending == ".gz":
        return gzip.open(path)
    if ending == ".zst":
        return io.BufferedReader(require("pyarrow").input_stream(path, compression="zstd"), 1 << 16)
    return open(path, "rb")


@contextlib.contextmanager
def damage_named(path: str):
    """An error that names the file if its compressed content is damaged."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"'{path}' is damaged: {error}") from error
    except OSError as error:
        if compression_of(path) != ".zst" or error.errno is not None:
            raise
        raise UserError(f"'{path}' is damaged: {first_line(error)}") from error
