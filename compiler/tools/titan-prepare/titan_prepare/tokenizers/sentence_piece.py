"""Models of SentencePiece, which the library `sentencepiece` runs."""

from pathlib import Path

import numpy as np

from titan_prepare.errors import UserError
from titan_prepare.libraries import errors_as, require
from titan_prepare.tokenizers.configuration import Configuration
from titan_prepare.tokenizers.interface import Ends, Located


class SentencePiece:
    kind = "sentencepiece"
    reads_special = False

    def __init__(self, path: Path, configuration: Configuration):
        self.configuration = configuration
        self.processor = require("sentencepiece").SentencePieceProcessor()
        with errors_as(UserError, f"'{path}' is not a SentencePiece model"):
            self.processor.LoadFromSerializedProto(path.read_bytes())
        self.vocabulary = self.processor.vocab_size()

    def token_id(self, token: str) -> int | None:
        number = self.processor.piece_to_id(token)
        return number if self.processor.id_to_piece(number) == token else None

    def default_ends(self) -> Ends:
        """The BOS of the model, unless add_bos_token is false, and its EOS; None for tokens that the model lacks."""
        bos, eos = self.processor.bos_id(), self.processor.eos_id()
        without = self.configuration.adds("bos") is False
        return Ends(None if bos < 0 or without else bos, None if eos < 0 else eos)

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        return self.processor.encode(texts, return_type="numpy", num_threads=1)

    def decode(self, tokens: list[int]) -> str:
        return self.processor.decode(tokens)

    def locate(self, text: str) -> Located:
        found = self.processor.encode(text, return_type="offset_mapping", return_bytes=False)
        positions = np.array(found["offsets"], np.int64).reshape(-1, 2)
        return Located(np.array(found["ids"], np.int64), positions[:, 0], positions[:, 1], in_bytes=False)
