"""Prompts with answers, and chats: checks which tokens count in the loss, by spans that are written here by hand."""

import json
from pathlib import Path

import makers
from prepared import expect, prepare, read, refused, write_lines

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Wie heißt du?"},
        {"role": "assistant", "content": "Titan 🚂"}, {"role": "user", "content": "And\nyou?"},
        {"role": "assistant", "content": ""}]
# The text of CHAT by the templates makers.CHATML, without marks, and makers.MARKED, with {% generation %}, in segments with
# weights. Segments with weight 1 are answers.
COMMON = "<|begin_of_text|><|system|>\nBe brief.<|end|>\n<|user|>\nWie heißt du?<|end|>\n<|assistant|>\n"
BY_PREFIX = [(COMMON, 0), ("Titan 🚂<|end|>\n", 1), ("<|user|>\nAnd\nyou?<|end|>\n<|assistant|>\n", 0),
             ("<|end|>\n", 1)]
BY_MARKS = [(COMMON, 0), ("Titan 🚂<|end|>", 1), ("\n<|user|>\nAnd\nyou?<|end|>\n<|assistant|>\n", 0), ("<|end|>", 1),
            ("\n", 0)]


def bytes_and_weights(segments: list[tuple[str, int]]) -> tuple[list[int], list[int]]:
    tokens = [byte for text, _ in segments for byte in text.encode()]
    return tokens, [weight for text, weight in segments for _ in text.encode()]


def expect_prepared(prefix: Path, tokens: list[list[int]], weights: list[list[int]]) -> None:
    done = read(prefix)
    expect(done.documents == tokens, f"tokens {done.documents} instead of {tokens}")
    expect(done.weights == weights, f"weights {done.weights} instead of {weights}")
    counted = sum(map(sum, weights))
    expect(done.sidecar["counts"]["weighted"] == counted, f"counted {done.sidecar['counts']} instead of {counted}")


def pairs_of_bytes(out: Path) -> None:
    """BOS does not count; the answer and EOS do. An answer of nothing has nothing to learn."""
    source = write_lines(out / "a.jsonl", [{"q": "wie?", "a": " sö"}, {"q": "", "a": "x"}, {"q": "x", "a": ""}])
    prepare(source, "--prompt", "q", "--answer", "a", "--tokenizer", "bytes", "-o", out / "data", "--bos", 256,
            "--eos", 257)
    expect_prepared(out / "data", [[256, *"wie? sö".encode(), 257], [256, 120, 257]], [[0] * 5 + [1] * 5, [0, 1, 1]])
    expect(read(out / "data").sidecar["counts"]["empty"] == 1, "the empty answer")


def token_across_the_boundary(out: Path) -> None:
    """The text is tokenized as a whole. A token with characters of both the prompt and the answer counts."""
    import tokenizers
    from tokenizers import models
    vocabulary = {token: number for number, token in enumerate("abcd")} | {"bc": 4}
    out.mkdir(parents=True)
    tokenizers.Tokenizer(models.BPE(vocabulary, [("b", "c")])).save(str(out / "tokenizer.json"))
    source = write_lines(out / "a.jsonl", [{"q": "ab", "a": "cd"}, {"q": "abc", "a": "d"}])
    prepare(source, "--prompt", "q", "--answer", "a", "--tokenizer", out, "-o", out / "data")
    expect_prepared(out / "data", [[0, 4, 3], [0, 4, 3]], [[0, 1, 1], [0, 0, 1]])


def chat_of_bytes(out: Path) -> None:
    """Answers are found by comparing the texts with and without the answer, or by {% generation %} in the template."""
    source = write_lines(out / "a.jsonl", [{"chat": CHAT}])
    for name, template, segments in (("prefix", makers.CHATML, BY_PREFIX), ("marks", makers.MARKED, BY_MARKS)):
        (out / name).write_text(template.replace("{{ bos_token }}", "<|begin_of_text|>"))
        prefix = out / f"{name}-data"
        prepare(source, "--messages", "chat", "--tokenizer", "bytes", "--chat-template", out / name, "-o", prefix)
        tokens, weights = bytes_and_weights(segments)
        expect_prepared(prefix, [tokens], [weights])


