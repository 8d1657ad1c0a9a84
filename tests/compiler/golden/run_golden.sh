#!/usr/bin/env bash
# One golden test: a .te file whose comments after the line "# after PASS" say what the program looks like after that
# pass. LATHE_UPDATE_GOLDEN=1 writes what it looks like now into the file instead: read the diff before committing it.
#   run_golden.sh LATHE TEST.te
set -euo pipefail
lathe=$1 file=$2
pass=$(sed -n 's/^# after \([a-z_]*\)$/\1/p' "$file")
[ -n "$pass" ] || { echo "$file has no line \"# after PASS\""; exit 1; }
actual=$("$lathe" build "$file" --stop-after "$pass" | sed -e 's/^/# /' -e 's/ *$//')
if [ "${LATHE_UPDATE_GOLDEN:-}" = 1 ]; then
  program=$(sed "/^# after $pass\$/,\$d" "$file")
  printf '%s\n\n# after %s\n%s\n' "$program" "$pass" "$actual" >"$file"
  exit 0
fi
expected=$(sed "1,/^# after $pass\$/d" "$file")
diff -u --label expected --label "after $pass" <(echo "$expected") <(echo "$actual")
