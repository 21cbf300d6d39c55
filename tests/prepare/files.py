"""Files of every kind give the same records: arrays of JSON, tables, and compressed ones, against the libraries."""

import csv
import gzip
import io
import json
import random
import sys
from pathlib import Path

from inputs import EXPECTED, TEXTS, bytes_of
from prepared import PACKAGE, expect, prepare, read, refused, write_lines

ODD = ['a "quoted" text, with commas', "two\nlines", "two\r\nlines", '"', '""', 'x"', " leading, and trailing ", "tab\there", "ü🚂"]


def zstandard(data: bytes) -> bytes:
    import pyarrow
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def table(texts: list[str], **options) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, **options)
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(texts))
    return file.getvalue().encode()


def arrays_of_json(out: Path) -> None:
    """In one line, with indentation, and with a byte order mark; the lines of errors are those of the elements."""
    out.mkdir(parents=True)
    records = [{"text": text, "other": [1, {"text": 'no ]}, "'}, "\\"]} for text in TEXTS]
    for name, text in (("line", json.dumps(records)), ("indented", "\n" + json.dumps(records, indent=2, ensure_ascii=False) + "\n"),
                       ("mark", "\ufeff" + json.dumps(records))):
        (out / f"{name}.json").write_text(text, encoding="utf-8")
        expect(bytes_of(out / name, out / f"{name}.json") == EXPECTED, name)
    good = {"text": "good"}
    for number, (text, words) in enumerate((
            (json.dumps([good, {"text": 1}], indent=1), ["0.json:5: ", "must be a string"]),
            ('[\n{"text": "a"},\n{"text" "b"}\n]', ["1.json:3: ", "not JSON"]), ('[{"text": "a"},\n\n]x', ["more after the end"]),
            ('[{"text": "a"}, {"text', ["no end"]), ('[{"text": "a"}}', ["ends with `}`"]), ('[{"text": "a"},,]', ["not JSON"]),
            ("[]", ["no document"]), ("[[1]]", ["an array"]))):
        (out / f"{number}.json").write_text(text)
        refused(1, words, out / f"{number}.json", "--tokenizer", "bytes", "-o", out / "x")
    large = json.dumps([good, {"text": "x" * 5000}, {"a": [{}] * 500}, good])
    (out / "long.json").write_text(large)
    output = prepare(out / "long.json", "--tokenizer", "bytes", "-o", out / "large", "--record-bytes", 1000, "--skip-bad")
    expect(read(out / "large").documents == [list(b"good")] * 2 and output.count("--record-bytes allows 1,000") == 2, output)


def pieces_of_arrays(out: Path) -> None:
    """The elements of random arrays, read in blocks of any size, are those of `json`."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.inputs.json_array import Splitter
    draw = random.Random(5)
    words = ["x", '"', "\\", "\\\"", "[", "]}", ",", "é", "\n"]
    for _ in range(200):
        values = [{"".join(draw.choices(words, k=3)): draw.choice((1, [], {}, [{"a": "".join(draw.choices(words, k=4))}]))}
                  for _ in range(draw.randrange(5))]
        data = json.dumps(values, indent=draw.choice((None, 1)), ensure_ascii=draw.random() < 0.5).encode()
        splitter, found, size = Splitter("a", 1 << 20), [], draw.choice((1, 2, 3, 7, 1000))
        for at in range(0, len(data), size):
            found += splitter.split(data[at:at + size])
        splitter.finish()
        expect([json.loads(element) for _, element in found] == values, f"{found} of {data}")
        expect(all(data[at:at + len(element)] == element for at, element in found), f"positions of {found} in {data}")


def tables_of_texts(out: Path) -> None:
    """The records of `csv`, whatever is in quotes."""
    out.mkdir(parents=True)
    for name, options in (("a.csv", {}), ("b.csv", {"lineterminator": "\n", "quoting": csv.QUOTE_ALL}),
                          ("c.tsv", {"delimiter": "\t"})):
        (out / name).write_bytes(table([*ODD, *TEXTS], **options))
        found = bytes_of(out / f"of-{name}", out / name)
        expect(found == [list(text.encode()) for text in [*ODD, *TEXTS]], name)
    (out / "mark.csv").write_bytes(b"\xef\xbb\xbf\"text\",\"b\"\r\n\"x, y\",1")
    expect(bytes_of(out / "mark", out / "mark.csv") == [list(b"x, y")], "a mark")
    instructions = "instruction,input,output\r\nAdd,\"2, 3\",5\r\n"
    (out / "alpaca.csv").write_text(instructions, newline="")
    output = prepare(out / "alpaca.csv", "--tokenizer", "bytes", "-o", out / "alpaca")
    expect("Alpaca" in output and b"### Input:\n2, 3\n" in bytes(read(out / "alpaca").documents[0]), output)
    for number, (data, words) in enumerate((
            (b"id,text\n1,a\n2,b,c\n", ["0.csv:3: ", "has 3 fields, and the first record names 2"]),
            (b"id,text\n\"a\nb\",x\n1,\xff\n", ["1.csv:4: ", "not UTF-8"]), (b"text,text\na,b\n", ["two fields `text`"]),
            (b"text\n\"a\nb", ["line 2 has a quote without an end"]), (b"text\n\"a\"b\n", ["csv:2: ", "not CSV"]),
            (b"", ["no first record with the names"]))):
        (out / f"{number}.csv").write_bytes(data)
        refused(1, words, out / f"{number}.csv", "--tokenizer", "bytes", "-o", out / "x")
    (out / "long.csv").write_bytes(table(["good", "x\n\"y\"" * 1000, "good"]))
    output = prepare(out / "long.csv", "--tokenizer", "bytes", "-o", out / "large", "--record-bytes", 1000, "--skip-bad")
    expect(read(out / "large").documents == [list(b"good")] * 2 and "long.csv:3: " in output, output)


def compressed_files(out: Path) -> None:
    """Each format of texts by gzip and Zstandard, several files of several formats and globs together; damage is named."""
    out.mkdir(parents=True)
    lines = write_lines(out / "plain.jsonl", [{"text": text} for text in TEXTS]).read_bytes()
    files = {"a.jsonl": lines, "b.json": json.dumps([{"text": text} for text in TEXTS]).encode(), "c.csv": table(TEXTS)}
    for name, data in files.items():
        (out / f"{name}.zst").write_bytes(zstandard(data[:2000]) + zstandard(data[2000:]))
        (out / f"{name}.gz").write_bytes(gzip.compress(data))
    (out / "d.txt.zst").write_bytes(zstandard(b"text"))
    found = bytes_of(out / "all", out / "[ab].*.zst", out / "*.csv.*", out / "b.json.gz", out / "a.jsonl.gz", out / "d.txt.zst")
    expect(found == EXPECTED * 6 + [list(b"text")], f"{len(found)} documents")
    for name in ("a.jsonl.zst", "a.jsonl.gz", "c.csv.zst"):
        (out / f"cut-{name}").write_bytes((out / name).read_bytes()[:-100])
        refused(1, [f"cut-{name}", "damaged"], out / f"cut-{name}", "--tokenizer", "bytes", "-o", out / "x")
    (out / "no.jsonl.zst").write_bytes(lines[:500])
    refused(1, ["no.jsonl.zst", "damaged"], out / "no.jsonl.zst", "--tokenizer", "bytes", "-o", out / "x")


CASES = [arrays_of_json, pieces_of_arrays, tables_of_texts, compressed_files]
