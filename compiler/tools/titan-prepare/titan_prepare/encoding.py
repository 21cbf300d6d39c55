"""From documents to tokens and weights: the tokenizer, the tokens around a document, its length, and the vocabulary."""

from dataclasses import dataclass

import numpy as np

from titan_prepare.documents import Document
from titan_prepare.errors import BadRecord
from titan_prepare.indexed import LONGEST
from titan_prepare.libraries import errors_as
from titan_prepare.tokenizers.interface import Ends, Tokenizer


class Empty(Exception):
    """A document that is left out because nothing of it can be learned."""


class Overlong(Exception):
    """A document that is left out because of --overlong skip."""


@dataclass(frozen=True)
class Limits:
    vocabulary: int  # of the model; every token is smaller
    length: int | None  # the most tokens of a document
    overlong: str  # what happens to longer ones: refuse, truncate or skip


@dataclass(frozen=True)
class Encoded:
    tokens: np.ndarray
    weights: np.ndarray | None  # u8, one for each token


class Encoder:
    def __init__(self, tokenizer: Tokenizer, ends: Ends, limits: Limits):
        self.tokenizer, self.ends, self.limits = tokenizer, ends, limits

    def texts(self, documents: list[Document]) -> list[np.ndarray]:
        """The tokens of documents without spans."""
        with errors_as(BadRecord, "the tokenizer fails"):
            return self.tokenizer.encode([document.text for document in documents])

    def finish_text(self, tokens: np.ndarray) -> Encoded:
        """Adds BOS and EOS to the tokens of a document without spans."""
        if not len(tokens):
            raise Empty
        return self.shorten(Encoded(surround(tokens, self.ends.bos, self.ends.eos), None))

    def with_spans(self, document: Document) -> Encoded:
        """The tokens of a document, and their weights. BOS never counts. EOS counts, because the model must learn where
        an answer ends."""
        with errors_as(BadRecord, "the tokenizer fails"):
            located = self.tokenizer.locate(document.text)
        weights = located.weights(document.text, document.spans)
        if not weights.any():
            raise Empty
        bos, eos = self.ends.bos, self.ends.eos
        tokens = surround(located.ids, bos, eos)
        weights = surround(weights, None if bos is None else 0, None if eos is None else 1).astype(np.uint8)
        return self.shorten(Encoded(tokens, weights))

    def group(self, documents: tuple[Document, ...]) -> list[Encoded]:
        """The tokens of documents that are kept or left out together. Each of several has a label that counts."""
        found = [self.with_spans(document) for document in documents]
        if len(found) > 1 and not all(encoded.weights[1:].any() for encoded in found):
            raise Empty
        return found

    def shorten(self, encoded: Encoded) -> Encoded:
        length, most = len(encoded.tokens), self.limits.length or LONGEST
        if length > most:
            if self.limits.overlong == "skip":
                raise Overlong
            if self.limits.overlong == "refuse" or not self.limits.length:
                raise BadRecord(f"the document has {length} tokens, more than {most}")
            encoded = Encoded(encoded.tokens[:most], None if encoded.weights is None else encoded.weights[:most])
            if encoded.weights is not None and not encoded.weights.any():
                raise Empty
        self.check(encoded.tokens)
        return encoded

    def check(self, tokens: np.ndarray) -> None:
        largest, least = int(tokens.max()), int(tokens.min())
        if largest >= self.limits.vocabulary or least < 0:
            wrong = largest if largest >= self.limits.vocabulary else least
            raise BadRecord(f"the text has the token {wrong}, and the vocabulary has {self.limits.vocabulary} tokens")


def surround(values: np.ndarray, before: int | None, after: int | None) -> np.ndarray:
    around = [np.array([] if value is None else [value], np.int64) for value in (before, after)]
    return values if before is None and after is None else np.concatenate([around[0], values, around[1]])