def chat_of_byte_pairs(out: Path) -> None:
    """Tokens equal those of the whole text; tokens with weight 1 decode to the answers. tiktoken agrees."""
    import tokenizers
    folder = makers.byte_pairs(out / "bpe", makers.MARKED)
    tiktoken = makers.tiktoken_ranks(out / "ranks", folder)
    first = len(json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"])
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    source = write_lines(out / "a.jsonl", [{"chat": CHAT}])
    prepare(source, "--messages", "chat", "--tokenizer", folder, "-o", out / "data")
    done = read(out / "data")
    text = "".join(segment for segment, _ in BY_MARKS)
    expect(done.documents == [library.encode(text, add_special_tokens=False).ids], "tokens")
    counted = [token for token, weight in zip(done.documents[0], done.weights[0]) if weight]
    expect(library.decode(counted, skip_special_tokens=False) == "Titan 🚂<|end|><|end|>", str(counted))
    listed = {str(first + i): {"content": token} for i, token in enumerate(makers.SPECIAL)}
    (tiktoken.parent / "tokenizer_config.json").write_text(json.dumps(
        {"added_tokens_decoder": listed, "bos_token": "<|begin_of_text|>", "chat_template": makers.MARKED}))
    prepare(source, "--messages", "chat", "--tokenizer", tiktoken, "-o", out / "tiktoken")
    other = read(out / "tiktoken")
    expect((other.documents, other.weights) == (done.documents, done.weights), "tiktoken differs")


def pairs_of_sentence_pieces(out: Path) -> None:
    """Pieces that fall back to bytes count with their character; the answer's space is part of its first piece."""
    import sentencepiece
    model = makers.unigram(out)
    library = sentencepiece.SentencePieceProcessor()
    library.LoadFromFile(str(model))
    prompt, answer = "the beginning ∮", " was ∮ 🦄 word"
    source = write_lines(out / "a.jsonl", [{"q": prompt, "a": answer}])
    prepare(source, "--prompt", "q", "--answer", "a", "--tokenizer", model, "-o", out / "data")
    done = read(out / "data")
    tokens = library.encode(prompt + answer, add_bos=True, add_eos=True)
    before = len(library.encode(prompt, add_bos=True))
    expect_prepared(out / "data", [tokens], [[0] * before + [1] * (len(tokens) - before)])
    counted = [token for token, weight in zip(done.documents[0], done.weights[0]) if weight]
    expect(library.decode(counted) == answer.lstrip(), library.decode(counted))


def pairs_as_chats(out: Path) -> None:
    """--as-chat writes a pair as a chat of two messages."""
    folder = makers.byte_pairs(out / "bpe", makers.MARKED)
    write_lines(out / "a.jsonl", [{"q": "hi", "a": "ho"}])
    write_lines(out / "b.jsonl", [{"m": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}])
    prepare(out / "a.jsonl", "--prompt", "q", "--answer", "a", "--as-chat", "--tokenizer", folder, "-o", out / "pairs")
    prepare(out / "b.jsonl", "--messages", "m", "--tokenizer", folder, "-o", out / "chats")
    pairs, chats = read(out / "pairs"), read(out / "chats")
    expect((pairs.documents, pairs.weights) == (chats.documents, chats.weights), "they differ")


def lengths(out: Path) -> None:
    """Too long documents are refused, skipped, or cut; a cut that leaves no answer leaves the document out."""
    source = write_lines(out / "a.jsonl", [{"q": "12", "a": "34"}, {"q": "12", "a": "345"}, {"q": "12345", "a": "6"}])
    options = (source, "--prompt", "q", "--answer", "a", "--tokenizer", "bytes", "--max-length", 4)
    refused(1, ["a.jsonl:2", "5 tokens, more than 4"], *options, "-o", out / "x")
    prepare(*options, "--overlong", "skip", "-o", out / "skip")
    expect_prepared(out / "skip", [list(b"1234")], [[0, 0, 1, 1]])
    prepare(*options, "--overlong", "truncate", "-o", out / "cut")
    expect_prepared(out / "cut", [list(b"1234")] * 2, [[0, 0, 1, 1]] * 2)
    found = [read(out / name).sidecar["counts"][count] for name, count in (("skip", "overlong"), ("cut", "empty"))]
    expect(found == [2, 1], str(found))


def template_variables(out: Path) -> None:
    source = write_lines(out / "a.jsonl", [{"m": [{"role": "assistant", "content": "x"}]}])
    (out / "t").write_text("{{ [name, think, messages[0]] | tojson }}{% generation %}{{ strftime_now is defined }}"
                           "{% endgeneration %}")
    prepare(source, "--messages", "m", "--tokenizer", "bytes", "--chat-template", out / "t", "-o", out / "data",
            "--template-variable", 'name="<ä>"', "--template-variable", "think=false")
    text = '["<ä>", false, {"role": "assistant", "content": "x"}]'
    expect_prepared(out / "data", [[*text.encode(), *b"False"]], [[0] * len(text.encode()) + [1] * 5])


def wrong_chats(out: Path) -> None:
    """Each is refused with the line and the reason."""
    user, answer = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}
    plain = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    last = "{% for m in messages %}{{ m.content | upper if loop.last else m.content }}{% endfor %}"
    out.mkdir(parents=True)
    for number, (word, template, messages) in enumerate((
            ("no message is an answer", plain, [user]), ("list that is not empty", plain, []),
            ("list that is not empty", plain, "hi"), ("message 2 must be", plain, [user, {"content": "x"}]),
            ("message 1 must be", plain, [[1]]), ("exact span", last, [user, answer, user, answer]),
            ("refuses the messages: no!", "{{ raise_exception('no!') }}", [answer]),
            ("refuses the messages", "{{ ''.__class__.__mro__ }}", [answer]),
            ("fails on the messages", "{% for i in range(10 ** 9) %}{% endfor %}", [answer]),
            ("fails on the messages", "{{ messages[0].content + 1 }}", [answer]),
            ("U+FDD0", plain, [user, {"role": "assistant", "content": "a\ufdd0b"}]),
            ("not valid Unicode", plain, [user, {"role": "assistant", "content": "a\udc00b"}]),
            ("the chat template is wrong, line 1", "{% if %}", [answer]))):
        (out / "t").write_text(template)
        (out / "a.jsonl").write_text(json.dumps({"m": messages}) + "\n")
        refused(1, [word], out / "a.jsonl", "--messages", "m", "--tokenizer", "bytes", "-o", out / "x", "--chat-template",
                out / "t")
        expect(not list(out.glob("x*")), f"{number} left something behind")
    model = makers.unigram(out / "unigram")
    (out / "t").write_text(plain)
    refused(1, ["tokenizer.model", "tokenizer.json"], out / "a.jsonl", "--messages", "m", "--tokenizer", model,
            "--chat-template", out / "t", "-o", out / "x")
    refused(1, ["--chat-template"], out / "a.jsonl", "--messages", "m", "--tokenizer", "bytes", "-o", out / "x")


CASES = [pairs_of_bytes, token_across_the_boundary, chat_of_bytes, chat_of_byte_pairs, pairs_of_sentence_pieces,
         pairs_as_chats, lengths, template_variables, wrong_chats]
