"""The request of the command line, and the job that it gives to the workers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from titan_prepare.content import Content
from titan_prepare.encoding import Limits
from titan_prepare.errors import UserError
from titan_prepare.forms import Form, Wanted
from titan_prepare.inputs.streams import Stream
from titan_prepare.inputs.units import Inputs
from titan_prepare.limits import RecordLimits
from titan_prepare.tokenizers.interface import Ends, Tokenizer
from titan_prepare.tokenizers.opening import TokenizerFile

MOST_TOKENS = 2**31


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
    form: Form | Wanted  # Wanted: the records say which form they have
    make_content: Callable[[Form, Wanted | None], Content]
    bos: str  # auto, none, or a token
    eos: str
    vocabulary: int | None
    length: int | None
    overlong: str
    skip_bad: bool
    most: int | None  # documents, or preference pairs
    prefix: Path
    force: bool
    workers: int
    chunk: int  # bytes of a unit
    record: RecordLimits

    def options(self, content: Content) -> dict:
        """All that changes the output, except the tokenizer and the inputs."""
        limits = asdict(self.record) if self.skip_bad and self.record != RecordLimits() else {}
        return {**content.identity(), **({"record": limits} if limits else {}), "text_lines": self.text_lines, "bos": self.bos, "eos": self.eos,
                "special": "parse" if self.tokenizer.parse_special else "text", "vocabulary": self.vocabulary,
                "max_length": self.length, "overlong": self.overlong, "skip_bad": self.skip_bad,
                "max_documents": self.most}


def make_job(request: Request, content: Content, tokenizer: Tokenizer, sources: tuple) -> Job:
    if content.template and not tokenizer.reads_special:
        raise UserError(f"'{request.tokenizer.path}' cannot be used with a chat template: {tokenizer.kind} does not read "
                        "special tokens from a text; use the tokenizer.json of the model")
    defaults = Ends(None, None) if content.template else tokenizer.default_ends()
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
    inputs = Inputs(sources, content.fields, request.text_lines, content.optional_fields,
                    request.record.bytes)
    return Job(inputs, request.tokenizer, content, ends, limits, request.skip_bad, request.record)


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
