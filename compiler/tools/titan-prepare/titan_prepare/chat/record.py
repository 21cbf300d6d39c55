"""The parts of a chat in the fields of a record, and messages as templates see them."""

import json
from dataclasses import dataclass, field

from titan_prepare.chat.environment import BEGIN, END
from titan_prepare.errors import BadRecord, json_type

TOOLS, VARIABLES = "tools", "chat_template_kwargs"  # fields beside the messages that `transformers` and TRL read
# The names of a message's reasoning in `transformers`; the first is what templates mostly read.
REASONING = ("reasoning_content", "thinking", "reasoning")


@dataclass(frozen=True)
class Chat:
    messages: list[dict]
    tools: list[dict] | None = None
    variables: dict = field(default_factory=dict)  # of the template, for this chat
    first: int = 0  # the first message that may count, as an answer


def read_tools(value, name: str) -> list[dict] | None:
    """A list of objects, or its JSON, as data sets store what differs from row to row."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BadRecord(f"the field `{name}` is a string, and not JSON: {error}") from error
    if value is not None and not (isinstance(value, list) and all(isinstance(tool, dict) for tool in value)):
        raise BadRecord(f"the field `{name}` must be a list of objects, the tools of the chat")
    return value


def read_variables(value) -> dict:
    if value is not None and not isinstance(value, dict):
        raise BadRecord(f"the field `{VARIABLES}` must be an object, the variables of the chat template")
    return value or {}


def normalize(messages) -> list[dict]:
    """The messages as `transformers` gives them to a template: without keys that have null, which Parquet writes for
    absent ones, and with the reasoning of an answer by all its names."""
    check(messages)
    without = [{key: value for key, value in message.items() if value is not None} for message in messages]
    return [name_reasoning(message) for message in without]


def name_reasoning(message: dict) -> dict:
    reasoning = next((message[key] for key in REASONING if key in message), None)
    return message if reasoning is None else {"thinking": reasoning, **message, "reasoning_content": reasoning}


def check(messages) -> None:
    if not isinstance(messages, list) or not messages:
        raise BadRecord("the messages must be a list that is not empty")
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadRecord(f"message {number} must be an object with the string `role`, and with `content`")
        content = message.get("content")
        if content is not None and not isinstance(content, (str, list, dict)):
            raise BadRecord(f"the content of message {number} must be a string, and is {json_type(content)}")
    text = json.dumps(messages, ensure_ascii=False, default=str)
    if BEGIN in text or END in text:
        raise BadRecord("the messages contain U+FDD0 or U+FDD1, which are not characters")


def require_parts(messages: list[dict], text: str) -> None:
    """A template that only knows texts may write nothing for a list of texts. Thoughts may be left out."""
    for number, message in enumerate(messages, 1):
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if not isinstance(part, dict) or not isinstance(part.get("text"), str):
                raise BadRecord(f"the content of message {number} has a part without a `text`; only texts are possible")
            if part["text"].split("</think>")[-1].strip() not in text:
                raise BadRecord(f"the chat template does not write the content of message {number}, which is a list of "
                                "parts; it may know only strings")


def identities(value) -> frozenset[int]:
    """Those of all lists and objects in a value."""
    if isinstance(value, dict):
        return frozenset((id(value),)).union(*map(identities, value.values()))
    if isinstance(value, list):
        return frozenset((id(value),)).union(*map(identities, value))
    return frozenset()
