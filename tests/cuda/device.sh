#!/usr/bin/env bash
# run.sh RESULTS
#
# Builds the projects that device.py packed beside this script, and runs each once. The output of a run is in
# RESULTS/NAME; failed projects are named at the end. A failure does not stop the other projects.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$(mkdir -p "$1" && cd "$1" && pwd)
site=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))') ||
  { echo "run.sh: python3 finds no torch, whose libraries the programs want" >&2; exit 1; }
library_folders=("$site/torch/lib" "$site/nvidia/cu13/lib" "$site/nvidia/nccl/lib")
defines=()
for i in "${!library_folders[@]}"; do defines+=("-DTITAN_LIBRARIES_$i=${library_folders[$i]}"); done

failed=()
while read -r name program steps; do
  project=$here/projects/$name
  log=$results/$name.log
  [ -e "$project/lib" ] || cp -r "$here/lib" "$project/lib"
  echo "== $name"
  cmake -G Ninja -S "$project" -B "$project/build" "${defines[@]}" > "$log" 2>&1 &&
    cmake --build "$project/build" >> "$log" 2>&1 &&
    mkdir -p "$results/$name" &&
    "$project/build/$program" --data "$here/text.txt" --steps "$steps" --seed "$(cat "$here/seed")" \
      --log-every 1 --resume none --out "$results/$name" \
      --save-initial "$results/$name/initial.safetensors" \
      --save-gradients "$results/$name/gradients.safetensors" 2>&1 | tee -a "$log" | tail -n 3
  [ "${PIPESTATUS[0]}" -eq 0 ] || failed+=("$name")
  # Nobody needs the weights of the large models.
  [ "$(du -sm "$results/$name" 2> /dev/null | cut -f1)" -lt 100 ] 2> /dev/null ||
    find "$results/$name" -name '*.safetensors' -delete 2> /dev/null
done < "$here/projects.txt"
echo "failed: ${failed[*]:-none}"
[ ${#failed[@]} -eq 0 ]
