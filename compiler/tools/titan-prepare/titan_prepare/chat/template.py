"""Chat templates: from a chat to a text, and to the spans of the text that the model learns to write. The texts are those
of `apply_chat_template` of Hugging Face's `transformers` (5.24)."""

import datetime
import json
from functools import partial

from titan_prepare.chat.answers import find_answers, find_content, prompt_before
from titan_prepare.chat.environment import BEGIN, END, NotText, make_environment
from titan_prepare.chat.marks import MARKS, answers_that_count, looks_like_mark
from titan_prepare.chat.record import Chat, identities, normalize, require_parts
from titan_prepare.errors import BadRecord, UserError, first_line
from titan_prepare.libraries import require
from titan_prepare.tokenizers.interface import Span

DATE = datetime.date(2024, 7, 26)  # which Llama's templates write if they have no clock
TEXTS_BESIDE_CONTENT = ("tool_calls", "reasoning_content")  # keys of messages that a template may not know


class ChatTemplate:
    """A compiled template. `variables` are visible to it beside the messages. `remarks` collects what a user should know
    about the chats so far."""

    def __init__(self, source: str, variables: dict, date: datetime.date | None = None):
        self.variables, self.remarks, self.header = variables, set(), None
        self.errors = require("jinja2.exceptions")
        try:
            self.reads, asks_for_clock = names_in(source)
            self.environment = make_environment(date or self.default_date(asks_for_clock))
            self.template = self.environment.from_string(source)
        except self.errors.TemplateError as error:
            raise UserError(f"the chat template is wrong, line {getattr(error, 'lineno', '?')}: {error}") from error
        except (RecursionError, MemoryError, SyntaxError) as error:  # SyntaxError: of the Python that Jinja makes
            raise UserError("the chat template is nested too deeply") from error
        except Exception as error:
            raise UserError(f"the chat template is wrong: {first_line(error)}") from error
        self.marks_answers = "generation" in self.environment.titan_tags_seen

    def default_date(self, asks_for_clock: bool) -> datetime.date | None:
        """A template that asks whether there is a clock has a date of its own. Others need one."""
        if "strftime_now" not in self.reads or asks_for_clock:
            return None
        self.remarks.add(f"the chat template writes the date of today, which is {DATE} here; --date sets another")
        return DATE

    def render(self, chat: Chat) -> tuple[str, list[Span]]:
        """The text of a chat, and the spans of its answers that count."""
        messages = normalize(chat.messages)
        counting = answers_that_count(messages)
        if not any(message["role"] == "assistant" for message in messages):
            raise BadRecord("no message is an answer (role `assistant`), so nothing counts in the loss")
        self.remark_keys(chat, messages)
        write = partial(self.write, chat)
        text = write(messages, False)
        if self.marks_answers:
            text, spans = split_marks(text)
            require_parts(messages, text)
            spans = self.choose(messages, spans, counting)
        else:
            require_parts(messages, text)
            found = find_answers(write, messages, text)
            self.remark_header(write, messages, text, found[0])
            spans = [span for number, span in found if counting is None or counting[number]]
        return text, [span for span in spans if span[0] < span[1]]

    def choose(self, messages: list[dict], spans: list[Span], counting: list[bool] | None) -> list[Span]:
        """The spans of marked answers that count. A template that reads the keys of messages itself has decided."""
        marks = {key for message in messages for key in message if key in MARKS}
        if counting is None or all(counting) or marks <= self.reads:
            return spans
        answers = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
        if len(answers) != len(spans):
            raise BadRecord("an answer is marked not to count, and the template marks a different number of texts "
                            f"({len(spans)}) than there are answers ({len(answers)}), so it is unknown which one is meant")
        return [span for number, span in zip(answers, spans) if counting[number]]

    def remark_keys(self, chat: Chat, messages: list[dict]) -> None:
        for key in {key for message in messages for key in message if key not in MARKS and looks_like_mark(key)}:
            self.remarks.add(f"messages have the key `{key}`, which looks like a mark of what to train on; it has no effect")
        if chat.tools and "tools" not in self.reads:
            self.remarks.add("records have tools, which the chat template does not write")
        for key in TEXTS_BESIDE_CONTENT:
            if key not in self.reads and any(message.get(key) for message in messages):
                self.remarks.add(f"messages have `{key}`, which the chat template does not write")

    def remark_header(self, write, messages: list[dict], text: str, answer: tuple[int, Span]) -> None:
        """Without a generation prompt a program that generates gives no header of an answer to the model, which must
        write it itself. So the header counts."""
        if "add_generation_prompt" in self.reads or self.header is not None:
            return
        number, (begin, _) = answer
        try:
            until = find_content(write, messages, number, text).begin
        except BadRecord:
            until = None
        self.header = "" if until is None else text[begin:until].strip()
        if self.header and prompt_before(write, messages[:number]) is not None:
            self.remarks.add("the chat template has no generation prompt, so the model learns to write "
                             f"{json.dumps(self.header, ensure_ascii=False)} before its answers")

    def text_of(self, messages: list[dict], adds_prompt: bool) -> str:
        """The text of messages, without the marks of answers."""
        return split_marks(self.write(Chat(messages), normalize(messages), adds_prompt))[0]

    def write(self, chat: Chat, messages: list[dict], adds_prompt: bool) -> str:
        """The text of some messages of a chat."""
        self.environment.titan_tools = identities(chat.tools)
        named = {**self.variables, **chat.variables, "messages": messages, "tools": chat.tools, "documents": None,
                 "add_generation_prompt": adds_prompt}
        try:
            return self.template.render(named)
        except self.errors.TemplateError as error:
            raise BadRecord(f"the chat template refuses the messages: {first_line(error)}") from error
        except NotText as error:
            raise BadRecord(f"the chat template does not know such messages: {error}") from error
        except RecursionError as error:
            raise BadRecord("the chat template does not end") from error
        except MemoryError:
            raise
        except Exception as error:
            raise BadRecord(f"the chat template fails on the messages: {first_line(error)}") from error


def names_in(source: str) -> tuple[frozenset[str], bool]:
    """All names, keys and texts of a template, and whether it asks if `strftime_now` is defined."""
    nodes, tree = require("jinja2.nodes"), make_environment(None).parse(source)
    names = {node.name for node in tree.find_all(nodes.Name)} | {node.attr for node in tree.find_all(nodes.Getattr)}
    names |= {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
    asks = any(isinstance(node.node, nodes.Name) and node.node.name == "strftime_now"
               for node in tree.find_all(nodes.Test) if node.name in ("defined", "undefined"))
    return frozenset(names), asks


def split_marks(text: str) -> tuple[str, list[Span]]:
    """Removes the marks; spans are positions without them, and may be empty."""
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
    return "".join(plain), spans
