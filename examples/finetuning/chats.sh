#!/usr/bin/env bash
# Fine-tuning on chats, of which only the answers count: chats.sh [MODEL DATA OUT [OPTION...]]
set -euo pipefail
here=$(dirname "$0") default=chats.jsonl
. "$here/arguments.sh"

titan-prepare "$data" --messages messages --tokenizer "$model" --max-length $((length + 1)) --overlong truncate -o "$out/data"
titanc import "$model" > "$out/tuned.titan"
titanc build "$out/tuned.titan" -o "$out/tuned" --set data.seq="$length" \
    --set model.packed=true --set data.packing=documents "$@"
"$out/tuned" --data "$out/data" --init-from "$model" --out "$out/run" --steps "$steps" --set optimizer.lr="$rate"
"$out/tuned" export --init-from "$out/run" --hf "$out/hf"
