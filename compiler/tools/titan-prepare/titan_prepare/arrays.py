"""Arrays of .npz archives and columns of Parquet and Arrow files, as NAME.npy files, which programs map."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import Folder, sync, unique_name
from titan_prepare.libraries import errors_as, require


class Archive:
    """An .npz file. As the other readers: `names` lists its arrays, `chunks` yields the rows of one in order."""

    def __init__(self, path: str):
        numpy = require("numpy")
        self.path = path
        with errors_as(UserError, f"'{path}' is damaged, or not an .npz file"):
            self.file = numpy.load(path, allow_pickle=False)
            self.names = list(self.file.files)

    def chunks(self, name: str) -> Iterator:
        try:
            with errors_as(UserError, f"'{self.path}': '{name}' cannot be read"):
                array = self.file[name]
        except MemoryError as error:
            raise UserError(f"'{self.path}': '{name}' needs more memory than there is") from error
        if not isinstance(array, require("numpy").ndarray):
            raise UserError(f"'{self.path}': '{name}' is no array")
        if array.ndim == 0:
            raise UserError(f"'{self.path}': '{name}' is one number; an array has one element per sample")
        yield array

    def rows(self, name: str) -> int:
        return sum(len(chunk) for chunk in self.chunks(name))


class ParquetColumns:
    def __init__(self, path: str):
        parquet = require("pyarrow.parquet")
        self.path = path
        with errors_as(UserError, f"'{path}' is damaged, or not a Parquet file"):
            self.file = parquet.ParquetFile(path)
            self.names = self.file.schema_arrow.names

    def chunks(self, name: str) -> Iterator:
        with errors_as(UserError, f"'{self.path}': column '{name}' cannot be read"):
            batches = self.file.iter_batches(columns=[name])
        while True:
            with errors_as(UserError, f"'{self.path}': column '{name}' cannot be read"):
                batch = next(batches, None)
            if batch is None:
                return
            yield to_array(batch.column(0), f"'{self.path}': column '{name}'")

    def rows(self, _: str) -> int:
        return self.file.metadata.num_rows


class ArrowColumns:
    """An Arrow file, or the stream of one, as `datasets` saves them."""

    def __init__(self, path: str):
        ipc = require("pyarrow.ipc")
        pyarrow = require("pyarrow")
        self.path = path
        with errors_as(UserError, f"'{path}' is damaged, or not an Arrow file"):
            source = pyarrow.memory_map(path)
            try:
                self.table = ipc.open_file(source).read_all()
            except pyarrow.ArrowInvalid:
                self.table = ipc.open_stream(source).read_all()
            self.names = self.table.column_names

    def chunks(self, name: str) -> Iterator:
        for chunk in self.table.column(name).chunks:
            yield to_array(chunk, f"'{self.path}': column '{name}'")

    def rows(self, _: str) -> int:
        return self.table.num_rows


def to_array(column, what: str):
    """A column of numbers, or of lists of equal lengths, as a numpy array."""
    numpy, types = require("numpy"), require("pyarrow.types")
    rows, shape = len(column), []
    if hasattr(column, "to_numpy_ndarray"):  # a tensor of fixed shape
        return column.to_numpy_ndarray()
    while True:
        if column.null_count:
            raise UserError(f"{what} has missing values")
        if types.is_fixed_size_list(column.type):
            shape.append(column.type.list_size)
        elif types.is_list(column.type) or types.is_large_list(column.type):
            lengths = numpy.unique(numpy.diff(column.offsets.to_numpy()))
            if len(lengths) > 1:
                raise UserError(f"{what} has lists of {lengths[0]} and of {lengths[1]} elements")
            shape.append(int(lengths[0]) if len(lengths) else 0)
        else:
            break
        column = column.flatten()
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
        raise UserError(f"{what} has the type {column.type}; arrays have numbers and truth values")
    return column.to_numpy(zero_copy_only=False).reshape(rows, *shape)


READERS = {".npz": Archive, ".parquet": ParquetColumns, ".arrow": ArrowColumns, ".feather": ArrowColumns}


def open_input(path: str):
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise UserError(f"'{path}' has none of the extensions {' '.join(READERS)}")
    if not os.path.isfile(path):
        raise UserError(f"'{path}' is not a regular file, or does not exist")
    return reader(path)


@dataclass(frozen=True)
class WrittenArray:
    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}[{', '.join(map(str, self.shape))}]"


def write_arrays(paths: list[str], columns: list[str], folder: Path, force: bool) -> list[WrittenArray]:
    """Writes FOLDER/NAME.npy for each of `columns`, or for each array of the first input if there are none. The rows of
    all inputs follow one another."""
    inputs = [open_input(path) for path in paths]
    names = columns or inputs[0].names
    for reader in inputs:
        for name in names:
            if name not in reader.names:
                raise UserError(f"'{reader.path}' has no '{name}'; it has: {', '.join(reader.names) or 'nothing'}")
    rows = {name: sum(reader.rows(name) for reader in inputs) for name in names}
    if len(set(rows.values())) > 1:
        raise UserError("arrays have different numbers of samples: " +
                        ", ".join(f"'{name}' {count}" for name, count in rows.items()))
    for name in names:
        require_name(name, inputs)
        if (folder / f"{name}.npy").exists() and not force:
            raise UserError(f"'{folder / name}.npy' exists; --force replaces it")
    folder.mkdir(parents=True, exist_ok=True)
    with Folder(folder) as target:
        return write_into(target, inputs, rows)


def require_name(name: str, inputs: list) -> None:
    """An array becomes a file of its name, so there can be only one."""
    if not name or os.sep in name or name.startswith(".") or not name.isprintable() or len(name.encode()) > 200:
        raise UserError(f"'{name}' is not a file name; --columns excludes it")
    for reader in inputs:
        if reader.names.count(name) > 1:
            raise UserError(f"'{reader.path}' has two arrays '{name}'; --columns excludes it")


def write_into(folder: Folder, inputs: list, rows: dict[str, int]) -> list[WrittenArray]:
    """All arrays are on the disk, and the older ones are away, before the first has its name. After a crash an array may
    be missing, but no array is beside one of other inputs."""
    unfinished = {name: unique_name(f"{name}.npy") for name in rows}
    try:
        written = [write_array(inputs, name, rows[name], folder, unfinished[name]) for name in rows]
        for name in rows:
            folder.remove(f"{name}.npy")
        folder.sync()
        for name, file in unfinished.items():
            folder.move(file, folder, f"{name}.npy")
        folder.sync()
    finally:
        for file in unfinished.values():
            folder.remove(file)
    return written


def write_array(inputs: list, name: str, rows: int, folder: Folder, unfinished: str) -> WrittenArray:
    """Writes one array, with one chunk in memory at a time. `rows` is the sum over the inputs."""
    numpy = require("numpy")
    array, at = None, 0
    with folder.create(unfinished) as file:
        for reader in inputs:
            for chunk in reader.chunks(name):
                dtype = stored_type(chunk.dtype, f"'{reader.path}': '{name}'")
                if array is None:
                    array = map_array(file, dtype, (rows, *chunk.shape[1:]))
                if chunk.shape[1:] != array.shape[1:] or dtype != array.dtype:
                    raise UserError(f"'{reader.path}': '{name}' has samples {chunk.dtype}{list(chunk.shape[1:])}, and "
                                    f"{array.dtype}{list(array.shape[1:])} before")
                array[at:at + len(chunk)] = chunk
                at += len(chunk)
        if array is None or not rows:
            raise UserError(f"'{name}' has no samples")
        array.flush()
        sync(file)
    return WrittenArray(name, numpy.dtype(array.dtype).name, array.shape)


def stored_type(dtype, what: str):
    """The type in the file: numbers of at most 8 bytes, which programs read, with the least byte first."""
    if dtype.kind not in "iufb" or dtype.itemsize > 8:
        raise UserError(f"{what} has elements of type {dtype}, not numbers of at most 64 bits")
    return dtype.newbyteorder("<")


def map_array(file, dtype, shape: tuple[int, ...]):
    """A new .npy file, mapped into memory."""
    numpy = require("numpy")
    description = numpy.lib.format.dtype_to_descr(dtype)
    numpy.lib.format.write_array_header_1_0(file, {"descr": description, "fortran_order": False, "shape": shape})
    file.truncate(file.tell() + dtype.itemsize * int(numpy.prod(shape, dtype=object)))
    if 0 in shape:
        return numpy.zeros(shape, dtype)
    return numpy.memmap(file, dtype, "r+", offset=file.tell(), shape=shape)
