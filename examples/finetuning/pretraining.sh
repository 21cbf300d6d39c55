#!/usr/bin/env bash
# Continued pretraining on packed documents, each of which attends to itself alone: pretraining.sh [MODEL DATA OUT [OPTION...]]
set -euo pipefail
here=$(dirname "$0") default=texts.jsonl
. "$here/arguments.sh"

titan-prepare "$data" --tokenizer "$model" -o "$out/data"
titanc import "$model" > "$out/tuned.titan"
titanc build "$out/tuned.titan" -o "$out/tuned" --set data.seq="$length" \
    --set model.packed=true --set data.packing=documents "$@"
"$out/tuned" --data "$out/data" --init-from "$model" --out "$out/run" --steps "$steps" --set optimizer.lr="$rate"
"$out/tuned" export --init-from "$out/run" --hf "$out/hf"
