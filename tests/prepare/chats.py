"""Compares chats with `transformers`, and the texts that count with the words of the answers."""

import datetime
import json
import random
import sys
from functools import cache
from pathlib import Path

import chat_templates as templates
import makers
from answers import CHAT, bytes_and_weights, expect_prepared
from inputs import write_parquet
from prepared import PACKAGE, expect, prepare, read, refused, write_lines
from texts import SCRIPTS

CHATS = [CHAT, *([{"role": "user", "content": text}, {"role": "assistant", "content": text[::-1]}]
                 for text in SCRIPTS.values())]
VARIABLES = {"bos_token": "<bos>", "eos_token": "<eos>"}
TOOL = {"type": "function", "function": {"name": "f", "description": None, "parameters": {"type": "object"}}}
CALL = {"type": "function", "function": {"name": "f", "arguments": {"x": [1, None]}}}


def chats_as_transformers(out: Path) -> None:
    import transformers
    folder = makers.byte_pairs(out / "bpe", makers.MARKED)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))
    source = write_lines(out / "a.jsonl", [{"messages": chat} for chat in CHATS])
    prepare(source, "--messages", "messages", "--tokenizer", folder, "-o", out / "data")
    done = read(out / "data")
    for number, chat in enumerate(CHATS):
        theirs = tokenizer.apply_chat_template(chat, return_dict=True, return_assistant_tokens_mask=True, truncation=False,
                                               padding=False)
        expect(done.documents[number] == theirs["input_ids"], f"chat {number}: tokens")
        expect(done.weights[number] == theirs["assistant_masks"], f"chat {number}: {done.weights[number]} instead of "
                                                                  f"{theirs['assistant_masks']}")


def turns_of_each_template(out: Path) -> None:
    """Two turns in one document, by templates that write the last answer, or the first, in another way than the others."""
    source = write_lines(out / "a.jsonl", [{"m": templates.TURNS}])
    for number, (template, segments) in enumerate(templates.SEGMENTS.items()):
        (out / f"{number}.jinja").write_text(template)
        prepare(source, "--messages", "m", "--tokenizer", "bytes", "--chat-template", out / f"{number}.jinja", "-o",
                out / f"{number}", *variables("eos_token=<eos>"), "--turns", "together")
        tokens, weights = bytes_and_weights(segments)
        expect_prepared(out / f"{number}", [tokens], [weights])


def variables(*named: str) -> list[str]:
    pairs = [name.split("=") for name in named]
    return [word for name, value in pairs for word in ("--template-variable", f"{name}={json.dumps(value)}")]


@cache
def ours(template: str, turns: str | None):
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.chat.template import ChatTemplate
    return ChatTemplate(template, VARIABLES, datetime.date.today(), turns=turns)


def render(template: str, messages: list[dict], tools=None) -> tuple[str, list] | str:
    """The text and spans of the answers together, or the reason why there are none."""
    found = render_turns(template, messages, tools, "together")
    return found if isinstance(found, str) else found[0]


def render_turns(template: str, messages: list[dict], tools=None, turns=None) -> list[tuple[str, list]] | str:
    compiled = ours(template, turns)
    from titan_prepare.chat.record import Chat
    from titan_prepare.errors import BadRecord
    try:
        return compiled.render(Chat(messages, tools))
    except BadRecord as error:
        return str(error)


def theirs(template: str, messages: list[dict], tools=None) -> str | None:
    """The text of `transformers`; None if it refuses."""
    from transformers.tokenization_utils_base import _normalize_chat_messages
    from transformers.utils.chat_template_utils import render_jinja_template
    try:
        return render_jinja_template([_normalize_chat_messages(messages)], tools=tools, chat_template=template,
                                     **VARIABLES)[0][0]
    except Exception:
        return None


class Draw:
    """Random chats in which every message has a word of its own, and Python's spelling of a value occurs nowhere."""

    def __init__(self, seed: int):
        self.random, self.number = random.Random(seed), 0

    def chat(self) -> list[dict]:
        length = self.random.randrange(1, 7)
        if self.random.random() < 0.6:
            roles = ["user", "assistant"] * length
        else:
            roles = [self.random.choice(("system", "user", "assistant", "assistant", "tool")) for _ in range(length)]
        return [self.message(role) for role in roles[:length]]

    def message(self, role: str) -> dict:
        self.number += 1
        word = f"{'own' if role == 'assistant' else 'foreign'}{self.number}x"
        message = {"role": role, "content": self.content(word, role)}
        if role == "assistant" and self.random.random() < 0.15:
            message |= {"content": None, "tool_calls": [CALL]}
        for key in ("name", "tool_calls", "reasoning_content"):  # as Parquet fills what is absent
            if self.random.random() < 0.2:
                message.setdefault(key, None)
        if role == "assistant" and self.random.random() < 0.3:
            message[self.random.choice(("weight", "train", "loss_mask"))] = self.random.choice((0, 1, False, True))
        return message

    def content(self, word: str, role: str):
        shape = self.random.randrange(12)
        if shape == 0:
            return [{"type": "text", "text": word}]
        if shape == 1 and role == "assistant":
            return f"<think>\nthoughts\n</think>\n\n{word}"
        return {2: f"  {word}\n", 3: word * 2, 4: f"None {word} ['x']", 5: f"<|end|>{word}</s>"}.get(shape, word)


