"""A bad record is a bad record, whatever goes wrong with it: named with its line, or left out and counted, within limits
of bytes, time and memory."""

import json
import os
import random
import struct
import sys
import zipfile
from pathlib import Path

import chat_templates as templates
import makers
from hostile import use_tokenizer
from hostile_values import change_value, nested
from prepared import PACKAGE, expect, prepare, read, refused, run, write_lines

GOOD = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]


def chats_with_other_values(out: Path) -> None:
    """Values of valid chats, tools and variables give a document or a BadRecord, by every template."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.errors import BadRecord
    from titan_prepare.limits import RecordLimits, one_record
    from titan_prepare.request import Content
    draw, refusals, made = random.Random(2), 0, 0
    record = {"m": [*templates.TURNS, {"role": "assistant", "content": [{"type": "text", "text": "x"}], "weight": 1,
                                       "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}],
              "tools": [{"type": "function", "function": {"name": "f"}}], "chat_template_kwargs": {"mood": 1}}
    contents = [Content(messages="m", template=template).open(False) for template in templates.ALL]
    for number in range(1500):
        changed = change_value(change_value(record, draw), draw) if number % 2 else change_value(record, draw)
        try:
            with one_record(RecordLimits()):
                contents[number % len(contents)].groups(changed)
            made += 1
        except BadRecord:
            refusals += 1
    expect(made > 50 and refusals > 300, f"{made} made, {refusals} refused")


def tokenizers_with_other_values(out: Path) -> None:
    """Values of tokenizer files give tokens or an error that names the file."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.errors import BadRecord, UserError
    folder = makers.byte_pairs(out / "bpe", vocabulary=300, add_bos_token=True, added_tokens_decoder={"7": {"content": "z"}})
    os.environ["RUST_BACKTRACE"] = "0"
    draw = random.Random(4)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        good, refusals = json.loads((folder / name).read_text()), 0
        for _ in range(150):
            changed = change_value(good, draw)
            (folder / name).write_text(json.dumps(changed))
            try:
                use_tokenizer(folder)
            except (UserError, BadRecord):
                refusals += 1
        (folder / name).write_text(json.dumps(good))
        expect(refusals > 5, f"{name}: only {refusals} were refused")


def odd_records(out: Path) -> None:
    """Each is refused with its line, and left out by --skip-bad; none ends the work later."""
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.PLAIN)
    deep = [*GOOD[:1], {"role": "assistant", "content": nested(600)}]
    twice = '{"m": ' + json.dumps(GOOD) + ', "m": []}'
    for number, (line, words) in enumerate((
            (json.dumps({"m": deep}), "nested"), (json.dumps({"\ud800": 1}), "`m`"), (twice, "twice"),
            (json.dumps({"m": [{**GOOD[1], "\udfff": 1}]}), "not valid Unicode"),
            (json.dumps({"m": [{**GOOD[1], "content": "x" * 3000}]}), "--record-bytes allows 2,000"))):
        source = out / f"{number}.jsonl"
        source.write_text(json.dumps({"m": GOOD}) + "\n" + line + "\n" + json.dumps({"m": GOOD}) + "\n")
        options = (source, "--messages", "m", "--tokenizer", "bytes", "-o", out / f"x{number}", "--record-bytes", 2000,
                   "--chat-template", out / "t")
        refused(1, [f"{number}.jsonl:2: ", words], *options)
        prepare(*options, "--skip-bad")
        done = read(out / f"x{number}")
        expect((len(done.documents), done.sidecar["counts"]["bad"]) == (2, 1), f"{done.sidecar['counts']}")
    name = os.fsencode(out) + b"/in\xff.jsonl"
    with open(name, "w") as file:
        file.write('{"text": "abc"}\n{"\\ud800": 1}\n')
    output = prepare(os.fsdecode(name), "--tokenizer", "bytes", "-o", out / "name", "--skip-bad")
    expect("in\\udcff.jsonl:2" in output and read(out / "name").documents == [list(b"abc")], output)


def large_rows(out: Path) -> None:
    """A row of a table that is small on the disk and large in memory."""
    import pyarrow
    import pyarrow.parquet
    out.mkdir(parents=True)
    table = pyarrow.table({"text": ["a", "x" * 5_000_000, "b"]})
    pyarrow.parquet.write_table(table, out / "a.parquet")
    options = (out / "a.parquet", "--tokenizer", "bytes", "-o", out / "x", "--record-bytes", 1_000_000)
    refused(1, ["a.parquet, row 2: ", "--record-bytes"], *options)
    prepare(*options, "--skip-bad")
    expect(read(out / "x").documents == [list(b"a"), list(b"b")], "other rows")


