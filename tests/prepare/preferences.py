"""Preference pairs against `transformers`, and against their definition in plain Python."""

import json
import struct
from pathlib import Path

import chat_templates as templates
import makers
from prepared import expect, prepare, refused, write_lines

USER, OTHER = {"role": "user", "content": "Wie heißt du?"}, {"role": "user", "content": "And\nyou?"}
GOOD, BAD = {"role": "assistant", "content": "Titan 🚂"}, {"role": "assistant", "content": "I do not know."}
# Two conversations in every form that TRL knows, as messages.
AS_MESSAGES = [
    {"prompt": [USER, GOOD, OTHER], "chosen": [GOOD], "rejected": [BAD]},
    {"chosen": [USER, GOOD, OTHER, GOOD], "rejected": [USER, GOOD, OTHER, BAD]},
    {"prompt": OTHER["content"], "chosen": [USER, GOOD, OTHER, GOOD], "rejected": [USER, GOOD, OTHER, BAD]},
]
FORMATS = {"U8": "B", "U16": "H", "I32": "i"}


def read_arrays(path: Path) -> tuple[dict[str, list[list[int]]], dict]:
    """The arrays of a .safetensors file by its definition, and its header."""
    data = path.read_bytes()
    size, = struct.unpack_from("<Q", data)
    header, arrays, end = json.loads(data[8:8 + size]), {}, 0
    for name, entry in header.items():
        begin, count = entry["data_offsets"][0], entry["shape"][0] * entry["shape"][1]
        expect(begin == end, "a gap")
        end = entry["data_offsets"][1]
        values = struct.unpack_from(f"<{count}{FORMATS[entry['dtype']]}", data, 8 + size + begin)
        arrays[name] = [list(values[at:at + entry["shape"][1]]) for at in range(0, count, entry["shape"][1])]
    expect(8 + size + end == len(data), "the size")
    return arrays, header


def expect_row(arrays: dict, row: int, *texts: tuple[list[int], list[int]]) -> None:
    """The row of a pair: of each text its tokens but the last, its tokens but the first and their weights, its number, and
    its positions; then zeros, of document 2."""
    expected = {"tokens": [], "labels": [], "weights": [], "documents": [], "positions": [], "used": []}
    for number, (tokens, counts) in enumerate(texts):
        slots = len(tokens) - 1
        for name, values in (("tokens", tokens[:-1]), ("labels", tokens[1:]), ("weights", counts[1:]),
                             ("documents", [number] * slots), ("positions", list(range(slots))), ("used", [1] * slots)):
            expected[name] += values
    for name, values in expected.items():
        found = arrays[name][row]
        values += [2 if name == "documents" else 0] * (len(found) - len(values))
        expect(found == values, f"{name}[{row}]: {found}, not {values}")


def prompt_and(prompt: str, answer: str) -> tuple[list[int], list[int]]:
    """Bytes, and the weights of those of the answer."""
    return [*(prompt + answer).encode()], [0] * len(prompt.encode()) + [1] * len(answer.encode())


def pairs_as_transformers(out: Path) -> None:
    """Tokens are those of `apply_chat_template`; those after the prompt with its generation prompt count."""
    import transformers
    folder = makers.byte_pairs(out / "bpe")
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    source = write_lines(out / "a.jsonl", [AS_MESSAGES[0]] * 2)
    output = prepare(source, "--tokenizer", folder, "-o", out / "a", "--max-length", 80, workers=2)
    expect("records: preference pairs as messages" in output and "2 preference pairs" in output, output)
    arrays, header = read_arrays(out / "a.safetensors")
    expect(header["tokens"] == {**header["tokens"], "dtype": "U16", "shape": [2, 158]}, str(header))
    prompt = AS_MESSAGES[0]["prompt"]
    before = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=False)
    texts = []
    for answer in (GOOD, BAD):
        tokens = tokenizer.apply_chat_template([*prompt, answer], return_dict=False)
        expect(tokens[:len(before)] == before, "the prompt")
        texts.append((tokens, [0] * len(before) + [1] * (len(tokens) - len(before))))
    for row in range(2):
        expect_row(arrays, row, *texts)


