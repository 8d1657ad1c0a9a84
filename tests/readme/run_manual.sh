#!/usr/bin/env bash
# Runs the text programs of a manual: each ```te block on two emulated GPUs against the evaluator, bit for bit; its first line
# may be "# run: OPTIONS" of `lathe run`, or "# refused: MESSAGE", an expression that the refusal must match.
#   run_manual.sh MANUAL.md LATHE
set -uo pipefail
manual=$(readlink -f "$1") lathe=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
awk '/^```te$/ { ++n; file = sprintf("%03d.te", n); next } /^```/ { file = "" } file { print > file }' "$manual"
failures=0 count=0
fail() { echo "FAILED: block $1: $2"; cat "$1" output; failures=$((failures + 1)); }
for block in *.te; do
  count=$((count + 1))
  message=$(sed -n '1s/^# refused: //p' "$block") options=$(sed -n '1s/^# run: //p' "$block")
  if [ -n "$message" ]; then
    "$lathe" build "$block" --emit ir >output 2>&1 && fail "$block" "it is not refused"
    grep -qE "$message" output || fail "$block" "the message is another"
    continue
  fi
  for device in emulator:gfx90a emulator:gfx1100; do
    # shellcheck disable=SC2086  # options are words
    "$lathe" run "$block" --device $device --random 1 --check $options >output 2>&1 || fail "$block" "on $device"
  done
done
[ $count -gt 0 ] || { echo "no program found in $manual"; exit 1; }
echo "$count programs, $failures failures"
[ $failures -eq 0 ]
