"""Which families of `transformers` can be imported: the default configuration of each class, without weights.

    coverage.py [-v] [--update]

The families are those of docs/huggingface/families.md, which --update writes: the architecture, and the model of Titan or
the first error of `titanc import`. The test fails if the table is not true.
"""

import argparse
import logging
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity")]
from titan import CORES, ROOT, TITANC  # noqa: E402

try:
    import transformers
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

PAGE = ROOT / "docs" / "huggingface" / "families.md"
CAUSAL = """Llama Mistral Mixtral Qwen2 Qwen2Moe Qwen3 Qwen3Moe Qwen3Next Gemma Gemma2 Gemma3Text Phi Phi3 Phimoe Olmo Olmo2 Olmo3
Olmoe GptOss DeepseekV2 DeepseekV3 GPT2 GPTNeo GPTJ GPTNeoX GPTBigCode Starcoder2 Falcon OPT Bloom Mpt StableLm Granite GraniteMoe
GraniteMoeShared SmolLM3 Cohere Cohere2 Nemotron NemotronH MiniCPM3 SeedOss Exaone4 HunYuanDenseV1 HunYuanMoEV1 Ernie4_5 Ernie4_5_Moe
MiniMaxM2 Apertus Arcee Helium NanoChat Lfm2 Mamba2 Mamba Llama4Text Ministral Ministral3 Mistral4 Glm Glm4 Glm4Moe DeepseekV32 Dots1
Cwm Bamba FalconMamba FalconH1 Jamba Qwen3_5Text Gemma4Text Persimmon CodeGen BioGpt XGLM Bitnet""".split()
OTHERS = [("Bert", "BertForMaskedLM"), ("Bert", "BertForSequenceClassification"), ("ModernBert", "ModernBertForMaskedLM"),
          ("T5", "T5ForConditionalGeneration"), ("ViT", "ViTForImageClassification"),
          ("Whisper", "WhisperForConditionalGeneration"), ("Qwen2VL", "Qwen2VLForConditionalGeneration"),
          ("Qwen3VL", "Qwen3VLForConditionalGeneration"), ("Gemma3", "Gemma3ForConditionalGeneration"),
          ("Llama", "LlamaForSequenceClassification"), ("Llama", "LlamaForTokenClassification"),
          ("CLIP", "CLIPModel"), ("Idefics3", "Idefics3ForConditionalGeneration"), ("SmolVLM", "SmolVLMForConditionalGeneration")]


def architectures() -> list[tuple[str, object]]:
    """Pairs of an architecture and its default configuration, as far as this version of transformers has them."""
    pairs, names = [], transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    for name in CAUSAL:
        config = getattr(transformers, name + "Config", None)
        if config is not None and config.model_type in names:
            pairs.append((names[config.model_type], config))
    pairs += [(architecture, config) for name, architecture in OTHERS
              if (config := getattr(transformers, name + "Config", None)) is not None]
    return [(name if isinstance(name, str) else name[0], config) for name, config in pairs]


def try_import(architecture: str, make) -> tuple[str, str]:
    """The architecture, and `models.llama`: `Llama` or an error."""
    config = make()
    config.architectures = [architecture]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        config.to_json_file(path)  # as save_pretrained writes it
        done = subprocess.run([TITANC, "import", path], capture_output=True, text=True)
    if done.returncode == 0:
        module = re.search(r"^import (models\.\w+)", done.stdout, re.M)[1]
        base = re.search(r"^model \w+ = (\w+)", done.stdout, re.M)[1]
        return architecture, f"`{module}`: `{base}`"
    return architecture, "refused: " + re.search(r"error: (.*) \[T\d+\]", done.stderr + "error: crashed [T0]")[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-v", action="store_true", help="print all rows")
    parser.add_argument("--update", action="store_true", help="write the page")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    with ThreadPoolExecutor(CORES) as pool:
        rows = list(pool.map(lambda pair: try_import(*pair), architectures()))
    accepted = [row for row in rows if not row[1].startswith("refused")]
    text = ("# Families\n\nThe default configuration of each class of `transformers`, given to `titanc import`. "
            "`tests/configs/coverage.py --update` writes this page.\n\n"
            f"{len(accepted)} of {len(rows)} are imported.\n\n| architecture | model |\n|---|---|\n"
            + "".join(f"| `{name}` | {result} |\n" for name, result in rows))
    if arguments.v:
        print(text)
    print(f"{len(accepted)} of {len(rows)} families are imported")
    if arguments.update:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        old = set(PAGE.read_text().splitlines())
        print(f"{PAGE} is not true any more (--update writes it):", *(line for line in text.splitlines() if line not in old), sep="\n  ")
        sys.exit(1)


if __name__ == "__main__":
    main()
