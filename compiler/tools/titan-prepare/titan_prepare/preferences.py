"""Preference pairs: a prompt with a chosen and a rejected answer, as TRL's sets have them."""

import os
from dataclasses import dataclass

from titan_prepare.documents import Chats, Decoder, Document, Group, get_field
from titan_prepare.errors import BadRecord, json_type


@dataclass(frozen=True)
class Preferences:
    """Two documents for each record: the prompt with the chosen answer, and with the rejected one. Without the field of a
    prompt, both have it, and it is what they begin with in common. Equal answers have no token that counts."""
    prompt: str
    chosen: str
    rejected: str
    decoder: Decoder
    chats: Chats | None  # for messages
    of_messages: bool
    beside: object

    def groups(self, fields: dict) -> list[Group]:
        return [self.of_chats(fields) if self.chats else self.of_texts(fields)]

    def of_texts(self, fields: dict) -> Group:
        answers = [self.decoder.text(fields, name) for name in (self.chosen, self.rejected)]
        if fields.get(self.prompt) is None:
            prompt, answers = divide_texts(*answers)
        else:
            prompt = self.decoder.text(fields, self.prompt)
        spans = [[(len(prompt), len(prompt) + len(answer))] for answer in answers]
        return tuple(Document(prompt + answer, span if answers[0] != answers[1] else [])
                     for answer, span in zip(answers, spans))

    def of_chats(self, fields: dict) -> Group:
        prompt, answers = self.messages(fields) if self.of_messages else self.messages_of_texts(fields)
        return tuple(self.render(fields, prompt, answer, answers[0] != answers[1]) for answer in answers)

    def render(self, fields: dict, prompt: list, answer: list, differs: bool) -> Document:
        documents = self.chats.render(self.chats.chat(fields, prompt + answer, len(prompt)))
        if len(documents) != 1:
            raise BadRecord(f"the chat template writes the {len(documents)} answers after the prompt in texts of their own, "
                            "as it rewrites earlier answers; a preference has one text for each side (--turns together)")
        return documents[0] if differs else Document(documents[0].text, [])

    def messages_of_texts(self, fields: dict) -> tuple[list, list]:
        prompt = self.decoder.text(fields, self.prompt)
        return [{"role": "user", "content": prompt}], [
            [{"role": "assistant", "content": self.decoder.text(fields, name)}] for name in (self.chosen, self.rejected)]

    def messages(self, fields: dict) -> tuple[list, list]:
        answers = [self.chats.messages(fields, name) for name in (self.chosen, self.rejected)]
        prompt = self.decoder.decode_all(fields.get(self.prompt))
        if isinstance(prompt, list):
            return self.chats.messages(fields, self.prompt), answers
        if prompt is not None and not isinstance(prompt, str):
            raise BadRecord(f"the field `{self.prompt}` must be a text or messages, and is {json_type(prompt)}")
        if prompt is not None and not any(is_from(message, "user") for answer in answers for message in answer):
            return [{"role": "user", "content": prompt}], answers
        shared = common_messages(*answers)
        if prompt is not None and not any(message.get("content") == prompt for message in shared):
            raise BadRecord(f"the field `{self.prompt}` is none of the messages with which `{self.chosen}` and "
                            f"`{self.rejected}` begin in common; leave it out, or make it a list of messages")
        if not shared:
            raise BadRecord(f"`{self.chosen}` and `{self.rejected}` have no first message in common, and there is no field "
                            f"`{self.prompt}`")
        return shared, [answer[len(shared):] for answer in answers]

    def remarks(self) -> set[str]:
        return self.chats.remarks() if self.chats else self.beside.remarks

    def look_at(self, names) -> None:
        self.beside.look_at(names)


def is_from(message, role: str) -> bool:
    return isinstance(message, dict) and message.get("role") == role


def common_messages(chosen: list, rejected: list) -> list:
    """The messages with which both conversations begin, before the last of each, which is an answer."""
    most = min(len(chosen), len(rejected)) - 1
    count = next((number for number in range(most) if chosen[number] != rejected[number]), most)
    return chosen[:count]


def divide_texts(chosen: str, rejected: str) -> tuple[str, list[str]]:
    """The prompt of two texts that begin alike, as TRL finds it: a space before the answers belongs to them."""
    length = len(os.path.commonprefix([chosen, rejected]))
    if length and length < min(len(chosen), len(rejected)) and chosen[length - 1] == " ":
        length -= 1
    return chosen[:length], [chosen[length:], rejected[length:]]
