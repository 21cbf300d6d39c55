"""From the fields of a record to the text of a document, with the spans that count in the loss."""

from dataclasses import dataclass, field

from titan_prepare.chat.marks import looks_like_mark
from titan_prepare.chat.record import VARIABLES, Chat, read_tools, read_variables
from titan_prepare.chat.template import ChatTemplate
from titan_prepare.errors import BadRecord, json_type, printable
from titan_prepare.tokenizers.interface import Span


@dataclass(frozen=True)
class Document:
    text: str | bytes
    spans: list[Span] | None = None  # None: every token counts, and no weights are written


def get_field(fields: dict, name: str):
    if name not in fields:
        listed = printable(", ".join(map(str, fields))) or "none"
        raise BadRecord(f"there is no field `{name}`; the fields are {shorten(listed)}")
    return fields[name]


def shorten(text: str, most: int = 500) -> str:
    return text if len(text) <= most else text[:most] + " ..."


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
            return {self.decode_all(key): self.decode_all(item) for key, item in value.items()}
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

    def remarks(self) -> set[str]:
        return set()

    def look_at(self, names) -> None:
        """Every field may be beside a text."""


@dataclass(frozen=True)
class Pairs:
    """A prompt followed directly by an answer, which alone counts."""
    prompt: str
    answer: str
    decoder: Decoder
    beside: "FieldsBeside" = field(default_factory=lambda: FieldsBeside())

    def document(self, fields: dict) -> Document:
        prompt, answer = self.decoder.text(fields, self.prompt), self.decoder.text(fields, self.answer)
        return Document(prompt + answer, [(len(prompt), len(prompt) + len(answer))])

    def remarks(self) -> set[str]:
        return self.beside.remarks

    def look_at(self, names) -> None:
        self.beside.look_at(names, (self.prompt, self.answer))


@dataclass(frozen=True)
class Chats:
    """Messages written by a chat template; the answers count. `tools` is the field with the tools of a chat; its template
    is the one for chats with tools, if there is another."""
    field: str
    template: ChatTemplate
    decoder: Decoder
    tools: str
    tools_template: ChatTemplate | None = None
    beside: "FieldsBeside" = field(default_factory=lambda: FieldsBeside())

    def document(self, fields: dict) -> Document:
        found = self.decoder.decode_all({name: fields.get(name) for name in (self.tools, VARIABLES)})
        return self.render(Chat(self.decoder.decode_all(get_field(fields, self.field)),
                                read_tools(found[self.tools], self.tools), read_variables(found[VARIABLES])))

    def render(self, chat: Chat) -> Document:
        template = self.tools_template if chat.tools is not None and self.tools_template else self.template
        return Document(*template.render(chat))

    def remarks(self) -> set[str]:
        return self.beside.remarks | self.template.remarks | (self.tools_template.remarks if self.tools_template else set())

    def look_at(self, names) -> None:
        self.beside.look_at(names, (self.field, self.tools))


@dataclass(frozen=True)
class ChatPairs:
    """A prompt and an answer as a chat of two messages."""
    pairs: Pairs
    chats: Chats

    def document(self, fields: dict) -> Document:
        roles = (("user", self.pairs.prompt), ("assistant", self.pairs.answer))
        return self.chats.render(Chat([{"role": role, "content": self.pairs.decoder.text(fields, field)}
                                       for role, field in roles]))

    def remarks(self) -> set[str]:
        return self.pairs.remarks() | self.chats.remarks()

    def look_at(self, names) -> None:
        self.pairs.look_at(names)


class FieldsBeside:
    """The other fields of records with answers. Only messages have marks of what to train on; a field with such a name
    may be meant as one."""

    def __init__(self):
        self.seen, self.remarks = set(), set()

    def look_at(self, names, used: tuple[str, ...]) -> None:
        for name in names:
            if name not in self.seen:
                self.seen.add(name)
                if name not in used and looks_like_mark(name):
                    self.remarks.add(f"records have the field `{printable(name)}`, which looks like a mark of what to train "
                                     "on; it has no effect")