def random_chats(out: Path) -> None:
    """A text is that of `transformers`, or the chat is refused. What counts has the words of answers only, all that the
    template writes of those that are to count, and no word of those that are not."""
    draw, same, spans = Draw(17), 0, 0
    for _ in range(250):
        messages, tools = draw.chat(), draw.random.choice((None, [TOOL]))
        for template in templates.ALL:
            found, expected = render(template, messages, tools), theirs(template, messages, tools)
            if isinstance(found, str):
                spans += "exact span" in found
                continue
            expect(found[0] == expected, f"{found[0]!r} instead of {expected!r} for {messages}")
            expect_words(messages, *found)
            same += 1
    expect(same > 1400, f"only {same} texts")
    expect(spans == 0, f"{spans} chats have no exact span")


def random_turns(out: Path) -> None:
    """Each answer that counts does so in one document, where it is as `transformers` writes it as the last message, thoughts
    included. The document begins with the generation prompt's text, and is the text of `transformers` up to an answer."""
    draw, divided, same = Draw(23), 0, 0
    for _ in range(90):
        messages, tools = draw.chat(), draw.random.choice((None, [TOOL]))
        for template in templates.ALL:
            found = render_turns(template, messages, tools)
            together = render_turns(template, messages, tools, "together")
            if isinstance(found, str):
                expect(isinstance(together, str) or "exact span" in found, f"{found} for {messages}")
                continue
            texts = [theirs(template, messages[:number + 1], tools) for number in range(len(messages))]
            if template != templates.FORGETS:
                expect(all(text in texts for text, _ in found),
                       f"{[text for text, _ in found if text not in texts]} is none of {texts[-2:]} for {messages}")
            divided += len(found) > 1
            counted = "\n".join(text[begin:end] for text, spans in found for begin, end in spans)
            for number, message in enumerate(messages):
                content = message["content"] if isinstance(message["content"], str) else ""
                marks = [value for key, value in message.items() if key in ("weight", "train", "loss_mask")]
                if message["role"] == "assistant" and all(marks) and "</think>" in content and "thoughts" in texts[number]:
                    word = content.split("</think>\n\n")[1]
                    expect(f"thoughts\n</think>\n\n{word}" in counted, f"{word} without its thoughts in {counted!r}")
                    same += 1
    expect(divided > 15 and same > 15, f"{divided} divided, {same} thoughts")


def turns_apart(out: Path) -> None:
    """Templates that rewrite earlier answers: each answer as the template shows it when it is written. Answers that a text
    shows alike share it; --turns decides otherwise."""
    think = [templates.TURNS[0], {"role": "assistant", "content": "<think>\nt1\n</think>\n\na1"}, templates.TURNS[2],
             {"role": "assistant", "content": "t2\n</think>\n\na2"}]
    source = write_lines(out / "a.jsonl", [{"messages": think}])
    qwen = [[("<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\n", 0), ("<think>\nt1\n</think>\n\na1<|im_end|>\n", 1)],
            [("<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n<|im_start|>user\nu2<|im_end|>\n"
              "<|im_start|>assistant\n", 0), ("<think>\nt2\n</think>\n\na2<|im_end|>\n", 1)]]
    deepseek = [[("<｜User｜>u1<｜Assistant｜><think>\n", 0), ("t1\n</think>\n\na1<｜end▁of▁sentence｜>", 1)],
                [("<｜User｜>u1<｜Assistant｜>\n\na1<｜end▁of▁sentence｜><｜User｜>u2<｜Assistant｜><think>\n", 0),
                 ("t2\n</think>\n\na2<｜end▁of▁sentence｜>", 1)]]
    plain = [[("<user>u1</s><assistant>", 0), (think[1]["content"] + "</s>", 1)],
             [(f"<user>u1</s><assistant>{think[1]['content']}</s><user>u2</s><assistant>", 0),
              (think[3]["content"] + "</s>", 1)]]
    for name, template, expected, options in (
            ("qwen", templates.REWRITES, qwen, ()), ("deepseek", templates.FORGETS, deepseek, ()),
            ("apart", templates.PLAIN, plain, ("--turns", "apart")), ("marked", templates.MARKED, plain, ("--turns", "apart"))):
        (out / f"{name}.jinja").write_text(template)
        prepare(source, "--tokenizer", "bytes", "--chat-template", out / f"{name}.jinja", "-o", out / name, *options)
        documents = [bytes_and_weights(segments) for segments in expected]
        expect_prepared(out / name, [tokens for tokens, _ in documents], [weights for _, weights in documents])


