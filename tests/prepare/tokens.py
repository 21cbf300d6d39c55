"""Prepared tokens equal those of the library of the tokenizer's format, and libraries agree with one another."""

import json
import os
import random
import sys
from pathlib import Path

import makers
from prepared import PACKAGE, expect, prepare, read, start, write_lines
from texts import BROKEN, SCRIPTS, corpus


def all_texts() -> list[str]:
    return list(SCRIPTS.values()) + corpus(50)


def prepare_tokens(out: Path, tokenizer, *options) -> list[list[int]]:
    source = write_lines(out / "texts.jsonl", [{"text": text} for text in all_texts()])
    prepare(source, "--tokenizer", tokenizer, "-o", out / "data", *options)
    return read(out / "data").documents


def expect_equal(ours: list, theirs: list) -> None:
    expect(len(ours) == len(theirs), f"{len(ours)} documents instead of {len(theirs)}")
    for number, (our, their) in enumerate(zip(ours, theirs)):
        expect(our == list(their), f"document {number}: {our} instead of {list(their)}")


def tokenizer_json(out: Path) -> None:
    """Against `tokenizers` itself, whose post-processor adds BOS; the saved truncation must not matter."""
    import tokenizers
    folder = makers.byte_pairs(out / "bpe")
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    eos = library.token_to_id("<|end_of_text|>")
    expect_equal(prepare_tokens(out, folder), [library.encode(text).ids + [eos] for text in all_texts()])
    expect_equal(prepare_tokens(out / "none", folder, "--bos", "none", "--eos", "none"),
           [library.encode(text, add_special_tokens=False).ids for text in all_texts()])


