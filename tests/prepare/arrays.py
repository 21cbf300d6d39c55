"""Prepared arrays of .npz, Parquet and Arrow files equal those that numpy and pyarrow wrote."""

from functools import partial
from pathlib import Path

import numpy
import prepared
from prepared import expect

prepare, refused = partial(prepared.prepare, workers=None), partial(prepared.refused, workers=None)

CHANCE = numpy.random.default_rng(4)
IMAGES = CHANCE.integers(0, 256, (23, 4, 3), numpy.uint8)
LABELS = CHANCE.integers(0, 9, 23)
POINTS = CHANCE.normal(size=(23, 2)).astype(numpy.float32)
ARRAYS = {"image": IMAGES, "label": LABELS, "point": POINTS}


def expect_arrays(folder: Path, arrays: dict) -> None:
    expect({path.stem for path in folder.iterdir()} == set(arrays), f"files {sorted(folder.iterdir())}")
    for name, array in arrays.items():
        found = numpy.load(folder / f"{name}.npy")
        expect(found.dtype == array.dtype and numpy.array_equal(found, array), f"{name} differs")


def table(begin: int, end: int):
    import pyarrow
    nested = pyarrow.list_(pyarrow.list_(pyarrow.uint8(), 3), 4)
    return pyarrow.table({
        "image": pyarrow.array([image.tolist() for image in IMAGES[begin:end]], nested),
        "label": LABELS[begin:end],
        "point": pyarrow.array([point.tolist() for point in POINTS[begin:end]], pyarrow.list_(pyarrow.float32())),
        "name": [f"sample {i}" for i in range(begin, end)]})


def arrays_of_archives(out: Path) -> None:
    out.mkdir(parents=True)
    numpy.savez(out / "plain.npz", **ARRAYS)
    numpy.savez_compressed(out / "packed.npz", **ARRAYS)
    for name in ("plain", "packed"):
        output = prepare("--arrays", out / f"{name}.npz", "-o", out / name)
        expect("image uint8[23, 4, 3], label int64[23], point float32[23, 2]" in output, output)
        expect_arrays(out / name, ARRAYS)
    prepare("--arrays", out / "plain.npz", out / "packed.npz", "--columns", "label", "-o", out / "both")
    expect_arrays(out / "both", {"label": numpy.concatenate([LABELS, LABELS])})


def arrays_of_columns(out: Path) -> None:
    """Fixed and variable lists, in several files and row groups; a slice of a table."""
    import pyarrow
    import pyarrow.parquet
    out.mkdir(parents=True)
    for i, (begin, end) in enumerate(((0, 10), (10, 11), (11, 23))):
        pyarrow.parquet.write_table(table(begin, end), out / f"{i}.parquet", row_group_size=4)
    files = [out / f"{i}.parquet" for i in range(3)]
    prepare("--arrays", *files, "--columns", "image,label,point", "-o", out / "parquet")
    expect_arrays(out / "parquet", ARRAYS)
    slice_of_table = table(0, 23).slice(5, 9)
    for kind, start in (("file", pyarrow.ipc.new_file), ("stream", pyarrow.ipc.new_stream)):
        with start(str(out / f"{kind}.arrow"), slice_of_table.schema) as writer:
            writer.write_table(slice_of_table, max_chunksize=4)
        prepare("--arrays", out / f"{kind}.arrow", "--columns", "image,label,point", "-o", out / kind)
        expect_arrays(out / kind, {name: array[5:14] for name, array in ARRAYS.items()})


def refuses_what_is_no_array(out: Path) -> None:
    """Files and columns are named; nothing is left behind; existing arrays are replaced on demand alone."""
    import pyarrow
    import pyarrow.parquet
    out.mkdir(parents=True)
    pyarrow.parquet.write_table(table(0, 23), out / "t.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"a": [[1, 2], [3]], "b": [1, None], "c": [1, 2]}), out / "u.parquet")
    numpy.savez(out / "pickle.npz", a=numpy.array([{}, {}], object))
    numpy.savez(out / "uneven.npz", a=numpy.zeros(3), b=numpy.zeros(4))
    numpy.savez(out / "number.npz", a=numpy.float32(1))
    numpy.savez(out / "path.npz", **{"a/b": numpy.zeros(3)})
    (out / "bad.npz").write_bytes(b"PK\3\4nothing")
    (out / "bad.parquet").write_bytes((out / "t.parquet").read_bytes()[:-20])
    for words, arguments in (
            (["column 'name'", "string"], [out / "t.parquet"]),
            (["no 'absent'", "image, label"], [out / "t.parquet", "--columns", "absent"]),
            (["column 'a'", "lists of 1 and of 2"], [out / "u.parquet", "--columns", "a"]),
            (["column 'b'", "missing values"], [out / "u.parquet", "--columns", "b"]),
            (["pickle.npz", "'a' cannot be read"], [out / "pickle.npz"]),
            (["'a' 3, 'b' 4"], [out / "uneven.npz"]),
            (["'a' is one number"], [out / "number.npz"]),
            (["'a/b'"], [out / "path.npz"]),
            (["bad.npz", "damaged"], [out / "bad.npz"]),
            (["bad.parquet", "damaged"], [out / "bad.parquet"]),
            (["none of the extensions"], [out / "t.csv"]),
            (["missing.npz"], [out / "missing.npz"])):
        refused(1, words, "--arrays", *arguments, "-o", out / "refused")
    expect(not (out / "refused").exists() or not list((out / "refused").iterdir()), "files of refused inputs")
    refused(2, ["--tokenizer has no effect with --arrays"], "--arrays", out / "t.parquet", "--tokenizer", "bytes", "-o",
            out / "refused")
    prepare("--arrays", out / "t.parquet", "--columns", "label", "-o", out / "made")
    refused(1, ["--force replaces it"], "--arrays", out / "t.parquet", "--columns", "label", "-o", out / "made")
    prepare("--arrays", out / "t.parquet", "--columns", "label", "-o", out / "made", "--force")


CASES = [arrays_of_archives, arrays_of_columns, refuses_what_is_no_array]