def expect_words(messages: list[dict], text: str, spans: list) -> None:
    counted = "\n".join(text[begin:end] for begin, end in spans)
    for message in messages:
        content = message["content"]
        content = content[0]["text"] if isinstance(content, list) else content or ""
        words = [word for word in ("own", "foreign") if word in content]
        if not words:
            continue
        word = content[content.index(words[0]):].split("x")[0] + "x"
        marks = [value for key, value in message.items() if key in ("weight", "train", "loss_mask")]
        counts = message["role"] == "assistant" and all(marks)
        expect((word in counted) == (counts and word in text), f"{word} in {counted!r} of {text!r} for {messages}")


def values_that_are_no_text(out: Path) -> None:
    """No template gets Python's spelling of null, of a list or of an object into the text, whatever it does to them."""
    user, odd = {"role": "user", "content": "hi"}, [{"type": "text", "text": "odd"}]
    for expression in ("m.content", "m.content | trim", "'' ~ m.content", "'%s' % m.content", "'{}'.format(m.content)",
                       "[m.content] | join", "m.content | string", "m.content | upper", "'%s' | format(m.content)",
                       "m.parts", "m.parts[0].none", "m.parts[0].none ~ ''", "m.content | replace('a', 'b')", "m.strip",
                       "(m.parts | map(attribute='text'))", "m"):
        template = "{% for m in messages %}{{ " + expression + " }}{% endfor %}"
        answer = {"role": "assistant", "content": odd, "parts": [{"text": "x", "none": None}], "strip": odd}
        found = render(template, [{**answer, "role": "user"}, answer])
        expect(isinstance(found, str) and "does not know such messages" in found, f"{expression}: {found}")
    silent = "{% for m in messages %}{{ m.content if m.content is string else '' }}{% endfor %}"
    expect("does not write the content" in render(silent, [user, {"role": "assistant", "content": odd}]), "a lost list")
    for content in (5, True, 1.5):
        expect("must be a string" in render(silent, [user, {"role": "assistant", "content": content}]), f"{content}")
    text, _ = render("{{ tools }}{% for m in messages %}{{ m.content }}{% endfor %}", [{**user, "role": "assistant"}], [TOOL])
    expect(text == f"{[TOOL]}hi", f"the tools are the template's to spell: {text}")


def marks_of_messages(out: Path) -> None:
    """Answers that are not to count do not; what is unclear is refused with its line; what only looks like a mark is
    named."""
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text(templates.PLAIN)
    (out / "g").write_text(templates.MARKED)
    options = ("--messages", "m", "--tokenizer", "bytes", "-o", out / "x", "--force")
    for mark in ({"weight": 0}, {"train": False}, {"training": False}, {"train_on_turn": 0}, {"loss": False},
                 {"loss_mask": 0.0}, {"masked": True}, {"weight": 0, "masked": True}):
        marked = [*templates.TURNS[:1], {**templates.TURNS[1], **mark}, *templates.TURNS[2:]]
        source = write_lines(out / "a.jsonl", [{"m": marked}])
        for template in ("t", "g"):
            prepare(source, *options, "--chat-template", out / template)
            tokens, weights = bytes_and_weights([("<user>u1</s><assistant>a1</s><user>u2</s><assistant>", 0), ("a2</s>", 1)])
            expect_prepared(out / "x", [tokens], [weights])
    for number, mark, words in ((0, {"weight": 1}, ["a.jsonl:2", "message 1 (role `user`)"]),
                                (1, {"weight": 0.5}, ["a.jsonl:2", "`weight` of message 2 is 0.5"]),
                                (1, {"train": "no"}, ["`train` of message 2 is a string"]),
                                (1, {"train": True, "weight": 0}, ["contradict"]),
                                (1, {"train_detail": []}, ["`train_detail` of message 2"])):
        marked = [{**message, **(mark if at == number else {})} for at, message in enumerate(templates.TURNS)]
        source = write_lines(out / "a.jsonl", [{"m": templates.TURNS}, {"m": marked}])
        refused(1, words, source, *options, "--chat-template", out / "t")
    marked = [*templates.TURNS[:3], {**templates.TURNS[3], "supervise": 0}]
    source = write_lines(out / "a.jsonl", [{"m": marked, "sample_weight": 0.5}])
    for _ in range(2):  # also if it is up to date
        output = prepare(source, *options[:-1], *options[-1:], "--chat-template", out / "t")
        for word in ("the key `supervise`", "the field `sample_weight`"):
            expect(word in output, f"{word} is missing in {output}")
    source = write_lines(out / "a.jsonl", [{"m": [{"role": "assistant", "content": "x", "weight": 0}]},
                                           {"m": templates.TURNS}])
    prepare(source, *options, "--chat-template", out / "t")
    expect(read(out / "x").sidecar["counts"]["empty"] == 1, "a chat of which nothing counts")


