"""Lists of messages as records have them: `role` and `content`, or `from` and `value` as in ShareGPT's sets."""

import json

from titan_prepare.errors import BadRecord, printable

SYSTEM = "system"  # a field beside a list of `from` and `value`
ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
         "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system", "tool": "tool",
         "observation": "tool", "function_response": "tool", "function_call": "assistant"}


def read_messages(value, system=None):
    """The messages with `role` and `content`. What is no list of messages is left to the check of messages. `system` is
    the text of a first message."""
    if not is_from_value(value):
        return value
    messages = [read_message(message, number) for number, message in enumerate(value, 1)]
    if not isinstance(system, str) or not system:
        return messages
    if messages[0]["role"] != "system":
        return [{"role": "system", "content": system}, *messages]
    if messages[0]["content"] != system:
        raise BadRecord(f"the field `{SYSTEM}` and the first message are two different system messages")
    return messages


def is_from_value(value) -> bool:
    return isinstance(value, list) and any(isinstance(message, dict) and "from" in message and "role" not in message
                                           for message in value)


def read_message(message, number: int) -> dict:
    if not isinstance(message, dict) or not isinstance(message.get("from"), str) or "value" not in message:
        raise BadRecord(f"message {number} must be an object with the string `from`, and with `value`")
    role = ROLES.get(message["from"].lower())
    if role is None:
        raise BadRecord(f"message {number} is from `{printable(message['from'])}`; known are {', '.join(ROLES)}")
    beside = {key: item for key, item in message.items() if key not in ("from", "value")}
    if message["from"] == "function_call":
        return {"role": role, "content": "", "tool_calls": read_calls(message["value"], number), **beside}
    return {"role": role, "content": message["value"], **beside}


def read_calls(value, number: int) -> list[dict]:
    """The calls of tools in a text of JSON: one object with `name` and `arguments`, or a list of them."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"message {number} is a call of a tool, and no JSON: {error}") from error
    calls = found if isinstance(found, list) else [found]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        raise BadRecord(f"message {number} is a call of a tool, and must have `name` and `arguments`")
    return [{"type": "function", "function": call} for call in calls]
