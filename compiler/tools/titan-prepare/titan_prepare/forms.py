"""The forms that records have: which fields they name, and which form a record has by its fields alone."""

from collections.abc import Iterator
from dataclasses import dataclass

from titan_prepare.errors import BadRecord, printable

CHAT_FIELDS = ("messages", "conversations")  # of OpenAI and TRL, and of ShareGPT


@dataclass(frozen=True)
class Shape:
    """`fields` are the names of a record's fields by their role, `optional` those that may be absent. `kinds` says what
    the fields have: texts, lists of messages, or all of them the one or the other."""
    title: str
    fields: dict[str, str]
    kinds: tuple[str, ...]
    optional: tuple[tuple[str, str], ...] = ()


SHAPES = {
    "text": Shape("texts", {"text": "text"}, ("text",)),
    "chats": Shape("chats", {"messages": CHAT_FIELDS[0]}, ("messages",)),
    "pairs": Shape("prompts with completions", {"prompt": "prompt", "answer": "completion"}, ("text", "messages")),
    "alpaca": Shape("Alpaca instructions", {"prompt": "instruction", "answer": "output"}, ("text",),
                    (("context", "input"),)),
    "preferences": Shape("preference pairs", {"chosen": "chosen", "rejected": "rejected"}, ("text", "messages"),
                         (("prompt", "prompt"),)),
}


@dataclass(frozen=True)
class Form:
    """A form of records. `fields` are pairs of a role and a name, `of_messages` says that they have lists of messages."""
    name: str
    fields: tuple[tuple[str, str], ...]
    of_messages: bool = False

    def field(self, role: str) -> str | None:
        return dict(self.fields).get(role)

    def describe(self) -> str:
        what = " as messages" if self.of_messages and self.name != "chats" else ""
        return f"{SHAPES[self.name].title}{what} ({', '.join(f'`{name}`' for _, name in self.fields)})"


@dataclass(frozen=True)
class Wanted:
    """What the command line says about the form: the names of forms that are possible, and the fields that it names."""
    names: tuple[str, ...] = tuple(SHAPES)
    fields: tuple[tuple[str, str], ...] = ()

    def forms_of(self, record: dict) -> list[Form]:
        """All forms that a record has."""
        return [form for name in self.names for fields in self.choices(name)
                if (form := form_of(name, fields, record))]

    def choices(self, name: str) -> Iterator[dict[str, str]]:
        shape, given = SHAPES[name], dict(self.fields)
        named = {role: given.get(role, field) for role, field in shape.fields.items()}
        if name == "chats" and "messages" not in given:
            yield from ({"messages": field} for field in CHAT_FIELDS)
        else:
            yield named

    def optional(self, name: str) -> dict[str, str]:
        return {role: dict(self.fields).get(role, field) for role, field in SHAPES[name].optional}

    def default(self) -> Form:
        """The form where the records say nothing."""
        name = self.names[0]
        return Form(name, tuple(next(self.choices(name)).items()), name == "chats")

    def require(self, form: Form, record: dict) -> None:
        """Refuses a record that has another form than the first records, or several."""
        found = self.forms_of(record)
        if found == [form]:
            return refuse_labels(form, record)
        if not found:
            if form.name == "text" and form.field("text") not in record:
                listed = printable(", ".join(map(str, record)))[:500] or "none"
                raise BadRecord(f"there is no field `{form.field('text')}`, and no other form of records; the fields are "
                                f"{listed} (--field, --messages, --prompt with --answer, and --chosen with --rejected name "
                                "the fields)")
            return  # its fields have values that are refused with their reason
        if form in found:
            raise BadRecord(ambiguous(found))
        raise BadRecord(f"the record is one of {found[0].describe()}, and the first records are {form.describe()}; "
                        f"prepare them apart, or state the form: --form {form.name}")


def form_of(name: str, fields: dict[str, str], record: dict) -> Form | None:
    shape = SHAPES[name]
    kinds = {kind_of(record.get(field)) for field in fields.values()}
    if len(kinds) != 1 or not kinds <= set(shape.kinds):
        return None
    return Form(name, tuple(fields.items()), kinds == {"messages"})


def refuse_labels(form: Form, record: dict) -> None:
    if form.name == "pairs" and isinstance(record.get("label"), bool):
        raise BadRecord("the field `label` says whether a completion is good, and a model would learn the bad ones, too; "
                        "keep the records of the good ones, without this field")


def kind_of(value) -> str | None:
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "messages"
    return None


def ambiguous(found: list[Form]) -> str:
    choices = " or ".join(f"--messages {form.field('messages')}" if form.name == "chats" else f"--form {form.name}"
                          for form in found)
    return f"the record may be one of {' or of '.join(form.describe() for form in found)}; say which: {choices}"
