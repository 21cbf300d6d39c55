"""Compares chats with `transformers`: its tokens, and its mask of the text in {% generation %}."""

from pathlib import Path

import makers
from answers import CHAT
from prepared import expect, prepare, read, write_lines
from texts import SCRIPTS

CHATS = [CHAT, *([{"role": "user", "content": text}, {"role": "assistant", "content": text[::-1]}]
                 for text in SCRIPTS.values())]


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


CASES = [chats_as_transformers]
