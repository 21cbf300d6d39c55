#!/usr/bin/env bash
# A classifier of texts from a language model, with a new head: classes.sh [MODEL DATA OUT [OPTION...]]
# The shell's variable CLASSES is the number of classes.
set -euo pipefail
here=$(dirname "$0") default=classes.jsonl
. "$here/arguments.sh"

"${PYTHON:-python3}" "$here/arrays.py" "$data" --tokenizer "$model" --length "$length" -o "$out/data.safetensors"
# The same architecture with another head: LlamaForCausalLM becomes LlamaForSequenceClassification.
sed 's/"\(.*\)For\(CausalLM\|MaskedLM\)"/"\1ForSequenceClassification"/' "$model/config.json" > "$out/config.json"
titanc import "$out/config.json" > "$out/tuned.titan"
cat >> "$out/tuned.titan" <<RUN

train classify = finetune with {
  model.classes = ${CLASSES:-3}
  data { seq = $length }
  parameters "class_*" { init_from = optional }
}
RUN
titanc build "$out/tuned.titan" --train classify -o "$out/tuned" "$@"
"$out/tuned" --data "$out/data.safetensors" --init-from "$model" --out "$out/run" --steps "$steps" --set optimizer.lr="$rate"
"$out/tuned" export --init-from "$out/run" --hf "$out/hf"
