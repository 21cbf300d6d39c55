"""The request of the command line, and the job that it gives to the workers."""

from dataclasses import asdict, dataclass
from pathlib import Path

from titan_prepare.chat import ChatTemplate
from titan_prepare.documents import ChatPairs, Chats, Decoder, Pairs, Texts
from titan_prepare.encoding import Limits
from titan_prepare.errors import UserError
from titan_prepare.inputs.streams import Stream
from titan_prepare.inputs.units import Inputs
from titan_prepare.tokenizers.interface import Ends, Tokenizer
from titan_prepare.tokenizers.opening import TokenizerFile


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

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name in (self.text, self.prompt, self.answer, self.messages) if name)

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
        chats = Chats(self.messages, ChatTemplate(self.template, dict(self.variables)), decoder)
        return ChatPairs(pairs, chats) if pairs else chats


@dataclass(frozen=True)
class Job:
    """Everything that workers need."""
    inputs: Inputs
    tokenizer: TokenizerFile
    content: Content
    ends: Ends
    limits: Limits
    skip_bad: bool


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

    def options(self) -> dict:
        """All that changes the output, except the tokenizer and the inputs."""
        return {**asdict(self.content), "text_lines": self.text_lines, "bos": self.bos, "eos": self.eos,
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
    limits = Limits(request.vocabulary or vocabulary, request.length, request.overlong)
    for option, token in (("--bos", ends.bos), ("--eos", ends.eos)):
        if token is not None and token >= limits.vocabulary:
            raise UserError(f"the tokenizer '{request.tokenizer.path or 'bytes'}' adds the token {token} to documents, but "
                            f"the model's vocabulary has {limits.vocabulary} tokens: use the model's own tokenizer, "
                            f"another --vocabulary, or `{option} none`")
    inputs = Inputs(sources, request.content.fields, request.text_lines)
    return Job(inputs, request.tokenizer, request.content, ends, limits, request.skip_bad)


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
