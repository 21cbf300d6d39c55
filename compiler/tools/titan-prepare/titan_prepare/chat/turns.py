"""Which answers of a chat share a text.

A template may write an answer differently once other messages follow: Qwen3's and gpt-oss' leave its thoughts out, and
DeepSeek-R1's never writes them. A model that learns such a text learns to write no thoughts. So each text shows its
answers as they are when the model writes them; an answer that the text of the chat shows in another way has a text of its
own, which ends with it.
"""

from dataclasses import dataclass

from titan_prepare.chat.answers import Write, find_content, prompt_before

TOGETHER, APART = "together", "apart"  # choices of a user; None leaves it to the template


@dataclass(frozen=True)
class Shown:
    """An answer as it is when the model writes it: a text that ends with it. Another text shows it in the same way if it
    begins with the first `sure` characters. `begin` is where the answer begins, if the template does not show it so."""
    text: str
    sure: int
    begin: int | None = None


@dataclass(frozen=True)
class Turns:
    """A text, and the numbers of the answers that it shows. `begin`: as of Shown, which then is the only answer."""
    text: str
    answers: list[int]
    begin: int | None = None


def divide(write: Write, messages: list[dict], answers: list[int], whole: str, choice: str | None) -> list[Turns]:
    """`whole` is the text of all messages."""
    if choice == TOGETHER:
        return [Turns(whole, answers)]
    if choice is None and all(whole.startswith(text) for text in histories(write, messages, answers)):
        return [Turns(whole, answers)]
    shown = {number: show(write, messages, number) for number in answers}
    found, left = [], list(answers)
    while left:
        last = shown[left[-1]]
        text = whole if not found and choice is None and has(whole, last) else last.text
        own = [left[-1]] if choice == APART or last.begin is not None else [
            number for number in left if number == left[-1] or has(text, shown[number])]
        found.append(Turns(text, own, last.begin))
        left = [number for number in left if number not in own]
    return found[::-1]


def histories(write: Write, messages: list[dict], answers: list[int]):
    """The texts that end with each answer, or what tells that its template leaves a part of it out: no text."""
    for number in answers:
        text, before = write(messages[:number + 1], False), prompt_before(write, messages[:number])
        yield text if before is None or text.startswith(before) else "\0"


def has(text: str, shown: Shown) -> bool:
    return shown.begin is None and text.startswith(shown.text[:shown.sure])


def show(write: Write, messages: list[dict], number: int) -> Shown:
    before, text = prompt_before(write, messages[:number]), write(messages[:number + 1], False)
    place = find_content(write, messages[:number + 1], number, text)
    if before is None or text.startswith(before):
        return Shown(text, place.end)
    content = messages[number].get("content")
    written = text[place.start:place.end]
    if not isinstance(content, str) or not before.startswith(text[:place.start]) or not left_out(content, written):
        return Shown(text, place.end)
    return Shown(before + content[overlap(before, content):] + text[place.end:], 0, len(before))


def left_out(content: str, written: str) -> bool:
    """Whether the template writes only the end of a content."""
    return bool(written.strip()) and written.strip() != content.strip() and content.rstrip().endswith(written.strip())


def overlap(before: str, content: str) -> int:
    """The length of the content's beginning that the generation prompt has already, such as a mark of thoughts."""
    most = min(len(before), len(content))
    length = next((size for size in range(most, 0, -1) if before.endswith(content[:size])), 0)
    return length if content[:length].strip() else 0
