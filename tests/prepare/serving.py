"""Compares the answers of `titan-prepare --serve` (one line of JSON per request) with the tokenizers' libraries."""

import json
import subprocess
from pathlib import Path

import makers
from prepared import COMMAND, environment, expect
from texts import SCRIPTS


class Service:
    """A running `titan-prepare --serve`."""

    def __init__(self, tokenizer):
        self.process = subprocess.Popen([*COMMAND, "--serve", str(tokenizer)], env=environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.greeting = json.loads(self.process.stdout.readline())

    def ask(self, **request) -> dict:
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self) -> int:
        self.process.stdin.close()
        return self.process.wait(timeout=60)


def write_fragments(service: Service, before: list[int], tokens: list[int]) -> list[str]:
    """The text fragments of `tokens`, one by one, after the tokens `before`."""
    service.ask(begin=before)
    return [service.ask(token=token)["text"] for token in tokens] + [service.ask(finish=True)["text"]]


def check_fragments(service: Service, decode) -> None:
    """Fragments are whole characters and join to the text that the library gives for all tokens."""
    for name, text in SCRIPTS.items():
        tokens = service.ask(encode=text)["tokens"]
        fragments = write_fragments(service, [], tokens)
        expect("".join(fragments) == decode(tokens), f"{name}: {fragments} instead of {decode(tokens)!r}")
        expect("\ufffd" not in "".join(fragments), f"{name}: {fragments}")
        half = len(tokens) // 2
        rest = "".join(write_fragments(service, tokens[:half], tokens[half:]))
        expect(decode(tokens).endswith(rest) and rest != "", f"{name}: {rest!r} is no end of {decode(tokens)!r}")


def serves_tokenizer_json(out: Path) -> None:
    """BOS before a prompt, the ends of generation_config.json, and texts of ten scripts."""
    import tokenizers
    folder = makers.byte_pairs(out / "bpe")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 5]}))
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    service = Service(folder)
    eos = library.token_to_id("<|end_of_text|>")
    expect(service.greeting == {"vocabulary": library.get_vocab_size(), "ends": sorted({3, 5, eos})},
           f"{service.greeting}")
    for text in SCRIPTS.values():
        found = service.ask(encode=text)["tokens"]
        expect(found == library.encode(text).ids, f"{found} instead of {library.encode(text).ids}")
    check_fragments(service, library.decode)
    expect(service.end() == 0, "the service did not end with its input")


def serves_sentencepiece(out: Path) -> None:
    import sentencepiece
    model = makers.unigram(out / "model")
    library = sentencepiece.SentencePieceProcessor(model_file=str(model))
    service = Service(model)
    check_fragments(service, library.decode)
    service.end()


def serves_ranks(out: Path) -> None:
    model = makers.tiktoken_ranks(out / "ranks", makers.byte_pairs(out / "bpe"))
    service = Service(model)
    decoded = {text: service.ask(encode=text)["tokens"] for text in SCRIPTS.values()}
    for text, tokens in decoded.items():
        fragments = write_fragments(service, [], tokens)
        expect("".join(fragments) == text, f"{fragments} instead of {text!r}")
    service.end()


def serves_chats(out: Path) -> None:
    """A prompt as the message of a user."""
    service = Service(makers.byte_pairs(out / "bpe"))
    expected = service.ask(encode="<|user|>\nhello<|end|>\n<|assistant|>\n")["tokens"]
    found = service.ask(chat="hello")["tokens"]
    expect(found == expected, f"{found} instead of {expected}")
    service.end()
    without = Service(makers.byte_pairs(out / "plain", template=None))
    expect("chat template" in without.ask(chat="hello").get("error", ""), "a chat without a template")
    without.end()


def holds_back_broken_bytes(out: Path) -> None:
    """Bytes that begin a character are shown with the rest of it, or at the end as what they are."""
    service = Service("bytes")
    fragments = write_fragments(service, [], list("aé".encode()) + [0xc3])
    expect(fragments == ["a", "", "é", "", "\ufffd"], f"{fragments}")
    service.end()


def writes_texts_in_turns(out: Path) -> None:
    """Texts with numbers do not disturb one another."""
    service = Service("bytes")
    for number, before in ((1, b"a"), (2, b"b")):
        service.ask(begin=list(before), text=number)
    fragments = [service.ask(token=token, text=number)["text"]
                 for number, token in ((1, 0xc3), (2, 0xc3), (1, 0xa9), (2, 0xa4))]
    expect(fragments == ["", "", "é", "ä"], f"{fragments}")
    service.ask(finish=True, text=1)
    expect("no text was begun" in service.ask(token=65, text=1).get("error", ""), "a text that has ended")
    expect(service.ask(token=65, text=2) == {"text": "A"}, "the other text")
    service.end()


def refuses_what_is_no_tokenizer(out: Path) -> None:
    out.mkdir(parents=True)
    service = Service(out)
    expect("has neither tokenizer.json nor tokenizer.model" in service.greeting.get("error", ""), f"{service.greeting}")
    expect(service.end() == 1, "status 0 without a tokenizer")


CASES = [serves_tokenizer_json, serves_sentencepiece, serves_ranks, serves_chats, holds_back_broken_bytes,
         writes_texts_in_turns, refuses_what_is_no_tokenizer]