def hostile_templates(out: Path) -> None:
    """Templates that do not end, or need all memory, end within --record-seconds; those that cannot be compiled, at once."""
    source = write_lines(out / "a.jsonl", [{"m": GOOD}])
    loop = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3
    limits = ("--record-seconds", 1, "--record-bytes", 1_000_000)
    for template, words in (
            (loop, ["a.jsonl:1: ", "--record-seconds"]),
            ("{{ 10 ** (10 ** 9) }}", ["a.jsonl:1", "--record-"]),
            ('{{ "{:>3000000000}".format(messages) }}', ["a.jsonl:1"]), ('{{ "%3000000000d" % messages | length }}', ["a.jsonl:1"]),
            ("{{ messages | tojson(indent=1000000000) }}", ["a.jsonl:1", "MiB"]),
            ("{{ 'x' * 3000000 }}", ["a.jsonl:1", "--record-bytes"]), ("{{ lipsum(n=10000000) }}", ["a.jsonl:1", "lipsum"]),
            ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", ["the chat template"]),
            ("{% if 1 %}" * 3000 + "{% endif %}" * 3000, ["the chat template"]),
            ("{{ " + "not " * 5000 + "1 }}", ["the chat template"]), ("{{ a" + ".a" * 20000 + " }}", ["the chat template"]),
            ("{{ (10**10000)|string }}", ["chat template"])):
        (out / "t").write_text(template)
        refused(1, words, source, "--messages", "m", "--tokenizer", "bytes", "-o", out / "x", "--chat-template", out / "t",
                *limits)
    killing = "{% if messages[0].content == 'kill' %}{{ 10 ** (10 ** 9) }}{% endif %}"
    (out / "t").write_text(killing + templates.PLAIN)
    write_lines(source, [{"m": GOOD}, {"m": [{"role": "user", "content": "kill"}, GOOD[1]]}, {"m": GOOD}])
    prepare(source, "--messages", "m", "--tokenizer", "bytes", "-o", out / "y", "--chat-template", out / "t", *limits,
            "--skip-bad")
    done = read(out / "y")
    expect(len(done.documents) == 2 and "a.jsonl:2: " in done.sidecar["bad_records"][0], f"{done.sidecar['bad_records']}")
    (out / "t").write_bytes(b"{{ '\xff' }}")
    refused(1, ["cannot be read"], source, "--messages", "m", "--tokenizer", "bytes", "-o", out / "x", "--chat-template",
            out / "t")


def odd_arrays(out: Path) -> None:
    """Members that are no arrays, sizes without data, and two arrays of one name are named."""
    import numpy
    out.mkdir(parents=True)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }"
    header += b" " * ((64 - (10 + len(header) + 1) % 64) % 64) + b"\n"
    huge = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
    numpy.save(out / "x.npy", numpy.zeros(2))
    good = (out / "x.npy").read_bytes()
    (out / "x.npy").unlink()
    numpy.savez(out / "wide.npz", x=numpy.zeros(3, numpy.longdouble))
    for name, members, words in (("member", {"x.txt": b"hello"}, "'x.txt' is no array"), ("huge", {"x.npy": huge}, "'x'"),
                                 ("twice", {"x.npy": good, "x": good}, "two arrays 'x'"),
                                 ("empty", {".npy": good}, "'' is not a file name")):
        with zipfile.ZipFile(out / f"{name}.npz", "w") as archive:
            for member, data in members.items():
                archive.writestr(member, data)
        refused(1, [words], "--arrays", out / f"{name}.npz", "-o", out / "o", workers=None)
    refused(1, ["at most 64 bits"], "--arrays", out / "wide.npz", "-o", out / "o", workers=None)
    expect(not list(out.glob("o/*")), "something is left")


def lines_of_any_length(out: Path) -> None:
    """Long lines cost no others, whatever the units."""
    texts = ["a" * size for size in (1, 50, 49, 7, 500, 3, 51)]
    source = write_lines(out / "a.jsonl", [{"text": text} for text in texts])
    limit = 50 + len('{"text": ""}')
    for chunk in (1, 60, 1000):
        prepare(source, "--tokenizer", "bytes", "-o", out / f"x{chunk}", "--record-bytes", limit, "--skip-bad", "--chunk-bytes",
                chunk)
        found = read(out / f"x{chunk}")
        expect([len(document) for document in found.documents] == [1, 50, 49, 7, 3], f"{found.documents}")
        expect([place.split(": ")[0] for place in found.sidecar["bad_records"]] == [f"{source}:5", f"{source}:7"], "places")
    status, _ = run(source, "--tokenizer", "bytes", "-o", out / "y", "--record-bytes", 0)
    expect(status == 2, "a limit of nothing")


CASES = [chats_with_other_values, tokenizers_with_other_values, odd_records, large_rows, hostile_templates, odd_arrays,
         lines_of_any_length]
