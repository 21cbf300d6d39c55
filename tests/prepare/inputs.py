"""Inputs of every format give the same documents; damaged ones are refused with the file and the line."""

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from prepared import (COMMAND, PACKAGE, contents, environment, expect, prepare, read, refused, run,
                      write_lines)
from texts import SCRIPTS, corpus

TEXTS = corpus(300, seed=3)
EXPECTED = [list(text.encode()) for text in TEXTS]


def bytes_of(out: Path, *arguments, **options) -> list[list[int]]:
    prepare(*arguments, "--tokenizer", "bytes", "-o", out / "data", **options)
    return read(out / "data").documents


def write_parquet(path: Path, texts: list[str], **columns) -> Path:
    import pyarrow
    import pyarrow.parquet
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table({"id": list(range(len(texts))), "content": texts, **columns}), path,
                                row_group_size=37, write_page_checksum=True)
    return path


def json_lines(out: Path) -> None:
    """Against plain Python; blank lines, CR LF, a byte order mark and a last line without an end."""
    records = [{"text": text, "other": [1, {"text": "no"}]} for text in TEXTS]
    source = write_lines(out / "a.jsonl", records)
    expect(bytes_of(out, source, "--chunk-bytes", 1000) == EXPECTED, "plain")
    lines = b"\r\n\r\n \t\r\n".join(json.dumps(record).encode() for record in records)
    (out / "b.json").write_bytes(b"\xef\xbb\xbf" + lines)
    expect(bytes_of(out / "b", out / "b.json", "--chunk-bytes", 777) == EXPECTED, "with blank lines")


