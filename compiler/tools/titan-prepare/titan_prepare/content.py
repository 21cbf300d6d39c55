"""What makes documents of records: their form, and the options for templates and weights."""

import datetime
from dataclasses import asdict, dataclass

from titan_prepare.chat.conversations import SYSTEM
from titan_prepare.chat.record import TOOLS, VARIABLES
from titan_prepare.chat.template import ChatTemplate
from titan_prepare.documents import (AlpacaPrompts, ChatPairs, Chats, Checked, Decoder, FieldsBeside, Pairs, Prompts, Texts)
from titan_prepare.forms import Form, Wanted
from titan_prepare.preferences import Preferences

CHAT_RULES = 3  # a number for the way in which messages become texts and weights
LATER = ("tools", "tools_template", "date", "context", "chosen", "rejected", "of_messages", "loss_on_all", "turns",
         "form")  # members that earlier preparations do not have


@dataclass(frozen=True)
class Content:
    """The fields of a record that make a document: a text, a pair of prompt and answer, or messages; or two documents, a
    preferred and another answer."""
    text: str | None = None
    prompt: str | None = None
    answer: str | None = None
    messages: str | None = None
    template: str | None = None  # the source of a chat template, for messages and for pairs as chats
    variables: tuple[tuple[str, object], ...] = ()  # of the template
    replaces_broken: bool = False
    tools: str | None = None  # the field with the tools of a chat, if it is named
    tools_template: str | None = None  # of chats with tools, if it is another
    date: str | None = None  # YYYY-MM-DD, for the template
    context: str | None = None  # the field with the input of an Alpaca instruction
    chosen: str | None = None
    rejected: str | None = None
    of_messages: bool = False  # prompt and answer, or chosen and rejected, are lists of messages
    loss_on_all: bool = False  # every token counts
    turns: str | None = None  # which answers of a chat share a document; None: as the template allows
    form: Form | None = None  # that every record must have, of `wanted`
    wanted: Wanted = Wanted()

    @property
    def fields(self) -> tuple[str, ...]:
        named = (self.text, None if self.chosen else self.prompt, self.answer, self.messages, self.tools, self.chosen,
                 self.rejected)
        return tuple(name for name in named if name)

    @property
    def optional_fields(self) -> tuple[str, ...]:
        beside = (VARIABLES, *(() if self.tools else (TOOLS,))) if self.messages or self.of_messages else ()
        system = (SYSTEM,) if self.messages else ()
        return (*beside, *system, *(name for name in (self.context, self.prompt if self.chosen else None) if name))

    def identity(self) -> dict:
        """All that changes the output. What was added later is only there if it is used, so that earlier preparations of
        texts stay current."""
        values = asdict(self)
        del values["wanted"]
        if self.text:
            values["form"] = None
        for name in LATER:
            if not values[name]:
                del values[name]
        return {**values, "chat_rules": CHAT_RULES} if self.template else values

    @property
    def weighted(self) -> bool:
        return not self.text and not self.loss_on_all

    @property
    def documents_each(self) -> int:
        """The documents of a record that are kept or left out together."""
        return 2 if self.chosen else 1

    def open(self, keeps_bytes: bool):
        decoder = Decoder(self.replaces_broken, keeps_bytes and bool(self.text))
        made = self.make(decoder, FieldsBeside((*self.fields, *self.optional_fields)))
        return Checked(made, self.form, self.wanted) if self.form else made

    def make(self, decoder: Decoder, beside: FieldsBeside):
        if self.text:
            return Texts(self.text, decoder)
        prompts = None
        if self.prompt:
            prompts = AlpacaPrompts(self.prompt, self.context, decoder) if self.context else Prompts(self.prompt, decoder)
        chats = None
        if self.template:
            chats = Chats(self.messages, self.compile(self.template), decoder, self.tools or TOOLS,
                          self.compile(self.tools_template) if self.tools_template else None, beside)
        if self.chosen:
            return Preferences(self.prompt, self.chosen, self.rejected, decoder, chats, self.of_messages, beside)
        if self.messages:
            return chats
        if chats:
            return ChatPairs(prompts, self.answer, chats, self.of_messages)
        return Pairs(prompts, self.answer, decoder, self.loss_on_all, beside)

    def compile(self, source: str) -> ChatTemplate:
        date = datetime.date.fromisoformat(self.date) if self.date else None
        return ChatTemplate(source, dict(self.variables), date, self.loss_on_all, self.turns)
