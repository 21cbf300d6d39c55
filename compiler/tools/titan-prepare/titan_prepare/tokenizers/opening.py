"""Opens the tokenizer of a file, by the format of the file."""

from dataclasses import dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import digest_of
from titan_prepare.tokenizers.configuration import Configuration, find_tokenizer, read_configuration
from titan_prepare.tokenizers.interface import Tokenizer
from titan_prepare.tokenizers.ranks import TiktokenRanks, looks_like_tiktoken
from titan_prepare.tokenizers.raw_bytes import RawBytes
from titan_prepare.tokenizers.sentence_piece import SentencePiece
from titan_prepare.tokenizers.tokenizer_json import TokenizerJson


@dataclass(frozen=True)
class TokenizerFile:
    """The file of a tokenizer, or None for raw bytes."""
    path: Path | None
    parse_special: bool  # `<|endoftext|>` in a text becomes that special token, not the tokens of its characters

    def open(self) -> Tokenizer:
        if self.path is None:
            return RawBytes()
        if self.path.suffix == ".json":
            return TokenizerJson(self.path, self.configuration(), self.parse_special)
        if looks_like_tiktoken(self.path):
            return TiktokenRanks(self.path, self.configuration(), self.parse_special)
        if not self.parse_special:
            raise UserError("--special text has no effect with a SentencePiece model, which never reads special tokens "
                            "from a text")
        return SentencePiece(self.path, self.configuration())

    def configuration(self) -> Configuration:
        return Configuration({}, Path()) if self.path is None else read_configuration(self.path.parent)

    def digests(self) -> dict[str, str]:
        """The digests of all files that determine the tokens, by file name."""
        if self.path is None:
            return {}
        files = [self.path] + [path for name in ("tokenizer_config.json", "chat_template.jinja")
                               if (path := self.path.parent / name).is_file()]
        return {path.name: digest_of(path) for path in files}


def tokenizer_file(argument: str, parse_special: bool) -> TokenizerFile:
    return TokenizerFile(None if argument == "bytes" else find_tokenizer(argument), parse_special)
