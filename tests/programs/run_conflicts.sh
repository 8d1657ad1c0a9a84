#!/usr/bin/env bash
# LDS bank conflicts, as the emulated GPU counts them: a program's first line says "# conflicts: none" or "# conflicts: some".
#   run_conflicts.sh LATHE TEST.te ARCH
set -euo pipefail
lathe=$1 file=$2 arch=$3
wanted=$(sed -n '1s/^# conflicts: \(none\|some\)$/\1/p' "$file")
[ -n "$wanted" ] || { echo "$file does not begin with \"# conflicts: none\" or \"# conflicts: some\""; exit 1; }
report=$(LATHE_EMULATOR_COUNTERS=1 LATHE_EMULATOR_REPORT=json "$lathe" run "$file" --device "emulator:$arch" --random 1 --check 2>&1)
count=$(grep -o '"lds_bank_conflicts": *[0-9]*' <<<"$report" | grep -o '[0-9]*$' | awk '{ s += $1 } END { print s + 0 }')
requests=$(grep -o '"lds_requests": *[0-9]*' <<<"$report" | grep -o '[0-9]*$' | awk '{ s += $1 } END { print s + 0 }')
echo "$(basename "$file") on $arch: $count conflicts in $requests LDS requests, wanted: $wanted"
[ "$requests" -gt 0 ]
if [ "$wanted" = none ]; then [ "$count" -eq 0 ]; else [ "$count" -gt 0 ]; fi
