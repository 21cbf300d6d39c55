#!/usr/bin/env bash
# Direct preference optimization with a frozen reference: preferences.sh [MODEL DATA OUT [OPTION...]]
set -euo pipefail
here=$(dirname "$0") default=pairs.jsonl
. "$here/arguments.sh"

# A sample has both texts of a pair, each of at most half its length.
titan-prepare "$data" --tokenizer "$model" --max-length $((length / 2 + 1)) --overlong skip -o "$out/data"
titanc import "$model" --preferences dpo > "$out/tuned.titan"
titanc build "$out/tuned.titan" -o "$out/tuned" --set data.seq="$length" "$@"
"$out/tuned" --data "$out/data.safetensors" --init-from "$model" --out "$out/run" --steps "$steps" \
    --set optimizer.lr="$rate"
# The export has no reference.
"$out/tuned" export --init-from "$out/run" --hf "$out/hf"
