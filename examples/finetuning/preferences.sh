#!/usr/bin/env bash
# Direct preference optimization with a frozen reference: preferences.sh [MODEL DATA OUT [OPTION...]]
set -euo pipefail
here=$(dirname "$0") default=pairs.jsonl
. "$here/arguments.sh"

# A sample has both texts of a pair, each of at most half its length.
titan-prepare "$data" --tokenizer "$model" --max-length $((length / 2 + 1)) --overlong skip -o "$out/data"
titanc import "$model" > "$out/tuned.titan"
cat >> "$out/tuned.titan" <<RUN

train prefer = finetune with {
  model { preferences = "dpo", beta = 0.1 }
  data { format = arrays, seq = $length }
  eval { data { format = arrays } }
  parameters "reference.*" { frozen = true }
}
RUN
titanc build "$out/tuned.titan" --train prefer -o "$out/tuned" "$@"
"$out/tuned" --data "$out/data.safetensors" --init-from "$model" --init-from reference="$model" --out "$out/run" \
    --steps "$steps" --set optimizer.lr="$rate"
# The imported program has no reference, and exports the policy alone.
titanc build "$out/tuned.titan" --train finetune -o "$out/policy" "$@"
"$out/policy" export --init-from "$out/run" --hf "$out/hf"
