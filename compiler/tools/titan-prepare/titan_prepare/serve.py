"""A tokenizer as a service for a compiled program: `titan-prepare --serve TOKENIZER`.

One JSON object a line on standard input, one answer a line on standard output. The first line is the service's:
{"vocabulary": N, "ends": [...]}, or {"error": "..."}. Requests: {"encode": TEXT} and {"chat": TEXT} give {"tokens":
[...]}; {"begin": [TOKENS]} starts a text; {"token": N} continues the text and gives {"text": ...}, the characters that
are complete; {"finish": true} gives the rest. Several texts at a time have numbers: these three requests take
{"text": N} too, by default 0. A text that cannot be encoded gives {"error": "..."}. The end of the input ends the
service.
"""

import json
import sys

from titan_prepare.chat.template import ChatTemplate
from titan_prepare.errors import BadRecord, UserError, first_line
from titan_prepare.files import read_json
from titan_prepare.limits import RecordLimits, one_record
from titan_prepare.tokenizers.interface import Tokenizer
from titan_prepare.tokenizers.opening import tokenizer_file

UNFINISHED = "\N{REPLACEMENT CHARACTER}"  # decoded from bytes that are the beginning of a character


class RunningText:
    """The text of tokens that come one by one. Characters are shown when all their bytes are there."""

    def __init__(self, tokenizer: Tokenizer, tokens: list[int]):
        self.tokenizer, self.tokens = tokenizer, list(tokens)
        # Tokens before `shown` have been shown. Those from `context` on are decoded again, because spaces and joined
        # characters depend on the tokens before.
        self.context, self.shown = max(0, len(tokens) - 8), len(tokens)

    def add(self, token: int) -> str:
        self.tokens.append(token)
        return self.take(whole=False)

    def take(self, whole: bool) -> str:
        """The text that has not been shown; `whole`: with incomplete characters."""
        before = self.tokenizer.decode(self.tokens[self.context:self.shown])
        text = self.tokenizer.decode(self.tokens[self.context:])
        if len(text) <= len(before) or (text.endswith(UNFINISHED) and not whole):
            return ""
        self.context, self.shown = self.shown, len(self.tokens)
        return text[len(before):]


class Service:
    def __init__(self, argument: str):
        file = tokenizer_file(argument, parse_special=True)
        self.tokenizer, self.configuration = file.open(), file.configuration()
        self.own_ends = self.tokenizer.default_ends()
        self.texts = {}
        self.template = None

    def greeting(self) -> dict:
        return {"vocabulary": self.tokenizer.vocabulary, "ends": self.ends()}

    def ends(self) -> list[int]:
        """The tokens that end a text: the tokenizer's, and those of generation_config.json."""
        path = self.configuration.folder / "generation_config.json"
        listed = read_json(path).get("eos_token_id") if path.is_file() else None
        listed = listed if isinstance(listed, list) else [listed]
        return sorted({token for token in [self.own_ends.eos, *listed] if type(token) is int and 0 <= token < 1 << 31})

    def answer(self, request: dict) -> dict:
        match request:
            case {"encode": str(text)}:
                bos = self.own_ends.bos
                return {"tokens": ([] if bos is None else [bos]) + self.encode(text)}
            case {"chat": str(text)}:
                return {"tokens": self.encode(self.in_template(text))}
            case {"begin": list(tokens)}:
                self.texts[request.get("text", 0)] = RunningText(self.tokenizer, tokens)
                return {}
            case {"token": int(token)}:
                return {"text": self.running(request).add(token)}
            case {"finish": True}:
                text = self.running(request).take(whole=True)
                del self.texts[request.get("text", 0)]
                return {"text": text}
        raise UserError(f"not a request: {request}")

    def running(self, request: dict) -> RunningText:
        if text := self.texts.get(request.get("text", 0)):
            return text
        raise UserError(f"no text was begun: {request}")

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode([text])[0].tolist()

    def in_template(self, text: str) -> str:
        if self.template is None:
            source = self.configuration.chat_template()
            if source is None:
                raise UserError("the tokenizer has no chat template (tokenizer_config.json, chat_template.jinja)")
            self.template = ChatTemplate(source, self.configuration.special_tokens())
        return self.template.text_of([{"role": "user", "content": text}], adds_prompt=True)


def serve(argument: str) -> int:
    try:
        service = Service(argument)
        write(service.greeting())
    except Exception as error:  # the program shows it, with the tokenizer's name
        write({"error": first_line(error)})
        return 1
    for line in sys.stdin:
        try:
            with one_record(RecordLimits()):
                answer = service.answer(json.loads(line))
        except (UserError, BadRecord) as error:
            answer = {"error": str(error)}
        write(answer)
    return 0


def write(answer: dict) -> None:
    print(json.dumps(answer), flush=True)
