#!/usr/bin/env bash
# Low-rank adapters, which the export adds to their base: lora.sh [MODEL DATA OUT [OPTION...]]
set -euo pipefail
here=$(dirname "$0") default=texts.jsonl
. "$here/arguments.sh"

titan-prepare "$data" --tokenizer "$model" -o "$out/data"
titanc import "$model" --lora "${RANK:-8}" > "$out/tuned.titan"
titanc build "$out/tuned.titan" -o "$out/tuned" --set data.seq="$length" "$@"
"$out/tuned" --data "$out/data" --init-from "$model" --out "$out/run" --steps "$steps" --set optimizer.lr="$rate"
"$out/tuned" export --init-from "$out/run" --hf "$out/hf"
