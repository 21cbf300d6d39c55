# Common code of the scripts in this directory, which are bash and work from any directory.
# shellcheck shell=bash disable=SC2034

TITAN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TITAN_VENV=$TITAN_ROOT/.venv
TITAN_BUILD=${TITAN_BUILD:-$TITAN_ROOT/build}

# Headings are bold on a terminal and plain in a log.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

say() { printf '%s==> %s%s\n' "$bold" "$*" "$plain"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Prints the first comment block of a script as its help.
usage_of() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }

# Seconds as 12 s or 3 min 05 s.
spell_seconds() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# Compile jobs: one per core, and at most one per 1.5 GB of memory, which the largest MLIR files need.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  [ "$memory" -lt "$cores" ] && cores=$memory
  echo "$cores"
}
