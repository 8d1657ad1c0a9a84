#!/usr/bin/env bash
# FileCheck tests of what is emitted. A .te file's comments hold lines "# RUN PREFIX with options of lathe build" and, with
# that prefix, FileCheck's own directives.
#   run_filecheck.sh LATHE FILECHECK TEST.te
set -euo pipefail
lathe=$1 filecheck=$2 file=$3
count=0
while read -r prefix options; do
  echo "lathe build $(basename "$file") $options  ($prefix)"
  # shellcheck disable=SC2086  # options are words
  "$lathe" build "$file" $options | "$filecheck" --check-prefix="$prefix" "$file"
  count=$((count + 1))
done < <(sed -n 's/^# RUN \([A-Z0-9_]*\) with /\1 /p' "$file")
[ "$count" -gt 0 ] || { echo "$file has no RUN line"; exit 1; }
