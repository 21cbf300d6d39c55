"""Makes a tiny Llama of random weights with a tokenizer and a chat template, and data for each script of this folder.

    tiny.py FOLDER [TYPE]

TYPE is the element type of the weights, such as float64; without it float32.
"""

import json
import random
import sys
from pathlib import Path

import tokenizers
import torch
import transformers

SPECIAL = ["<s>", "</s>", "<pad>", "<user>", "<assistant>"]
TEMPLATE = ("{{ bos_token }}{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{{ eos_token }}"
            "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}")


def make_model(folder: Path, kind: str) -> None:
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    bytewise = tokenizers.Tokenizer(tokenizers.models.BPE({letter: i for i, letter in enumerate(sorted(alphabet))}, []))
    bytewise.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bytewise, bos_token=SPECIAL[0], eos_token=SPECIAL[1], pad_token=SPECIAL[2],
        additional_special_tokens=SPECIAL[3:], chat_template=TEMPLATE, add_bos_token=True)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=64, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, tie_word_embeddings=True,
        initializer_range=0.2)
    transformers.LlamaForCausalLM(config).to(getattr(torch, kind)).save_pretrained(folder)


def write(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def make_data(folder: Path) -> None:
    chance = random.Random(1)
    sums = [(chance.randrange(40), chance.randrange(40)) for _ in range(64)]
    questions = [f"{a} + {b}?" for a, b in sums]
    write(folder / "texts.jsonl", [{"text": " ".join(f"{a} + {b} = {a + b}." for a, b in sums[i:i + 1 + i % 4])}
                                   for i in range(len(sums))])
    write(folder / "chats.jsonl", [{"messages": [{"role": "user", "content": question},
                                                 {"role": "assistant", "content": str(a + b)}]}
                                   for question, (a, b) in zip(questions, sums)])
    write(folder / "pairs.jsonl", [{"prompt": question, "chosen": f" {a + b}", "rejected": f" It is {a + b + 1}."[i % 2 * 6:]}
                                   for i, (question, (a, b)) in enumerate(zip(questions, sums))])
    write(folder / "classes.jsonl", [{"text": question, "label": (a + b) % 3} for question, (a, b) in zip(questions, sums)])


if __name__ == "__main__":
    out = Path(sys.argv[1])
    make_model(out / "model", sys.argv[2] if len(sys.argv) > 2 else "float32")
    make_data(out)
