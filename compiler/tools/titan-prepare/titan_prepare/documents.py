"""From the fields of a record to the text of a document, with the spans that count in the loss."""

from dataclasses import dataclass

from titan_prepare.chat.conversations import SYSTEM, read_messages
from titan_prepare.chat.marks import looks_like_mark
from titan_prepare.chat.record import VARIABLES, Chat, read_tools, read_variables
from titan_prepare.chat.template import ChatTemplate
from titan_prepare.errors import BadRecord, json_type, printable
from titan_prepare.forms import Form, Wanted
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


Group = tuple[Document, ...]  # documents of a record that are kept or left out together


@dataclass(frozen=True)
class Texts:
    """Each record is one text, and all of it counts."""
    field: str
    decoder: Decoder

    def groups(self, fields: dict) -> list[Group]:
        return [(Document(self.decoder.text(fields, self.field)),)]

    def remarks(self) -> set[str]:
        return set()

    def look_at(self, names) -> None:
        """Every field may be beside a text."""


@dataclass(frozen=True)
class Prompts:
    """The prompts of pairs, which are texts."""
    field: str
    decoder: Decoder

    def text(self, fields: dict) -> str:
        return self.decoder.text(fields, self.field)

    def question(self, fields: dict) -> str:
        """The message of a user, for a chat template."""
        return self.text(fields)


@dataclass(frozen=True)
class AlpacaPrompts:
    """Instructions with or without an input, in the two templates that Stanford published with Alpaca."""
    instruction: str
    context: str
    decoder: Decoder

    def text(self, fields: dict) -> str:
        instruction, context = self.read(fields)
        which = ", paired with an input that provides further context" if context else ""
        given = f"### Input:\n{context}\n\n" if context else ""
        return (f"Below is an instruction that describes a task{which}. Write a response that appropriately completes the "
                f"request.\n\n### Instruction:\n{instruction}\n\n{given}### Response:\n")

    def question(self, fields: dict) -> str:
        return "\n".join(filter(None, self.read(fields)))

    def read(self, fields: dict) -> tuple[str, str]:
        for name in ("history", "system"):
            if fields.get(name):
                raise BadRecord(f"the field `{name}` has no place in the template of Alpaca; write such records as chats")
        context = self.decoder.text(fields, self.context) if fields.get(self.context) is not None else ""
        return self.decoder.text(fields, self.instruction), context


@dataclass(frozen=True)
class Pairs:
    """A prompt followed directly by an answer, which alone counts, unless all does."""
    prompts: Prompts | AlpacaPrompts
    answer: str
    decoder: Decoder
    loss_on_all: bool
    beside: "FieldsBeside"

    def groups(self, fields: dict) -> list[Group]:
        prompt, answer = self.prompts.text(fields), self.decoder.text(fields, self.answer)
        spans = None if self.loss_on_all else [(len(prompt), len(prompt) + len(answer))]
        return [(Document(prompt + answer, spans),)]

    def remarks(self) -> set[str]:
        return self.beside.remarks

    def look_at(self, names) -> None:
        self.beside.look_at(names)


@dataclass(frozen=True)
class Chats:
    """Messages written by a chat template; the answers count. `tools` is the field with the tools of a chat; its template
    is the one for chats with tools, if there is another."""
    field: str
    template: ChatTemplate
    decoder: Decoder
    tools: str
    tools_template: ChatTemplate | None
    beside: "FieldsBeside"

    def groups(self, fields: dict) -> list[Group]:
        system = self.decoder.decode_all(fields.get(SYSTEM))
        messages = read_messages(self.decoder.decode_all(get_field(fields, self.field)), system)
        return [(document,) for document in self.render(self.chat(fields, messages))]

    def chat(self, fields: dict, messages: list, first: int = 0) -> Chat:
        """With the tools and variables of its record; answers before message `first` do not count."""
        found = self.decoder.decode_all({name: fields.get(name) for name in (self.tools, VARIABLES)})
        return Chat(messages, read_tools(found[self.tools], self.tools), read_variables(found[VARIABLES]), first)

    def messages(self, fields: dict, name: str) -> list:
        found = read_messages(self.decoder.decode_all(get_field(fields, name)))
        if not isinstance(found, list):
            raise BadRecord(f"the field `{name}` must be a list of messages, and is {json_type(found)}")
        return found

    def render(self, chat: Chat) -> list[Document]:
        template = self.tools_template if chat.tools is not None and self.tools_template else self.template
        return [Document(*rendered) for rendered in template.render(chat)]

    def remarks(self) -> set[str]:
        return self.beside.remarks | self.template.remarks | (self.tools_template.remarks if self.tools_template else set())

    def look_at(self, names) -> None:
        self.beside.look_at(names)


@dataclass(frozen=True)
class ChatPairs:
    """A prompt and an answer as a chat: two texts, or two lists of messages."""
    prompts: Prompts | AlpacaPrompts
    answer: str
    chats: Chats
    of_messages: bool

    def groups(self, fields: dict) -> list[Group]:
        return [(document,) for document in self.chats.render(self.read(fields))]

    def read(self, fields: dict) -> Chat:
        if self.of_messages:
            prompt = self.chats.messages(fields, self.prompts.field)
            return self.chats.chat(fields, prompt + self.chats.messages(fields, self.answer), len(prompt))
        texts = (("user", self.prompts.question(fields)), ("assistant", self.chats.decoder.text(fields, self.answer)))
        return Chat([{"role": role, "content": text} for role, text in texts])

    def remarks(self) -> set[str]:
        return self.chats.remarks()

    def look_at(self, names) -> None:
        self.chats.look_at(names)


@dataclass(frozen=True)
class Checked:
    """Records of one form, which is required of each."""
    content: object
    form: Form
    wanted: Wanted

    def groups(self, fields: dict) -> list[Group]:
        self.wanted.require(self.form, fields)
        return self.content.groups(fields)

    def remarks(self) -> set[str]:
        return self.content.remarks()

    def look_at(self, names) -> None:
        self.content.look_at(names)


class FieldsBeside:
    """The other fields of records with answers. Only messages have marks of what to train on; a field with such a name
    may be meant as one."""

    def __init__(self, used: tuple[str, ...]):
        self.used, self.seen, self.remarks = used, set(), set()

    def look_at(self, names) -> None:
        for name in names:
            if name not in self.seen:
                self.seen.add(name)
                if name not in self.used and looks_like_mark(name):
                    self.remarks.add(f"records have the field `{printable(name)}`, which looks like a mark of what to train "
                                     "on; it has no effect")
