"""Tokenizers that `tiktoken` runs: files of byte pairs with ranks, such as the tokenizer.model of Llama 3.

The file has neither the pattern that divides a text into words nor the special tokens. Titan uses the pattern and the
tokens of Llama 3, version 3.1 (github.com/meta-llama/llama-models, models/llama3/tokenizer.py), unless
tokenizer_config.json names other tokens.
"""

import base64
import binascii
import re
from pathlib import Path

import numpy as np

from titan_prepare.errors import UserError
from titan_prepare.libraries import errors_as, require
from titan_prepare.tokenizers.configuration import Configuration
from titan_prepare.tokenizers.interface import Ends, Located

PATTERN = "|".join((r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"[^\r\n\p{L}\p{N}]?\p{L}+", r"\p{N}{1,3}",
                    r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"))
NAMED = {0: "begin_of_text", 1: "end_of_text", 4: "finetune_right_pad_id", 5: "step_id", 6: "start_header_id",
         7: "end_header_id", 8: "eom_id", 9: "eot_id", 10: "python_tag"}
SPECIAL_TOKENS = 256
LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} \d+\r?\n?")


def looks_like_tiktoken(path: Path) -> bool:
    with open(path, "rb") as file:
        return bool(LINE.fullmatch(file.readline(4096)))


class TiktokenRanks:
    kind = "tiktoken"
    reads_special = True

    def __init__(self, path: Path, configuration: Configuration, parse_special: bool):
        ranks = read_ranks(path)
        self.configuration, self.parse_special = configuration, parse_special
        self.special = special_tokens(len(ranks), configuration)
        self.vocabulary = 1 + max(max(ranks.values()), *self.special.values())
        library = require("tiktoken")
        with errors_as(UserError, f"'{path}' is not a list of byte pairs"):
            self.encoding = library.Encoding(path.name, pat_str=PATTERN, mergeable_ranks=ranks,
                                             special_tokens=self.special)

    def token_id(self, token: str) -> int | None:
        if token in self.special:
            return self.special[token]
        try:
            return self.encoding.encode_single_token(token)
        except KeyError:
            return None

    def default_ends(self) -> Ends:
        names = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>",
                 **self.configuration.special_tokens()}
        bos = None if self.configuration.adds("bos") is False else self.special.get(names["bos_token"])
        return Ends(bos, self.special.get(names["eos_token"]))

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        return [np.array(self.encode_one(text), np.int64) for text in texts]

    def encode_one(self, text: str) -> list[int]:
        if self.parse_special:
            return self.encoding.encode(text, allowed_special="all")
        return self.encoding.encode_ordinary(text)

    def decode(self, tokens: list[int]) -> str:
        special = set(self.special.values())
        return self.encoding.decode([token for token in tokens if token not in special], errors="replace")

    def locate(self, text: str) -> Located:
        ids = self.encode_one(text)
        ends = np.cumsum([len(self.encoding.decode_single_token_bytes(token)) for token in ids], dtype=np.int64)
        return Located(np.array(ids, np.int64), np.concatenate([[0], ends[:-1]]).astype(np.int64), ends, in_bytes=True)


def read_ranks(path: Path) -> dict[bytes, int]:
    """Lines of a token in base64 and its merge rank. Ranks are the numbers 0, 1, 2, ..."""
    ranks = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise UserError(f"{path}:{number}: not a token in base64 and its rank: {error}") from error
        if int(rank) != number - 1 or len(ranks) != number:
            raise UserError(f"{path}:{number}: expected a new token with the rank {number - 1}")
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise UserError(f"'{path}' has no token for the byte {missing[0]}, so it cannot encode every text")
    return ranks


def special_tokens(first: int, configuration: Configuration) -> dict[str, int]:
    """The special tokens of tokenizer_config.json; if it lists none, those of Llama 3, which follow the ranks."""
    if listed := {text: number for text, number in configuration.added_tokens().items() if number >= first}:
        return listed
    reserved = iter(range(SPECIAL_TOKENS))
    return {f"<|{NAMED[i]}|>" if i in NAMED else f"<|reserved_special_token_{next(reserved)}|>": first + i
            for i in range(SPECIAL_TOKENS)}