def unknown_tokens(out: Path) -> None:
    """A tokenizer of another kind, with normalization and [UNK]; it adds tokens on both sides."""
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers
    library = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.train_from_iterator([SCRIPTS["latin"]], trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    library.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    out.mkdir(parents=True)
    library.save(str(out / "tokenizer.json"))
    expect_equal(prepare_tokens(out, out / "tokenizer.json"), [library.encode(text).ids for text in all_texts()])


def sentencepiece_models(out: Path) -> None:
    import sentencepiece
    for algorithm in ("unigram", "bpe"):
        model = makers.unigram(out / algorithm, algorithm)
        library = sentencepiece.SentencePieceProcessor()
        library.LoadFromFile(str(model))
        expect_equal(prepare_tokens(out / algorithm, model),
               [library.encode(text, add_bos=True, add_eos=True) for text in all_texts()])


def sentencepiece_as_tokenizer_json(out: Path) -> None:
    """The same unigram model, read by sentencepiece and by Hugging Face's library."""
    import sentencepiece
    import tokenizers
    from tokenizers import models, normalizers
    model = makers.unigram(out)
    library = sentencepiece.SentencePieceProcessor()
    library.LoadFromFile(str(model))
    pieces = [(library.id_to_piece(i), library.get_score(i)) for i in range(library.vocab_size())]
    other = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    other.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    expect_equal(prepare_tokens(out, model, "--bos", "none", "--eos", "none"), [other.encode(text).ids for text in all_texts()])


def tiktoken_files(out: Path) -> None:
    """The same byte pairs, read by tiktoken and by Hugging Face's library; BOS and EOS follow the ranks."""
    import tokenizers
    folder = makers.byte_pairs(out / "bpe")
    ranks = makers.tiktoken_ranks(out / "ranks", folder)
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    first = len(ranks.read_text().splitlines())
    expect_equal(prepare_tokens(out, ranks), [[first, *library.encode(text, add_special_tokens=False).ids, first + 1]
                                 for text in all_texts()])


def special_tokens(out: Path) -> None:
    """Those in a text are tokens, as in the library, or ordinary text."""
    folder = makers.byte_pairs(out / "bpe")
    texts = ["a<|end_of_text|>b", "<|user|>"]
    for tokenizer in (folder, makers.tiktoken_ranks(out / "ranks", folder)):
        source = write_lines(out / "special.jsonl", [{"text": text} for text in texts])
        lengths = []
        for choice in ("parse", "text"):
            prepare(source, "--tokenizer", tokenizer, "-o", out / choice, "--special", choice, "--bos", "none", "--eos",
                    "none", "--force")
            lengths.append(len(read(out / choice).documents[0]))
        expect(lengths[0] == 3 and lengths[1] > 3, f"{tokenizer}: {lengths}")


def raw_bytes(out: Path) -> None:
    expect_equal(prepare_tokens(out, "bytes"), [text.encode() for text in all_texts()])
    expect(read(out / "data").code == 1, "bytes are stored as bytes")
    expect_equal(prepare_tokens(out / "ends", "bytes", "--bos", "256", "--eos", "257"),
           [[256, *text.encode(), 257] for text in all_texts()])


def broken_unicode(out: Path) -> None:
    """Replaced as Python's decoder does; raw bytes stay as they are."""
    import tokenizers
    folder = makers.byte_pairs(out / "bpe")
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    source = out / "broken.txt"
    source.write_bytes(b"\n".join(BROKEN))
    options = ("--text-documents", "line", "--eos", "none")
    prepare(source, "--tokenizer", folder, "-o", out / "text", "--invalid-unicode", "replace", *options)
    expect_equal(read(out / "text").documents, [library.encode(line.decode(errors="replace")).ids for line in BROKEN])
    prepare(source, "--tokenizer", "bytes", "-o", out / "bytes", *options)
    expect_equal(read(out / "bytes").documents, BROKEN)


def lone_surrogates(out: Path) -> None:
    source = out / "surrogate.jsonl"
    out.mkdir(parents=True)
    source.write_text(json.dumps({"text": "a\ud83d b \ud83d\ude00"}) + "\n")
    prepare(source, "--tokenizer", "bytes", "-o", out / "data", "--invalid-unicode", "replace")
    expect_equal(read(out / "data").documents, ["a\ufffd b 😀".encode()])


def begin_and_end(out: Path) -> None:
    """tokenizer_config.json decides about BOS before the post-processor does; options decide before both."""
    source = write_lines(out / "one.jsonl", [{"text": "word"}])

    def ends(name: str, configuration: dict, *options) -> tuple[int, int]:
        folder = makers.byte_pairs(out / name, **configuration)
        prepare(source, "--tokenizer", folder, "-o", out / "data", "--force", *options)
        tokens, = read(out / "data").documents
        return tokens[0] - first, tokens[-1] - first

    first = len(json.loads((makers.byte_pairs(out / "count") / "tokenizer.json").read_text())["model"]["vocab"])
    for name, configuration, options, expected in (
            ("auto", {}, (), (0, 1)), ("no-bos", {"add_bos_token": False}, ("--eos", "none"), None),
            ("given", {}, ("--bos", "<|user|>", "--eos", str(first + 4)), (2, 4))):
        found = ends(name, configuration, *options)
        expect(found == expected if expected else max(found) < 0, f"{name}: {found}")


def long_texts(out: Path) -> None:
    """A text of many windows has the tokens of the whole text, also if words are long, and if there are no words."""
    sys.path.insert(0, str(PACKAGE))
    import tokenizers
    from titan_prepare.tokenizers import windows
    from titan_prepare.tokenizers.opening import tokenizer_file
    folder, joined = makers.byte_pairs(out / "bpe"), []
    ours = tokenizer_file(str(folder), True).open()
    windows.WINDOW, windows.OVERLAP, windows.EDGE = 3000, 400, 100
    find = windows.find_joint
    windows.find_joint = lambda *arguments: joined.append(find(*arguments)) or joined[-1]
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    for seed in range(40):
        separator = random.Random(seed).choice((" ", "\n", "", "   ", "<|end|>", "x" * 700, " " * 900))
        text = separator.join(corpus(200, seed))
        found = windows.encode_long(ours.encode_window, text).tolist()
        expect(found == library.encode(text, add_special_tokens=False).ids, f"text {seed}")
    expect(sum(joint is not None for joint in joined) > 200 and None in joined, "no windows were joined, or all")


def memory_of_long_texts(out: Path) -> None:
    """A text file needs little more memory than its own size."""
    folder, words = makers.byte_pairs(out / "bpe"), " ".join(corpus(400, 3))
    (out / "a.txt").write_text(words * (6_000_000 // len(words.encode())))
    process = start(out / "a.txt", "--tokenizer", folder, "-o", out / "x", "--workers", 1)
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    expect(status == 0 and used.ru_maxrss < 350_000, f"{used.ru_maxrss} KB: {output}")


CASES = [tokenizer_json, unknown_tokens, sentencepiece_models, sentencepiece_as_tokenizer_json, tiktoken_files,
         special_tokens, raw_bytes, broken_unicode, lone_surrogates, begin_and_end, long_texts, memory_of_long_texts]