def forms_of_pairs(out: Path) -> None:
    """All forms of a pair give the same arrays, whose length is that of the longest pair. The same again does
    nothing, and other options replace only by force."""
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.PLAIN)
    files = []
    for number, record in enumerate(AS_MESSAGES):
        source = write_lines(out / f"{number}.jsonl", [record])
        options = (source, "--tokenizer", "bytes", "--chat-template", out / "t", "-o", out / f"{number}")
        prepare(*options)
        files.append((out / f"{number}.safetensors").read_bytes())
    expect(files[0] == files[1] == files[2], "they differ")
    text = f"<user>{USER['content']}</s><assistant>{GOOD['content']}</s><user>{OTHER['content']}</s><assistant>"
    arrays, _ = read_arrays(out / "0.safetensors")
    texts = [prompt_and(text, answer["content"] + "</s>") for answer in (GOOD, BAD)]
    expect_row(arrays, 0, *texts)
    expect(len(arrays["tokens"][0]) == sum(len(tokens) - 1 for tokens, _ in texts), "slots")
    expect("up to date" in prepare(*options), "again")
    expect({path.name for path in out.glob("2.*")} == {"2.jsonl", "2.json", "2.safetensors"}, "other files")
    refused(1, ["was prepared differently", "--force"], *options, "--max-length", 999)
    prepare(source, "--tokenizer", "bytes", "--prompt", "prompt", "--answer", "prompt", "-o", out / "2", "--force")
    expect(not (out / "2.safetensors").exists() and (out / "2.idx").exists(), "arrays beside tokens")


def pairs_of_texts(out: Path) -> None:
    """With a prompt, or with one that is the common beginning; EOS counts. Equal answers are left out."""
    records = [{"prompt": "2 + 2 =", "chosen": " 4", "rejected": " 5 "}, {"chosen": "The sky is blue.", "rejected": "The sky is green."},
               {"prompt": "x", "chosen": "y", "rejected": "y"}]
    source = write_lines(out / "a.jsonl", records)
    output = prepare(source, "--tokenizer", "bytes", "--eos", 10, "-o", out / "a")
    expect("left out: 1 without" in output, output)
    arrays, _ = read_arrays(out / "a.safetensors")
    for row, (prompt, answers) in enumerate((("2 + 2 =", (" 4\n", " 5 \n")), ("The sky is", (" blue.\n", " green.\n")))):
        expect_row(arrays, row, *(prompt_and(prompt, answer) for answer in answers))
    expect(len(arrays["tokens"]) == 2, "rows")
    prepare(source, "--tokenizer", "bytes", "--eos", 10, "-o", out / "first", "--max-documents", 1)
    expect(len(read_arrays(out / "first.safetensors")[0]["tokens"]) == 1, "--max-documents counts pairs")


def long_pairs(out: Path) -> None:
    """A pair with one long side is refused, left out, or cut on this side; a cut that leaves no answer leaves it out."""
    source = write_lines(out / "a.jsonl", [{"prompt": "12", "chosen": "3", "rejected": "345"},
                                           {"prompt": "1234", "chosen": "5", "rejected": "6"},
                                           {"prompt": "12", "chosen": "3", "rejected": "4"}])
    options = (source, "--tokenizer", "bytes", "--max-length", 4)
    refused(1, ["a.jsonl:1", "5 tokens, more than 4"], *options, "-o", out / "x")
    for how, rows in (("skip", [("123", "124")]), ("truncate", [("123", "1234"), ("123", "124")])):
        prepare(*options, "--overlong", how, "-o", out / how)
        arrays, _ = read_arrays(out / f"{how}.safetensors")
        expect(len(arrays["tokens"]) == len(rows), how)
        for row, texts in enumerate(rows):
            expect_row(arrays, row, *(prompt_and(text[:2], text[2:]) for text in texts))


def wrong_pairs(out: Path) -> None:
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.PLAIN)
    (out / "r").write_text(templates.REWRITES)
    twice = [GOOD, OTHER, GOOD]
    for template, record, words in (
            ("t", {"chosen": [GOOD], "rejected": [BAD]}, ["a.jsonl:1: ", "no first message in common"]),
            ("t", {"prompt": "other", "chosen": [USER, GOOD], "rejected": [USER, BAD]}, ["none of the messages"]),
            ("r", {"prompt": [USER], "chosen": twice, "rejected": [*twice[:2], BAD]}, ["--turns together"])):
        source = write_lines(out / "a.jsonl", [record])
        refused(1, words, source, "--tokenizer", "bytes", "--chat-template", out / template, "-o", out / "x")
    refused(2, ["--loss all"], source, "--tokenizer", "bytes", "--form", "preferences", "--loss", "all", "-o", out / "x")


CASES = [pairs_as_transformers, forms_of_pairs, pairs_of_texts, long_pairs, wrong_pairs]
