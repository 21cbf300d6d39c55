"""Forms of records: recognised by their fields, or stated; each gives the text and the weights written here by hand."""

import json
from pathlib import Path

import chat_templates as templates
from answers import bytes_and_weights, expect_prepared
from prepared import expect, prepare, read, refused, write_lines

BELOW = "Below is an instruction that describes a task"
WRITE = "Write a response that appropriately completes the request.\n\n### Instruction:\n"
USER, ANSWER = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}
SHAREGPT = [{"from": "human", "value": "u"}, {"from": "gpt", "value": "a"}]
CHAT = [("<user>u</s><assistant>", 0), ("a</s>", 1)]
SYSTEM = [("<system>s</s>", 0), *CHAT]
# Forms with their words in the line about the records, a record, and its text in segments with weights.
FORMS = {
    "sharegpt": ("chats (`conversations`)", {"conversations": SHAREGPT, "id": "1"}, CHAT),
    "sharegpt-system": ("chats (`conversations`)", {"conversations": SHAREGPT, "system": "s"}, SYSTEM),
    "sharegpt-first": ("chats (`conversations`)", {"conversations": [{"from": "system", "value": "s"}, *SHAREGPT]}, SYSTEM),
    "messages": ("chats (`messages`)", {"messages": [USER, ANSWER], "source": "x"}, CHAT),
    "from-value": ("chats (`messages`)", {"messages": SHAREGPT}, CHAT),
    "alpaca": ("Alpaca instructions", {"instruction": "Add.", "input": "", "output": "5"},
               [(f"{BELOW}. {WRITE}Add.\n\n### Response:\n", 0), ("5\0", 1)]),
    "alpaca-input": ("Alpaca instructions", {"instruction": "Add.", "input": "2, 3", "output": "5"},
                     [(f"{BELOW}, paired with an input that provides further context. {WRITE}Add.\n\n### Input:\n2, 3\n\n"
                       "### Response:\n", 0), ("5\0", 1)]),
    "texts": ("prompts with completions (`prompt`, `completion`)", {"prompt": "2 + 3 =", "completion": " 5"},
              [("2 + 3 =", 0), (" 5\0", 1)]),
    "lists": ("completions as messages", {"prompt": [USER, ANSWER, USER], "completion": [ANSWER]},
              [("<user>u</s><assistant>a</s><user>u</s><assistant>", 0), ("a</s>", 1)]),
}


def options_of(out: Path, record: dict) -> tuple:
    """The tokenizer's options: a template for messages, and an end for texts."""
    has_messages = any(isinstance(value, list) for value in record.values())
    (out / "t").parent.mkdir(parents=True, exist_ok=True)
    (out / "t").write_text(templates.PLAIN)
    return ("--tokenizer", "bytes", *(("--chat-template", out / "t") if has_messages else ("--eos", 0)))


def recognised(out: Path) -> None:
    """By the first record, without options; the line about the records says so. `--loss all` counts everything."""
    for name, (words, record, segments) in FORMS.items():
        source = write_lines(out / f"{name}.jsonl", [record] * 2)
        options = (source, *options_of(out, record))
        output = prepare(*options, "-o", out / name)
        line, = (line for line in output.splitlines() if line.startswith("records: "))
        expect(words in line and "answers count in the loss" in line, output)
        tokens, weights = bytes_and_weights(segments)
        expect_prepared(out / name, [tokens] * 2, [weights] * 2)
    for name in ("sharegpt", "texts"):
        words, record, segments = FORMS[name]
        output = prepare(out / f"{name}.jsonl", *options_of(out, record), "--loss", "all", "-o", out / f"{name}-all")
        done = read(out / f"{name}-all")
        expect(done.documents == [bytes_and_weights(segments)[0]] * 2 and done.weights is None, output)


def as_chats(out: Path) -> None:
    """Texts of a prompt and an answer, and instructions, by a chat template."""
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.PLAIN)
    for name, record, question in (("alpaca", {"instruction": "Add.", "input": "2, 3", "output": "5"}, "Add.\n2, 3"),
                                   ("pairs", {"prompt": "Add.", "completion": "5"}, "Add.")):
        source = write_lines(out / f"{name}.jsonl", [record])
        prepare(source, "--as-chat", "--tokenizer", "bytes", "--chat-template", out / "t", "-o", out / name)
        tokens, weights = bytes_and_weights([(f"<user>{question}</s><assistant>", 0), ("5</s>", 1)])
        expect_prepared(out / name, [tokens], [weights])