def tools_of_rows(out: Path) -> None:
    """The tools of a row reach the template, of its own name `tool_use` if there is one; so do its variables. Fields that
    Parquet fills with null are absent."""
    import pyarrow
    import pyarrow.parquet
    rows = [{"messages": templates.TURNS[:2], "tools": [TOOL], "chat_template_kwargs": {"mood": "good"}},
            {"messages": [templates.TURNS[0], {"role": "assistant", "content": "a1", "tool_calls": [CALL]}]}]
    (out / "t").parent.mkdir(parents=True)
    (out / "t").write_text("{{ mood }}" + templates.TRIMS)
    text = "{}26 Jul 2024{}<|user|>u1<|eot|><|assistant|>{}a1<|eot|>"
    expected = [list(text.format("good", json.dumps([TOOL]), "").encode()), list(text.format("", "", "CALLS" + json.dumps([CALL])).encode())]
    for name, listed in (("list", rows), ("string", [{**row, "tools": json.dumps(row["tools"])} if "tools" in row else row
                                                     for row in rows])):
        source = write_lines(out / f"{name}.jsonl", listed)
        prepare(source, "--messages", "messages", "--tokenizer", "bytes", "-o", out / name, "--chat-template", out / "t")
        expect(read(out / name).documents == expected, f"{name}: {read(out / name).documents}")
    del rows[0]["tools"][0]["function"]["description"]  # absent and null are the same in a table
    expected[0] = list(text.format("good", json.dumps([TOOL]), "").encode())
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out / "a.parquet")
    prepare(out / "a.parquet", "--messages", "messages", "--tokenizer", "bytes", "-o", out / "p", "--chat-template", out / "t")
    expect(read(out / "p").documents == expected, f"Parquet: {[bytes(d) for d in read(out / 'p').documents]}")
    TOOL["function"]["description"] = None
    (out / "plain").write_text(templates.PLAIN)
    output = prepare(out / "list.jsonl", "--messages", "messages", "--tokenizer", "bytes", "-o", out / "q", "--chat-template",
                     out / "plain")
    expect("records have tools" in output and "have `tool_calls`" in output, output)
    folder = makers.byte_pairs(out / "bpe", [{"name": "default", "template": templates.PLAIN},
                                             {"name": "tool_use", "template": "{{ tools | tojson }}" + templates.PLAIN}])
    prepare(out / "list.jsonl", "--messages", "messages", "--tokenizer", folder, "-o", out / "named")
    refused(1, ["list.jsonl:1", "`t` must be a list"], write_lines(out / "list.jsonl", [{**rows[0], "t": 5}]), "--messages",
            "messages", "--tools", "t", "--tokenizer", "bytes", "-o", out / "z", "--chat-template", out / "t")


def dates_and_headers(out: Path) -> None:
    """A date is fixed, or given; what a user may not expect is said."""
    source = write_lines(out / "a.jsonl", [{"m": templates.TURNS}])
    for name, template in (("d", templates.DATED), ("l", templates.TRIMS), ("h", templates.HEADED)):
        (out / name).write_text(template)
    options = (source, "--messages", "m", "--tokenizer", "bytes", "--force", "-o", out / "x", "--chat-template")
    expect("--date sets another" in prepare(*options, out / "d"), "no remark")
    prepare(*options, out / "d", "--date", "2026-02-03")
    expect(b"Today: 2026-02-03" in bytes(read(out / "x").documents[0]), "the date")
    prepare(*options, out / "l", "--date", "2026-02-03")
    expect(bytes(read(out / "x").documents[0]).startswith(b"03 Feb 2026"), "the date")
    expect('learns to write "<|assistant|>"' in prepare(*options, out / "h"), "no remark")
    refused(2, ["is not a date"], *options, out / "d", "--date", "yesterday")


CASES = [chats_as_transformers, turns_of_each_template, turns_apart, random_chats, random_turns, values_that_are_no_text, marks_of_messages,
         tools_of_rows, dates_and_headers]
