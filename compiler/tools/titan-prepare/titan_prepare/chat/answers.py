"""Finds the answers in the text of a chat whose template does not mark them.

Mostly an answer is what its message adds to the earlier messages and the generation prompt. Some templates write a
message differently if it is the last one (Phi-3, Qwen3) or never write a part of the generation prompt again
(DeepSeek-R1). There a probe, a character that no chat contains, takes the place of the answer's content, and shows where
the text of the chat has this content.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from titan_prepare.errors import BadRecord
from titan_prepare.tokenizers.interface import Span

PROBES = range(0xe000, 0xf900)  # characters for private use
# What must not be divided: special tokens in brackets, and words.
LEXEME = re.compile(r"<[^<>\s]{1,64}>|\[[^\[\]\s]{1,32}\]|\w+|.", re.DOTALL)

Write = Callable[[list[dict], bool], str]  # the text of messages, with or without the generation prompt


@dataclass(frozen=True)
class Place:
    """Where a text has the content of a message: from `start` to `end`. `begin` is the start if nothing of the content was
    left out before it."""
    begin: int | None
    end: int
    start: int


def find_answer(write: Write, messages: list[dict], number: int, whole: str) -> Span:
    before, until = prompt_before(write, messages[:number]), write(messages[:number + 1], False)
    if before is not None and until.startswith(before) and whole.startswith(until):
        return len(before), len(until)
    place = find_content(write, messages, number, whole)
    if before is not None and whole.startswith(before) and len(before) <= place.end:
        begin = len(before)
    elif place.begin is not None:
        begin = place.begin
    else:
        raise no_span(number)
    if number + 1 == len(messages):
        return begin, len(whole)
    alone = find_content(write, messages[:number + 1], number, until)
    return begin, place.end + shared_lexemes(until[alone.end:], whole[place.end:])


def prompt_before(write: Write, messages: list[dict]) -> str | None:
    """The text before an answer. Many templates have none for an answer without any message before it."""
    try:
        return write(messages, True)
    except BadRecord:
        if messages:
            raise
        return None


def find_content(write: Write, messages: list[dict], number: int, text: str) -> Place:
    """Where `text`, that of the messages, has the content of one of them, or the part of it that the template writes."""
    probe = next(chr(code) for code in PROBES if chr(code) not in text)
    content = messages[number].get("content")
    replaced = [{"type": "text", "text": probe}] if isinstance(content, list) else probe
    other = write([*messages[:number], {**messages[number], "content": replaced}, *messages[number + 1:]], False)
    begin = common_length(text, other)
    after = common_length(text[begin:][::-1], other[begin:][::-1])
    written, probed = text[begin:len(text) - after], other[begin:len(other) - after].rstrip()
    parts = parts_of(content)
    last_word = (parts[-1].split() or [""])[-1]
    if not probed.endswith(probe) or (written.strip() and not written.rstrip().endswith(last_word)):
        raise no_span(number)
    sure = probed.lstrip() == probe and any(written in part for part in parts)
    return Place(begin if sure else None, len(text) - after, begin)


def no_span(number: int) -> BadRecord:
    return BadRecord(f"the template writes more than the answer in message {number + 1} differently with another answer, so "
                     "it has no exact span; mark answers in the template with {% generation %} and {% endgeneration %}")


def common_length(one: str, other: str) -> int:
    return len(os.path.commonprefix([one, other]))


def parts_of(content) -> list[str]:
    """The texts of a message's content, at least one."""
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return texts or [""]
    return [content if isinstance(content, str) else ""]


def shared_lexemes(one: str, other: str) -> int:
    """The length of the common beginning of two texts that divides no token of either."""
    at = 0
    for mine, theirs in zip(LEXEME.finditer(one), LEXEME.finditer(other)):
        if mine.group() != theirs.group():
            break
        at = mine.end()
    return at
