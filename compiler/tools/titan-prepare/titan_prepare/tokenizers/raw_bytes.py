"""The bytes of a text as its tokens."""

import numpy as np

from titan_prepare.tokenizers.interface import Ends, Located


class RawBytes:
    kind = "bytes"
    reads_special = True  # bytes have no special tokens
    vocabulary = 256

    def token_id(self, token: str) -> int | None:
        data = token.encode()
        return data[0] if len(data) == 1 else None

    def default_ends(self) -> Ends:
        return Ends(None, None)

    def encode(self, texts: list[str | bytes]) -> list[np.ndarray]:
        return [np.frombuffer(text if isinstance(text, bytes) else text.encode(), np.uint8) for text in texts]

    def decode(self, tokens: list[int]) -> str:
        return bytes(tokens).decode(errors="replace")

    def locate(self, text: str) -> Located:
        ids, = self.encode([text])
        at = np.arange(len(ids))
        return Located(ids, at, at + 1, in_bytes=True)