def calls_of_sharegpt(out: Path) -> None:
    """Calls of tools as ShareGPT's sets have them are the messages of `transformers`."""
    call = {"name": "f", "arguments": {"x": 1}}
    theirs = [USER, {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]},
              {"role": "tool", "content": "7"}, ANSWER]
    ours = [SHAREGPT[0], {"from": "function_call", "value": json.dumps(call)}, {"from": "observation", "value": "7"},
            SHAREGPT[1]]
    tools = json.dumps([{"type": "function", "function": {"name": "f"}}])
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.TRIMS)
    for name, record in (("m", {"messages": theirs, "tools": json.loads(tools)}), ("c", {"conversations": ours, "tools": tools})):
        source = write_lines(out / f"{name}.jsonl", [record])
        prepare(source, "--tokenizer", "bytes", "--chat-template", out / "t", "-o", out / name)
    found, expected = read(out / "c"), read(out / "m")
    expect((found.documents, found.weights) == (expected.documents, expected.weights), f"{bytes(found.documents[0])}")
    expect(b"CALLS" in bytes(found.documents[0]) and sum(found.weights[0]) > 0, "the call")


def tables(out: Path) -> None:
    """The columns of Parquet say the form too."""
    import pyarrow
    import pyarrow.parquet
    _, record, segments = FORMS["alpaca-input"]
    out.mkdir(parents=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([record] * 3), out / "a.parquet")
    prepare(out / "a.parquet", *options_of(out, record), "-o", out / "a")
    tokens, weights = bytes_and_weights(segments)
    expect_prepared(out / "a", [tokens] * 3, [weights] * 3)
    _, record, segments = FORMS["sharegpt"]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([record]), out / "c.parquet")
    prepare(out / "c.parquet", *options_of(out, record), "-o", out / "c")
    tokens, weights = bytes_and_weights(segments)
    expect_prepared(out / "c", [tokens], [weights])


def mixed_and_ambiguous(out: Path) -> None:
    """Refused with the line and an option that decides."""
    chat, text, pair = FORMS["sharegpt"][1], {"text": "x"}, FORMS["texts"][1]
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.PLAIN)
    template = ("--chat-template", out / "t")
    for number, (records, words, options) in enumerate((
            ([{**text, **chat}], ["a.jsonl:1: ", "--form text or --messages conversations"], ()),
            ([{"messages": [USER, ANSWER], **chat}], ["--messages messages or --messages conversations"], ()),
            ([text, {**text, "messages": [USER]}], ["a.jsonl:2: ", "may be one of"], ()),
            ([text, chat], ["a.jsonl:2: ", "is one of chats (`conversations`)", "--form text"], ()),
            ([chat, chat, text], ["a.jsonl:3: ", "is one of texts (`text`)"], template),
            ([{"a": "x"}], ["a.jsonl:1: ", "no field `text`", "--messages"], ()),
            ([chat], ["chat template"], ()), ([text], ["--turns has no effect"], ("--turns", "apart")),
            ([pair], ["--chat-template has no effect"], template),
            ([{**pair, "label": False}], ["a.jsonl:1: ", "`label`"], ()),
            ([{"instruction": "i", "output": "o", "history": [["q", "a"]]}], ["`history`"], ()),
            ([{"conversations": [{"from": "robot", "value": "x"}]}], ["message 1 is from `robot`"], template),
            ([{**chat, "system": "s", "conversations": [{"from": "system", "value": "t"}, *SHAREGPT]}],
             ["two different system messages"], template))):
        source = write_lines(out / "a.jsonl", records)
        refused(1, words, source, "--tokenizer", "bytes", "-o", out / "x", *options)
        expect(not list(out.glob("x*")), f"{number} left something behind")
    source = write_lines(out / "a.jsonl", [{**text, **pair}])
    prepare(source, "--tokenizer", "bytes", "-o", out / "text", "--form", "text")
    prepare(source, "--tokenizer", "bytes", "-o", out / "pair", "--form", "pairs")
    expect([bytes(read(out / name).documents[0]) for name in ("text", "pair")] == [b"x", b"2 + 3 = 5"], "--form")
    (out / "b.txt").write_text("text")
    refused(1, ["b.txt", "is a text"], write_lines(out / "c.jsonl", [pair]), out / "b.txt", "--tokenizer", "bytes", "-o", out / "x")
    for words, options in ((["--turns has no effect"], ("--turns", "apart", "--loss", "all")),
                           (["does not have the fields"], ("--form", "chats", "--field", "x")),
                           (["only one of"], ("--chosen", "a", "--rejected", "b", "--messages", "m")),
                           (["--chosen requires"], ("--chosen", "a"))):
        refused(2, words, source, "--tokenizer", "bytes", "-o", out / "x", *options)


def skipped_beginning(out: Path) -> None:
    """Bad records before the first good one do not decide."""
    _, record, segments = FORMS["sharegpt"]
    source = write_lines(out / "a.jsonl", ["bad", {"a": 1}, record])
    output = prepare(source, *options_of(out, record), "-o", out / "a", "--skip-bad")
    tokens, weights = bytes_and_weights(segments)
    expect_prepared(out / "a", [tokens], [weights])
    expect(read(out / "a").sidecar["counts"]["bad"] == 2, output)


CASES = [recognised, as_chats, calls_of_sharegpt, tables, mixed_and_ambiguous, skipped_beginning]
