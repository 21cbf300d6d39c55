"""From the fields of a record to the text of a document, with the spans that count in the loss."""

from dataclasses import dataclass

from titan_prepare.chat import ChatTemplate
from titan_prepare.errors import BadRecord, json_type
from titan_prepare.tokenizers.interface import Span


@dataclass(frozen=True)
class Document:
    text: str | bytes
    spans: list[Span] | None = None  # None: every token counts, and no weights are written


def get_field(fields: dict, name: str):
    if name not in fields:
        raise BadRecord(f"there is no field `{name}`; the fields are {', '.join(map(str, fields)) or 'none'}")
    return fields[name]


class Decoder:
    """Reads texts from the fields of records. Refuses or replaces broken Unicode: invalid UTF-8 in a text file, and
    half of a surrogate pair in JSON."""

    def __init__(self, replaces: bool, keeps_bytes: bool):
        self.errors = "replace" if replaces else "strict"
        self.keeps_bytes = keeps_bytes  # for raw bytes as tokens

    def text(self, fields: dict, name: str) -> str | bytes:
        value = get_field(fields, name)
        if not isinstance(value, (str, bytes)):
            raise BadRecord(f"the field `{name}` must be a string, and is {json_type(value)}")
        if isinstance(value, bytes) and self.keeps_bytes:
            return value
        return self.decode(value, f"the field `{name}`")

    def decode(self, value: str | bytes, what: str) -> str:
        try:
            if isinstance(value, bytes):
                return value.decode(errors=self.errors)
            if self.errors == "replace":
                return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value) if broken(value) else value
            value.encode()
            return value
        except UnicodeError as error:
            raise BadRecord(f"{what} is not valid Unicode: {error.reason} at position {error.start + 1}; "
                            "--invalid-unicode replace writes U+FFFD there") from error

    def decode_all(self, value):
        """All strings of a JSON value."""
        if isinstance(value, str):
            return self.decode(value, "a message")
        if isinstance(value, list):
            return [self.decode_all(item) for item in value]
        if isinstance(value, dict):
            return {key: self.decode_all(item) for key, item in value.items()}
        return value


def broken(text: str) -> bool:
    try:
        text.encode()
        return False
    except UnicodeError:
        return True


@dataclass(frozen=True)
class Texts:
    """Each record is one text, and all of it counts."""
    field: str
    decoder: Decoder

    def document(self, fields: dict) -> Document:
        return Document(self.decoder.text(fields, self.field))


@dataclass(frozen=True)
class Pairs:
    """A prompt followed directly by an answer, which alone counts."""
    prompt: str
    answer: str
    decoder: Decoder

    def document(self, fields: dict) -> Document:
        prompt, answer = self.decoder.text(fields, self.prompt), self.decoder.text(fields, self.answer)
        return Document(prompt + answer, [(len(prompt), len(prompt) + len(answer))])


@dataclass(frozen=True)
class Chats:
    """Messages written by a chat template; the answers count."""
    field: str
    template: ChatTemplate
    decoder: Decoder

    def document(self, fields: dict) -> Document:
        return self.render(get_field(fields, self.field))

    def render(self, messages) -> Document:
        text, spans = self.template.render(self.decoder.decode_all(messages))
        if not spans:
            raise BadRecord("no message is an answer (role `assistant`), so nothing counts in the loss")
        return Document(text, spans)


@dataclass(frozen=True)
class ChatPairs:
    """A prompt and an answer as a chat of two messages."""
    pairs: Pairs
    chats: Chats

    def document(self, fields: dict) -> Document:
        roles = (("user", self.pairs.prompt), ("assistant", self.pairs.answer))
        return self.chats.render([{"role": role, "content": self.pairs.decoder.text(fields, field)}
                                  for role, field in roles])
