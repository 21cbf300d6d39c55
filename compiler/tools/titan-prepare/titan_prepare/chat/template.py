"""Chat templates: from a chat to a text, and to the spans of the text that the model learns to write. The texts are those
of `apply_chat_template` of Hugging Face's `transformers` (5.24)."""

import datetime
import json
from functools import partial

from titan_prepare.chat.answers import Write, find_answer, find_content, prompt_before
from titan_prepare.chat.environment import BEGIN, END, NotText, make_environment
from titan_prepare.chat.marks import MARKS, answers_that_count, looks_like_mark
from titan_prepare.chat.record import Chat, identities, normalize, require_parts
from titan_prepare.chat.turns import APART, Turns, divide
from titan_prepare.errors import BadRecord, UserError, first_line
from titan_prepare.libraries import require
from titan_prepare.tokenizers.interface import Span

DATE = datetime.date(2024, 7, 26)  # which Llama's templates write if they have no clock
TEXTS_BESIDE_CONTENT = ("tool_calls", "reasoning_content")  # keys of messages that a template may not know


class ChatTemplate:
    """A compiled template. `variables` are visible to it beside the messages. `remarks` collects what a user should know
    about the chats so far."""

    def __init__(self, source: str, variables: dict, date: datetime.date | None = None, loss_on_all: bool = False,
                 turns: str | None = None):
        self.variables, self.remarks, self.header = variables, set(), None
        self.loss_on_all, self.turns = loss_on_all, turns
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

    def render(self, chat: Chat) -> list[tuple[str, list[Span] | None]]:
        """The texts of a chat, and in each the spans of its answers that count, or None if all of it counts."""
        messages = normalize(chat.messages)
        marks = answers_that_count(messages)
        self.remark_keys(chat, messages)
        if self.loss_on_all:
            self.remark_marks(marks)
        elif not any(message["role"] == "assistant" for message in messages[chat.first:]):
            raise BadRecord("no message is an answer (role `assistant`), so nothing counts in the loss")
        write = cache(partial(self.write, chat))
        text, spans = split_marks(write(messages, False))
        require_parts(messages, text)
        if self.loss_on_all:
            return [(text, None)]
        if self.marks_answers:
            found = self.marked_turns(chat, write, messages, marks, text, spans)
        else:
            found = self.found_turns(chat, write, messages, marks, text)
        return [(text, [span for span in spans if span[0] < span[1]]) for text, spans in found]

    def found_turns(self, chat: Chat, write: Write, messages: list[dict], marks: list[bool] | None,
                    whole: str) -> list[tuple[str, list[Span]]]:
        """Texts with answers that are found by comparing texts."""
        answers = answers_of(messages, chat.first, marks)
        turns = divide(write, messages, answers, whole, self.turns) if answers else [Turns(whole, [])]
        found = [(turn.text, [(turn.begin, len(turn.text))] if turn.begin is not None else
                  [find_answer(write, self.until(messages, turn, whole), number, turn.text) for number in turn.answers])
                 for turn in turns]
        if answers and turns[0].begin is None:
            self.remark_header(write, self.until(messages, turns[0], whole), turns[0].text, (answers[0], found[0][1][0]))
        return found

    @staticmethod
    def until(messages: list[dict], turn: Turns, whole: str) -> list[dict]:
        return messages if turn.text == whole else messages[:turn.answers[-1] + 1]

    def marked_turns(self, chat: Chat, write: Write, messages: list[dict], marks: list[bool] | None, whole: str,
                     spans: list[Span]) -> list[tuple[str, list[Span]]]:
        """Texts with answers that the template marks. A template that reads the keys of messages itself has decided which
        answers count."""
        read = {key for message in messages for key in message if key in MARKS} <= self.reads
        marks = None if marks is None or read or all(marks) else marks
        answers = answers_of(messages)
        counting = answers_of(messages, chat.first, marks)
        if len(answers) == len(spans):
            turns = self.divide_marked(write, messages, counting, whole) if counting else [Turns(whole, [])]
            return [self.marked_turn(write, messages, turn, whole) for turn in turns]
        if marks is not None or chat.first or self.turns == APART:
            why = "an answer is marked not to count" if marks is not None else "only some answers of a text count"
            raise BadRecord(f"{why}, and the template marks a different number of texts ({len(spans)}) than there are "
                            f"answers ({len(answers)}), so it is unknown which one is meant")
        return [(whole, spans)]

    def marked_turn(self, write: Write, messages: list[dict], turn: Turns, whole: str) -> tuple[str, list[Span]]:
        shown = self.until(messages, turn, whole)
        text, spans = split_marks(write(shown, False))
        numbered = dict(zip(answers_of(shown), spans, strict=True))
        return text, [numbered[number] for number in turn.answers]

    def divide_marked(self, write: Write, messages: list[dict], answers: list[int], whole: str) -> list[Turns]:
        """A template with marks need not write the beginning of a chat, and then its own text is the only one."""
        try:
            return divide(lambda some, adds_prompt: split_marks(write(some, adds_prompt))[0], messages, answers, whole,
                          self.turns)
        except BadRecord:
            if self.turns == APART:
                raise
            return [Turns(whole, answers)]

    def remark_marks(self, marks: list[bool] | None) -> None:
        if marks is not None:
            self.remarks.add("messages are marked to count in the loss or not, which has no effect with --loss all")

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


def answers_of(messages: list[dict], first: int = 0, marks: list[bool] | None = None) -> list[int]:
    """The numbers of the answers, from 0, that begin at message `first` and are not marked otherwise."""
    return [number for number, message in enumerate(messages) if number >= first and message["role"] == "assistant"
            and (marks is None or marks[number])]


def cache(write: Write) -> Write:
    """Each text is written once. The number of messages identifies them, except where a message is replaced."""
    known = {}

    def cached(messages: list[dict], adds_prompt: bool) -> str:
        key = (*map(id, messages), adds_prompt)
        if key not in known:
            known[key] = messages, write(messages, adds_prompt)  # with the messages, so that no other has their identity
        return known[key][1]
    return cached


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
