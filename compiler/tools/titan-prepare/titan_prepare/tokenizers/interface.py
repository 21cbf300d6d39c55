"""The interface of tokenizers."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

Span = tuple[int, int]  # characters [begin, end) of a text


@dataclass(frozen=True)
class Located:
    """The tokens of a text, and the range of positions that each covers: characters, or bytes of UTF-8."""
    ids: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    in_bytes: bool

    def weights(self, text: str, spans: list[Span]) -> np.ndarray:
        """1 for each token with a character of a span. A token of no characters counts by its position."""
        found = np.zeros(len(self.ids), bool)
        last = np.maximum(self.ends, self.begins + 1)
        for begin, end in spans:
            if self.in_bytes:
                begin, end = len(text[:begin].encode()), len(text[:end].encode())
            found |= (self.begins < end) & (last > begin)
        return found.astype(np.uint8)


@dataclass(frozen=True)
class Ends:
    """The tokens before and after a document; None for no token."""
    bos: int | None
    eos: int | None


class Tokenizer(Protocol):
    kind: str
    vocabulary: int  # one more than the largest token
    reads_special: bool  # can turn the texts of special tokens, which chat templates write, into tokens

    def token_id(self, token: str) -> int | None:
        """The number of a token by its text; None if there is none."""

    def default_ends(self) -> Ends:
        """The tokens that the tokenizer itself puts around documents."""

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        """The tokens of each text, without those of `default_ends`."""

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens, without special ones; the replacement character for bytes that are not UTF-8."""

    def locate(self, text: str) -> Located:
        """The tokens of one text, as `encode` gives them, with their positions."""
