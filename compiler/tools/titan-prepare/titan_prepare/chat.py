"""Chat templates: from messages to a text, and to the spans of the text that the model learns to write.

Templates are Jinja's, in a sandbox, with the settings and functions that Hugging Face's `transformers` documents for
them ("Chat templates"). `strftime_now` is left out, so that a prepared file does not depend on the day of its
preparation. Templates test whether it is defined, and otherwise write a fixed date.
"""

import json

from titan_prepare.errors import BadRecord, UserError
from titan_prepare.libraries import require
from titan_prepare.tokenizers.interface import Span

# Noncharacters of Unicode. They mark the bounds of a `generation` block until the text is complete.
BEGIN, END = "\ufdd0", "\ufdd1"


class ChatTemplate:
    """A compiled template. `variables` are visible to it beside the messages."""

    def __init__(self, source: str, variables: dict):
        self.variables = variables
        self.errors = require("jinja2.exceptions")
        environment = make_environment()
        try:
            self.template = environment.from_string(source)
        except self.errors.TemplateError as error:
            raise UserError(f"the chat template is wrong, line {getattr(error, 'lineno', '?')}: {error}") from error
        self.marks_answers = "generation" in environment.titan_tags_seen

    def render(self, messages: list[dict]) -> tuple[str, list[Span]]:
        """The text of a chat, and the spans of its answers."""
        check_messages(messages)
        if self.marks_answers:
            return split_marks(self.text_of(messages, adds_prompt=False))
        return self.compare_prefixes(messages)

    def compare_prefixes(self, messages: list[dict]) -> tuple[str, list[Span]]:
        """An answer is the text that its message adds to the earlier messages and the generation prompt."""
        whole, spans = self.text_of(messages, adds_prompt=False), []
        for number, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            before = self.text_of(messages[:number], adds_prompt=True)
            after = self.text_of(messages[:number + 1], adds_prompt=False)
            if not (after.startswith(before) and whole.startswith(after)):
                raise BadRecord(f"the template writes the messages before the answer in message {number + 1} "
                                "differently with and without the answer, so the answer has no exact span; "
                                "mark answers in the template with {% generation %} and {% endgeneration %}")
            spans.append((len(before), len(after)))
        return whole, spans

    def text_of(self, messages: list[dict], adds_prompt: bool) -> str:
        try:
            return self.template.render(messages=messages, add_generation_prompt=adds_prompt, **self.variables)
        except self.errors.TemplateError as error:
            raise BadRecord(f"the chat template refuses the messages: {error}") from error
        except RecursionError as error:
            raise BadRecord("the chat template does not end") from error
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError, ArithmeticError) as error:
            raise BadRecord(f"the chat template fails on the messages: {error}") from error


def check_messages(messages) -> None:
    if not isinstance(messages, list) or not messages:
        raise BadRecord("the messages must be a list that is not empty")
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadRecord(f"message {number} must be an object with the string `role`, and with `content`")
    text = json.dumps(messages, ensure_ascii=False, default=str)
    if BEGIN in text or END in text:
        raise BadRecord("the messages contain U+FDD0 or U+FDD1, which are not characters")


def split_marks(text: str) -> tuple[str, list[Span]]:
    """Removes the marks; spans are positions without them."""
    plain, length, spans, begun = [], 0, [], None
    # With an END before each BEGIN, too, a segment is an answer, which starts with BEGIN, or text between answers.
    for segment in text.replace(BEGIN, END + BEGIN).split(END):
        if segment.startswith(BEGIN):
            segment, begun = segment[1:], length
        elif begun is not None:
            spans.append((begun, length))
            begun = None
        plain.append(segment)
        length += len(segment)
    return "".join(plain), [span for span in spans if span[0] < span[1]]


def make_environment():
    sandbox, extensions = require("jinja2.sandbox"), require("jinja2.ext")
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[generation_tag(), extensions.loopcontrols])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    return environment


def to_json(value, indent=None, ensure_ascii=False, separators=None, sort_keys=False) -> str:
    """A value as JSON, without the escapes for HTML of Jinja's own filter."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def refuse(message) -> None:
    raise require("jinja2.exceptions").TemplateError(str(message))


def generation_tag():
    """Jinja's extension for {% generation %}, which writes the body of the tag between BEGIN and END."""
    ext, nodes = require("jinja2.ext"), require("jinja2.nodes")

    class Generation(ext.Extension):
        tags = {"generation"}

        def __init__(self, environment):
            super().__init__(environment)
            environment.titan_tags_seen = set()

        def parse(self, parser):
            line = next(parser.stream).lineno
            self.environment.titan_tags_seen.add("generation")
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            mark = [nodes.Output([nodes.TemplateData(text)]).set_lineno(line) for text in (BEGIN, END)]
            return [mark[0], *body, mark[1]]

    return Generation
