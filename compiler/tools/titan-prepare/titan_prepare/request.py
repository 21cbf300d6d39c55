"""The request of the command line, and the job that it gives to the workers."""

import datetime
from dataclasses import asdict, dataclass
from pathlib import Path

from titan_prepare.chat.record import TOOLS, VARIABLES
from titan_prepare.chat.template import ChatTemplate
from titan_prepare.documents import ChatPairs, Chats, Decoder, Pairs, Texts
from titan_prepare.encoding import Limits
from titan_prepare.errors import UserError
from titan_prepare.inputs.streams import Stream
from titan_prepare.inputs.units import Inputs
from titan_prepare.limits import RecordLimits
from titan_prepare.tokenizers.interface import Ends, Tokenizer
from titan_prepare.tokenizers.opening import TokenizerFile

MOST_TOKENS = 2**31
CHAT_RULES = 2  # a number for the way in which messages become texts and weights


@dataclass(frozen=True)
class Content:
    """The fields of a record that make a document: a text, a pair of prompt and answer, or messages."""
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

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name in (self.text, self.prompt, self.answer, self.messages, self.tools) if name)

    @property
    def optional_fields(self) -> tuple[str, ...]:
        return (VARIABLES, *(() if self.tools else (TOOLS,))) if self.messages else ()

    def identity(self) -> dict:
        """All that changes the output. What was added later is only there if it is used, so that earlier preparations of
        texts stay current."""
        values = asdict(self)
        for name in ("tools", "tools_template", "date"):
            if values[name] is None:
                del values[name]
        return {**values, "chat_rules": CHAT_RULES} if self.template else values

    @property
    def weighted(self) -> bool:
        return not self.text

    def open(self, keeps_bytes: bool):
        decoder = Decoder(self.replaces_broken, keeps_bytes and bool(self.text))
        if self.text:
            return Texts(self.text, decoder)
        pairs = Pairs(self.prompt, self.answer, decoder) if self.prompt else None
        if not self.template:
            return pairs
        chats = Chats(self.messages, self.compile(self.template), decoder, self.tools or TOOLS,
                      self.compile(self.tools_template) if self.tools_template else None)
        return ChatPairs(pairs, chats) if pairs else chats

    def compile(self, source: str) -> ChatTemplate:
        date = datetime.date.fromisoformat(self.date) if self.date else None
        return ChatTemplate(source, dict(self.variables), date)


@dataclass(frozen=True)
class Job:
    """Everything that workers need."""
    inputs: Inputs
    tokenizer: TokenizerFile
    content: Content
    ends: Ends
    limits: Limits
    skip_bad: bool
    record: RecordLimits


@dataclass(frozen=True)
class Request:
    """The command line, checked."""
    paths: tuple[str, ...]
    format: str
    stream: Stream | None
    text_lines: bool
    tokenizer: TokenizerFile
    content: Content
    bos: str  # auto, none, or a token
    eos: str
    vocabulary: int | None
    length: int | None
    overlong: str
    skip_bad: bool
    most: int | None  # documents
    prefix: Path
    force: bool
    workers: int
    chunk: int  # bytes of a unit
    record: RecordLimits

    def options(self) -> dict:
        """All that changes the output, except the tokenizer and the inputs."""
        limits = asdict(self.record) if self.skip_bad and self.record != RecordLimits() else {}
        return {**self.content.identity(), **({"record": limits} if limits else {}), "text_lines": self.text_lines, "bos": self.bos, "eos": self.eos,
                "special": "parse" if self.tokenizer.parse_special else "text", "vocabulary": self.vocabulary,
                "max_length": self.length, "overlong": self.overlong, "skip_bad": self.skip_bad,
                "max_documents": self.most}


def make_job(request: Request, tokenizer: Tokenizer, sources: tuple) -> Job:
    if request.content.template and not tokenizer.reads_special:
        raise UserError(f"'{request.tokenizer.path}' cannot be used with a chat template: {tokenizer.kind} does not read "
                        "special tokens from a text; use the tokenizer.json of the model")
    defaults = Ends(None, None) if request.content.template else tokenizer.default_ends()
    ends = Ends(choose_token("bos", request.bos, defaults.bos, tokenizer),
                choose_token("eos", request.eos, defaults.eos, tokenizer))
    vocabulary = max(tokenizer.vocabulary, *(1 + token for token in (ends.bos, ends.eos) if token is not None), 1)
    if vocabulary > MOST_TOKENS:
        raise UserError(f"the tokenizer '{request.tokenizer.path}' has the token {vocabulary - 1}, and token files have "
                        f"tokens below {MOST_TOKENS}")
    limits = Limits(request.vocabulary or vocabulary, request.length, request.overlong)
    for option, token in (("--bos", ends.bos), ("--eos", ends.eos)):
        if token is not None and token >= limits.vocabulary:
            raise UserError(f"the tokenizer '{request.tokenizer.path or 'bytes'}' adds the token {token} to documents, but "
                            f"the model's vocabulary has {limits.vocabulary} tokens: use the model's own tokenizer, "
                            f"another --vocabulary, or `{option} none`")
    inputs = Inputs(sources, request.content.fields, request.text_lines, request.content.optional_fields,
                    request.record.bytes)
    return Job(inputs, request.tokenizer, request.content, ends, limits, request.skip_bad, request.record)


def choose_token(option: str, choice: str, default: int | None, tokenizer: Tokenizer) -> int | None:
    if choice == "auto":
        return default
    if choice == "none":
        return None
    if choice.isdecimal():
        return int(choice)
    if (token := tokenizer.token_id(choice)) is None:
        raise UserError(f"--{option}: the tokenizer has no token `{choice}`")
    return token
