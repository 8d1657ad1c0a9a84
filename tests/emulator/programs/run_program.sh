#!/usr/bin/env bash
# Runs a HIP program on emulated GPUs through `lathe emulate`; each run must end with status 0 and its line "NAME: ok".
#   run_program.sh LATHE "gfx90a;gfx90a,gfx1100" PROGRAM [ARGUMENTS]
# A word with a comma is a run on several devices; the program then gets their names as arguments.
set -uo pipefail
lathe=$1 runs=$2 program=$3
shift 3
failures=0
for archs in ${runs//;/ }; do
  arguments=("$@")
  case $archs in *,*) arguments=(${archs//,/ }) ;; esac
  output=$("$lathe" emulate --arch "$archs" -- "$program" "${arguments[@]}" 2>&1)
  code=$?
  if [ $code -ne 0 ] || [[ $output != *": ok"* ]]; then
    printf 'FAILED on %s with status %s:\n%s\n' "$archs" "$code" "$output"
    failures=$((failures + 1))
  fi
done
[ $failures = 0 ] && echo "$(basename "$program") runs on $runs"
exit $((failures > 0))