def compressed(out: Path) -> None:
    source = write_lines(out / "a.jsonl", [{"text": text} for text in TEXTS])
    (out / "a.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
    expect(bytes_of(out / "gz", out / "a.jsonl.gz") == EXPECTED, "gzip")
    (out / "cut.jsonl.gz").write_bytes((out / "a.jsonl.gz").read_bytes()[:-100])
    refused(1, ["cut.jsonl.gz", "damaged"], out / "cut.jsonl.gz", "--tokenizer", "bytes", "-o", out / "cut")


def any_chunk(out: Path) -> None:
    """Every size of a unit gives the same files: no line is lost or read twice at a boundary."""
    source = write_lines(out / "a.jsonl", [{"text": "x" * (i % 7)} for i in range(25)])
    expected = None
    for chunk in (1, 14, 15, 16, 17, 100, 10_000):
        prepare(source, "--tokenizer", "bytes", "-o", out / f"{chunk}" / "data", "--chunk-bytes", chunk)
        found = contents(out / f"{chunk}" / "data")
        expected = expected or found
        expect(found == expected, f"chunks of {chunk} bytes")


def parquet(out: Path) -> None:
    source = write_parquet(out / "a.parquet", TEXTS)
    expect(bytes_of(out, source, "--field", "content", "--chunk-bytes", 1) == EXPECTED, "rows")
    refused(1, ["a.parquet", "no column `text`", "id, content"], source, "--tokenizer", "bytes", "-o", out / "b")
    refusals = sum(flipped_is_noticed(out, source, tenths) for tenths in (1, 2, 3))
    expect(refusals >= 1, "no flipped bit was noticed")
    (out / "cut.parquet").write_bytes(source.read_bytes()[:-50])
    content = ("--field", "content", "--tokenizer", "bytes", "-o", out / "x")
    refused(1, ["cut.parquet", "Parquet"], out / "cut.parquet", *content)
    write_parquet(out / "null.parquet", [*TEXTS[:50], None])
    refused(1, ["null.parquet, row 51", "null"], out / "null.parquet", *content)


def flipped_is_noticed(out: Path, source: Path, tenths: int) -> bool:
    """Whether a flipped bit is an error; otherwise it must not change the documents."""
    damaged = bytearray(source.read_bytes())
    damaged[len(damaged) * tenths // 10] ^= 1
    (out / "flipped.parquet").write_bytes(damaged)
    status, output = run(out / "flipped.parquet", "--field", "content", "--tokenizer", "bytes", "-o", out / "c",
                       "--force")
    expect(status == 1 and "flipped.parquet" in output or status == 0 and read(out / "c").documents == EXPECTED, output)
    return status == 1


def texts(out: Path) -> None:
    """A file is a document, or each of its lines."""
    out.mkdir(parents=True)
    source = out / "a.txt"
    source.write_bytes(b"\xef\xbb\xbfone\r\n\r\ntwo\n three")
    expect(bytes_of(out / "1", source) == [list(b"one\r\n\r\ntwo\n three")], "file")
    lines = bytes_of(out / "2", source, "--text-documents", "line")
    expect(lines == [list(b"one"), list(b"two"), list(b" three")], "line")


def folders_and_globs(out: Path) -> None:
    """In a fixed order; hidden files, other formats and the outputs themselves are left out."""
    folder = out / "in"
    for name in ("b/2.jsonl", "b/10.jsonl", "a/x.jsonl", ".hidden.jsonl", "b/.h/y.jsonl"):
        write_lines(folder / name, [{"text": name}])
    (folder / "a/note.bin").write_bytes(b"no")
    (folder / "z.txt").write_text("z")
    expected = [list(name.encode()) for name in ("a/x.jsonl", "b/10.jsonl", "b/2.jsonl", "z")]
    for again in (False, True):
        output = prepare(folder, "--tokenizer", "bytes", "-o", folder / "out")
        expect(read(folder / "out").documents == expected, output)
        expect(("up to date" in output) == again, output)
    expect(bytes_of(out / "glob", folder / "**" / "[12]*.jsonl", folder / "a") ==
           [list(name.encode()) for name in ("b/10.jsonl", "b/2.jsonl", "a/x.jsonl")], "glob")


def streamed_set(out: Path) -> None:
    """Through `datasets`, from a directory of shards, without a network."""
    for shard in range(3):
        write_parquet(out / "set" / f"train-{shard:05}-of-00003.parquet", TEXTS[shard * 100:(shard + 1) * 100])
    for workers in (1, 2):
        found = bytes_of(out / str(workers), "--dataset", out / "set", "--field", "content", workers=workers)
        expect(found == EXPECTED, f"{workers} workers")
    refused(1, ["shard", "no field `text`"], "--dataset", out / "set", "--tokenizer", "bytes", "-o", out / "x")
    refused(1, ["titan/none", "cannot be found"], "--dataset", "titan/none", "--tokenizer", "bytes", "-o", out / "x")


def commit_of_a_set(out: Path) -> None:
    """A set keeps the commit that it was begun with; --revision and --force choose another. Both libraries of the hub
    are replaced by files."""
    fake = out / "fake"
    fake.mkdir(parents=True)
    (fake / "huggingface_hub.py").write_text(
        "class HfApi:\n    def dataset_info(self, name, revision):\n"
        f"        self.sha = open({str(out / 'newest')!r}).read()\n        return self\n")
    (fake / "datasets.py").write_text(
        "disable_progress_bars = lambda: None\n"
        "class load_dataset:\n    num_shards = 2\n"
        "    def __init__(self, name, config, split, revision, streaming):\n"
        "        self.text = f'{name} {config} {split} {revision} {streaming}'\n"
        "    def shard(self, num_shards, index):\n        return iter([{'text': f'{self.text} {index}'}])\n")

    def revision(*arguments) -> str:
        prepare("--dataset", "a/b", "--config", "c", "--tokenizer", "bytes", "-o", out / "data", *arguments, path=fake)
        texts = [bytes(document).decode() for document in read(out / "data").documents]
        found = texts[0].split(" ")[3]
        expect(texts == [f"a/b c train {found} True {shard}" for shard in range(2)], str(texts))
        return found

    old, new = "a" * 40, "b" * 40
    (out / "newest").write_text(old)
    expect(revision() == old, "the first")
    (out / "newest").write_text(new)
    expect(revision() == old, "the same again")
    expect(revision("--force") == new, "by force")
    expect(revision("--revision", old, "--force") == old, "given")


def first_documents(out: Path) -> None:
    """--max-documents: exactly the first, whatever the units and workers, with the counts of just these."""
    records = [{"text": text} for text in TEXTS]
    records[10:10] = ["bad", {"text": ""}]
    source = write_lines(out / "a.jsonl", [*records, "bad"])
    for most, bad in ((10, 0), (123, 1)):
        expected = None
        for workers, chunk in ((1, 500), (3, 500), (2, 10**6)):
            prefix = out / f"{most}-{workers}-{chunk}" / "data"
            prepare(source, "--tokenizer", "bytes", "-o", prefix, "--max-documents", most, "--chunk-bytes", chunk,
                    "--skip-bad", workers=workers)
            found = contents(prefix)
            expected = expected or found
            expect(found == expected, f"{workers} workers, chunks of {chunk}")
        done = read(prefix)
        expect(done.documents == EXPECTED[:most], "documents")
        counts = [done.sidecar["counts"][name] for name in ("documents", "empty", "bad")]
        expect(counts == [most, bad, bad], str(counts))


def bad_lines(out: Path) -> None:
    """Refused with file and line; or left out, counted and listed."""
    good = json.dumps({"text": "good"})
    bad = {"not JSON": b"{", "must be a JSON object": b'"text"', "part of an array": b'[{"text": "a"},',
           "no field `text`": b'{"txt": "a"}', "must be a string, and is a number": b'{"text": 1}',
           "must be a string, and is null": b'{"text": null}', "not UTF-8": b'{"text": "\xff"}',
           "nested": b"[" * 200_000, "not valid Unicode": b'{"text": "\\ud800"}',
           "digits": b'{"n": ' + b"9" * 5000 + b"}"}
    out.mkdir(parents=True)
    for number, (message, line) in enumerate(bad.items()):
        source = out / f"{number}.jsonl"
        source.write_bytes(b"\n".join([good.encode(), b"", line, good.encode()]))
        refused(1, [f"{number}.jsonl:3: ", message], source, "--tokenizer", "bytes", "-o", out / "x")
        expect(not list(out.glob("x*")), f"left behind: {list(out.glob('x*'))}")
    source = out / "all.jsonl"
    source.write_bytes(b"\n".join([good.encode(), *bad.values(), good.encode()]))
    output = prepare(source, "--tokenizer", "bytes", "-o", out / "all", "--skip-bad")
    done = read(out / "all")
    expect(done.documents == [list(b"good")] * 2 and done.sidecar["counts"]["bad"] == len(bad), output)
    expect([record.split(" ")[0] for record in done.sidecar["bad_records"]] ==
           [f"{source}:{line}:" for line in range(2, len(bad) + 2)], output)


def same_error_for_any_workers(out: Path) -> None:
    """The first error in the order of the inputs, whichever worker finds one first."""
    records = [{"text": "word " * 50} for _ in range(400)]
    records[150] = records[390] = {"wrong": 1}
    source = write_lines(out / "a.jsonl", records)
    for workers in (1, 3):
        status, output = run(source, "--tokenizer", "bytes", "-o", out / "data", "--chunk-bytes", 4000, "--workers",
                           workers)
        expect(status == 1 and "a.jsonl:151: there is no field `text`" in output, output)


def wrong_usage(out: Path) -> None:
    """Contradictions and options without an effect end with status 2."""
    source = write_lines(out / "a.jsonl", [{"text": "a"}])
    there = ("--tokenizer", "bytes", "-o", out / "data")
    for words, arguments in (
            (["INPUTs or --dataset"], ()), (["INPUTs or --dataset"], (source, "--dataset", "c4")),
            (["--overlong"], (source, "--overlong", "skip")), (["--answer"], (source, "--prompt", "p")),
            (["--text-documents"], (source, "--text-documents", "line")), (["--config"], (source, "--config", "en")),
            (["only one of"], (source, "--field", "a", "--messages", "m")), (["--workers"], (source, "--workers", "0")),
            (["--as-chat"], (source, "--as-chat", "--messages", "m")),
            (["--chat-template"], (source, "--chat-template", "x", "--field", "text")),
            (["unrecognized"], (source, "--fast"))):
        found, output = run(*arguments, *there)
        expect(found == 2 and all(word in output for word in words), f"{arguments}: {found}\n{output}")
    expect(not list(out.glob("data*")), "left behind")


def wrong_files(out: Path) -> None:
    source = write_lines(out / "my.json", [{"text": "a"}])
    (out / "folder.bin").mkdir()
    (out / "empty").mkdir()
    (out / "nothing.jsonl").write_text("\n")
    (out / "bad.json").write_text("{")
    tokenizer = ("--tokenizer", "bytes")
    for words, arguments in (
            (["my.json", "input"], (source, *tokenizer, "-o", out / "my")),
            (["twice"], (source, source, *tokenizer, "-o", out / "x")),
            (["does not exist"], (out / "no.jsonl", *tokenizer, "-o", out / "x")),
            (["matches no file"], (out / "*.parquet", *tokenizer, "-o", out / "x")),
            (["holds no file"], (out / "empty", *tokenizer, "-o", out / "x")),
            (["--format"], ("/etc/hostname", *tokenizer, "-o", out / "x")),
            (["regular"], (source, *tokenizer, "-o", out / "folder")),
            (["no document"], (out / "nothing.jsonl", *tokenizer, "-o", out / "x")),
            (["neither tokenizer.json"], (source, "--tokenizer", out, "-o", out / "x")),
            (["bad.json", "cannot be read"], (source, "--tokenizer", out / "bad.json", "-o", out / "x")),
            (["tokenizer"], (source, "--tokenizer", source, "-o", out / "x")),
            (["SentencePiece"], (source, "--tokenizer", out / "nothing.jsonl.model", "-o", out / "x"))):
        (out / "nothing.jsonl.model").write_bytes(b"\x0a\x05\x01\xff")
        refused(1, words, *arguments)
    expect(not list(out.glob("x*")), "left behind")


def wrong_ranks(out: Path) -> None:
    """Damaged files of byte pairs are refused with the line."""
    import makers
    lines = makers.tiktoken_ranks(out / "ranks", makers.byte_pairs(out / "bpe")).read_text().splitlines()
    source = write_lines(out / "a.jsonl", [{"text": "a"}])
    for message, changed in (("model:301:", [*lines[:300], "!! 300", *lines[301:]]),
                             ("model:301:", [*lines[:300], lines[300] + "7", *lines[301:]]),
                             ("model:301:", [*lines[:300], "QQ== 300", *lines[301:]]),
                             ("no token for the byte", lines[:200])):
        (out / "ranks" / "tokenizer.model").write_text("\n".join(changed) + "\n")
        refused(1, [message], source, "--tokenizer", out / "ranks", "-o", out / "x")


def vocabulary(out: Path) -> None:
    """Tokens outside of the model's vocabulary are refused with the location; types are the smallest."""
    source = write_lines(out / "a.jsonl", [{"text": "abc"}, {"text": "abz"}])
    refused(1, ["a.jsonl:2", "token 122", "100"], source, "--tokenizer", "bytes", "-o", out / "x", "--vocabulary", 100)
    for size, code in ((123, 1), (256, 1), (257, 8), (65536, 8), (65537, 4)):
        prepare(source, "--tokenizer", "bytes", "-o", out / "data", "--vocabulary", size, "--force")
        done = read(out / "data")
        expect(done.code == code and done.documents == [list(b"abc"), list(b"abz")], f"{size}: {done.code}")
    prepare(source, "--tokenizer", "bytes", "-o", out / "wide", "--eos", 70000)
    expect(read(out / "wide").documents[0] == [97, 98, 99, 70000], "i32")
    refused(1, ["'bytes' adds the token 256", "has 256 tokens", "`--eos none`"], source, "--tokenizer", "bytes", "-o",
            out / "x", "--vocabulary", "256", "--eos", "256")


def missing_library(out: Path) -> None:
    """The message says which command installs it."""
    source = write_parquet(out / "a.parquet", ["a"])
    (out / "pyarrow.py").write_text("raise ImportError('not here')\n")
    refused(1, ["`pyarrow`", "scripts/setup --data"], source, "--tokenizer", "bytes", "-o", out / "x", path=out)


def help_text(out: Path) -> None:
    """Also by a link to the launcher, as in build/bin."""
    out.mkdir(parents=True)
    (out / "link").symlink_to(PACKAGE / "titan-prepare")
    linked = subprocess.run([out / "link", "--help"], env={**os.environ, "TITAN_PYTHON": sys.executable},
                            capture_output=True, text=True)
    for status, output in (run("--help"), (linked.returncode, linked.stdout)):
        expect(status == 0 and "examples:" in output and "exit status" in output, output)


def progress_only_on_terminals(out: Path) -> None:
    """A log gets one line; a terminal gets the progress."""
    source = write_lines(out / "a.jsonl", [{"text": text} for text in SCRIPTS.values()] * 50)
    output = prepare(source, "--tokenizer", "bytes", "-o", out / "log")
    expect(output.count("\n") == 2 and "\r" not in output, output)  # the result and a note on documents without end
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, source, "--tokenizer", "bytes", "-o", out / "tty", "--chunk-bytes", "999"],
                               env=environment(), stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 4096):
            shown += block
    except OSError:  # the end of a terminal
        pass
    expect(process.wait() == 0 and b"tokens/s" in shown and b"%" in shown, repr(shown))


CASES = [json_lines, compressed, any_chunk, parquet, texts, folders_and_globs, streamed_set, commit_of_a_set,
         first_documents, bad_lines, same_error_for_any_workers, wrong_usage, wrong_files, wrong_ranks, vocabulary,
         missing_library, help_text, progress_only_on_terminals]
