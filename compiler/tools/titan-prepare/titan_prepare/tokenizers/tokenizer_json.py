"""tokenizer.json, by Hugging Face's `tokenizers`."""

import json
from pathlib import Path

import numpy as np

from titan_prepare.errors import UserError
from titan_prepare.files import read_json
from titan_prepare.libraries import errors_as, require
from titan_prepare.tokenizers.configuration import Configuration
from titan_prepare.tokenizers.interface import Ends, Located
from titan_prepare.tokenizers.windows import LONG, Window, encode_long


class TokenizerJson:
    kind = "tokenizer.json"
    reads_special = True

    def __init__(self, path: Path, configuration: Configuration, parse_special: bool):
        library = require("tokenizers")
        self.configuration = configuration
        values = read_json(path)
        # A saved tokenizer may still have the truncation and the padding of the batch that it last encoded.
        values["truncation"] = values["padding"] = None
        with errors_as(UserError, f"'{path}' is not a tokenizer"):
            self.tokenizer = library.Tokenizer.from_str(json.dumps(values))
            self.before, self.after = tokens_around(self.tokenizer.encode("a"))
        # BOS and EOS are added by options. Byte-level post-processors would also cut spaces from the positions.
        self.tokenizer.post_processor = None
        self.tokenizer.encode_special_tokens = not parse_special
        self.vocabulary = 1 + max(self.tokenizer.get_vocab().values(), default=0)

    def token_id(self, token: str) -> int | None:
        return self.tokenizer.token_to_id(token)

    def default_ends(self) -> Ends:
        return Ends(self.default_bos(), self.default_eos())

    def default_bos(self) -> int | None:
        """The choice of add_bos_token; without it, the token with which the tokenizer itself begins a text."""
        if (adds := self.configuration.adds("bos")) is not None:
            return self.named("bos_token") if adds else None
        return self.before[0] if self.before else None

    def default_eos(self) -> int | None:
        """The eos_token, because documents must end; without one, the token with which the tokenizer itself ends a
        text."""
        named = self.named("eos_token")
        return self.after[-1] if named is None and self.after else named

    def named(self, which: str) -> int | None:
        """The number of the token that tokenizer_config.json calls `which`, such as bos_token."""
        token = self.configuration.special_tokens().get(which)
        return None if token is None else self.token_id(token)

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        short = [text for text in texts if len(text) <= LONG]
        found = iter(self.tokenizer.encode_batch_fast(short, add_special_tokens=False))
        return [np.array(next(found).ids, np.int64) if len(text) <= LONG else encode_long(self.encode_window, text)
                for text in texts]

    def encode_window(self, text: str) -> Window:
        found = self.tokenizer.encode(text, add_special_tokens=False)
        words = np.array([-1 if word is None else word for word in found.word_ids], np.int64)
        begins = np.array(found.offsets, np.int64).reshape(-1, 2)[:, 0]
        starts = np.flatnonzero((words[1:] != words[:-1]) & (words[1:] >= 0) & (words[:-1] >= 0)) + 1
        return Window(np.array(found.ids, np.int64), begins, starts)

    def decode(self, tokens: list[int]) -> str:
        return self.tokenizer.decode(tokens, skip_special_tokens=True)

    def locate(self, text: str) -> Located:
        found = self.tokenizer.encode(text, add_special_tokens=False)
        positions = np.array(found.offsets, np.int64).reshape(-1, 2)
        return Located(np.array(found.ids, np.int64), positions[:, 0], positions[:, 1], in_bytes=False)


def tokens_around(encoded) -> tuple[list[int], list[int]]:
    """The special tokens that a post-processor puts before a text and after it."""
    mask = encoded.special_tokens_mask
    if 0 not in mask:
        return [], []
    first, last = mask.index(0), len(mask) - mask[::-1].index(0)
    return encoded.ids[:first], encoded.ids[last:]
