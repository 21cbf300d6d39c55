"""What a chat says about training: the keys of messages that decide whether an answer counts in the loss."""

import re

from titan_prepare.errors import BadRecord, json_type

# Their value is true or 1 if the message counts: OpenAI and Mistral (weight), axolotl (train, training, train_on_turn),
# ms-swift and XTuner (loss, loss_scale), GLM and Megatron (loss_mask).
COUNTS = ("weight", "loss_weight", "train", "training", "train_on_turn", "trainable", "loss", "loss_scale", "loss_mask")
# Their value is true or 1 if it does not: torchtune (masked).
HIDES = ("masked", "mask")
MARKS = frozenset((*COUNTS, *HIDES))
# They divide a message, which spans of whole answers cannot express: axolotl.
DIVIDES = ("train_detail", "training_detail")
LOOKS_SO = re.compile(r"weight|mask|train|loss|supervis|learn", re.IGNORECASE)


def answers_that_count(messages: list[dict]) -> list[bool] | None:
    """For each message whether it may count, or None if no message has a mark."""
    marks = [mark_of(message, number) for number, message in enumerate(messages, 1)]
    if all(mark is None for mark in marks):
        return None
    for number, (message, mark) in enumerate(zip(messages, marks), 1):
        if mark and message["role"] != "assistant":
            raise BadRecord(f"message {number} (role `{message['role']}`) is marked to be trained on, and only answers "
                            "(role `assistant`) can be")
    return [mark is not False for mark in marks]


def mark_of(message: dict, number: int) -> bool | None:
    for key in DIVIDES:
        if key in message:
            raise BadRecord(f"`{key}` of message {number} marks parts of a message; only whole messages can be marked")
    found = {key: truth(message[key], key, number) == (key in COUNTS) for key in (*COUNTS, *HIDES) if key in message}
    if len(set(found.values())) > 1:
        raise BadRecord(f"the keys {', '.join(f'`{key}`' for key in found)} of message {number} contradict one another")
    return next(iter(found.values()), None)


def truth(value, key: str, number: int) -> bool:
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    shown = value if isinstance(value, (int, float)) else json_type(value)
    raise BadRecord(f"`{key}` of message {number} is {shown}; it says whether the message counts in the loss, which is "
                    "true or false, 1 or 0")


def looks_like_mark(key: str) -> bool:
    return bool(LOOKS_SO.search(key))
