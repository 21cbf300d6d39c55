"""Makes small tokenizers of each kind, and chat templates."""

import base64
import json
from pathlib import Path

from texts import SCRIPTS, corpus

SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|user|>", "<|assistant|>", "<|end|>"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
CHATML = ("{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n"
          "{{ message['content'] }}<|end|>\n{% endfor %}"
          "{% if add_generation_prompt %}<|assistant|>\n{% endif %}")
MARKED = ("{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n"
          "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}<|end|>{% endgeneration %}"
          "{% else %}{{ message['content'] }}<|end|>{% endif %}{{ '\n' }}{% endfor %}"
          "{% if add_generation_prompt %}<|assistant|>\n{% endif %}")


def training_texts() -> list[str]:
    return list(SCRIPTS.values()) * 3 + corpus(200, seed=7)


def byte_pairs(folder: Path, template: str | None = CHATML, vocabulary: int = 1000, **configuration) -> Path:
    """tokenizer.json: byte-level BPE with Llama 3's pattern, whose post-processor adds BOS."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, processors, trainers
    tokenizer = tokenizers.Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(LLAMA3), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(training_texts(), trainers.BpeTrainer(
        vocab_size=vocabulary, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens(SPECIAL)
    bos = (SPECIAL[0], tokenizer.token_to_id(SPECIAL[0]))
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), processors.TemplateProcessing(
        single=f"{SPECIAL[0]} $A", special_tokens=[bos])])
    tokenizer.enable_truncation(8)  # left over in many published files
    tokenizer.enable_padding(length=8)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    values = {"bos_token": SPECIAL[0], "eos_token": {"__type": "AddedToken", "content": SPECIAL[1]}, **configuration}
    if template:
        values["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(values))
    return folder


def unigram(folder: Path, algorithm: str = "unigram", **options) -> Path:
    """A SentencePiece model that falls back to bytes."""
    import sentencepiece
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for text in training_texts() for line in text.split("\n") if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(folder / "tokenizer"), vocab_size=900, model_type=algorithm,
        byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, num_threads=1,
        character_coverage=1.0, hard_vocab_limit=False, minloglevel=2, **options)
    return folder / "tokenizer.model"


def tiktoken_ranks(folder: Path, like: Path) -> Path:
    """A tiktoken file of byte pairs and merge ranks with the tokens of a tokenizer.json in their order."""
    from tokenizers import pre_tokenizers
    model = json.loads((like / "tokenizer.json").read_text())["model"]
    byte_of = byte_characters()
    assert set(byte_of) == set(pre_tokenizers.ByteLevel.alphabet())
    folder.mkdir(parents=True, exist_ok=True)
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    lines = [base64.b64encode(bytes(byte_of[c] for c in token)).decode() + f" {rank}" for rank, token in enumerate(tokens)]
    (folder / "tokenizer.model").write_text("\n".join(lines) + "\n")
    return folder / "tokenizer.model"


def byte_characters() -> dict[str, int]:
    """GPT-2's printable character of each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {**{chr(byte): byte for byte in shown}, **{chr(256 + i): byte for i, byte in enumerate(hidden)}}
