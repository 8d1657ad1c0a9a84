#!/usr/bin/env bash
# Opens what `lathe explain --html` writes in a browser without a window and looks at the page that its script made.
#   explain_page_test.sh LATHE SOURCE_DIR
set -euo pipefail
lathe=$1 source=$2
browser=$(command -v chromium-headless-shell || command -v chromium) || { echo "no chromium: run tools/lathe-dev setup"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
expect() {  # what is found, how often at least, extended expression, file
  local count
  count=$(grep -oE "$3" "$4" | wc -l)
  [ "$count" -ge "$2" ] || { echo "FAILED: $1: $count times, expected at least $2"; failures=$((failures + 1)); }
}
open_page() {
  "$browser" --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$scratch/profile" --dump-dom "file://$scratch/gemm.html#$1" >"$scratch/page" 2>"$scratch/errors" ||
    { cat "$scratch/errors"; exit 1; }
}

"$lathe" explain "$source/tests/programs/gemm.te" --target gfx90a --html "$scratch/gemm.html" 2>/dev/null
! grep -qE '(src|href)=|https?:' "$scratch/gemm.html" || { echo "FAILED: the page asks for other files"; failures=$((failures + 1)); }

"$lathe" explain "$source/tests/programs/gemm.te" --target gfx90a --html "$scratch/again.html" 2>/dev/null
cmp "$scratch/gemm.html" "$scratch/again.html" || failures=$((failures + 1))

loop=$("$lathe" build "$source/tests/programs/gemm.te" --target gfx90a --emit ir | sed -n '/^kernel/,$p' | grep -n 'for k0 ' | cut -d: -f1)
open_page "line=$loop"
expect "the title" 1 '<title>gemm for gfx90a' "$scratch/page"
expect "registers" 1 '<td>VGPRs</td><td>[0-9]+</td>' "$scratch/page"
expect "LDS" 1 '<td>LDS</td><td>8 KiB a work-group</td>' "$scratch/page"
expect "statements" 60 'class="row[^"]*" data-line="[0-9]+"><span class="n">[0-9]+</span>[^<]*fma' "$scratch/page"
expect "the loop's own line, lit" 1 "class=\"row lit\" data-line=\"$loop\"><span class=\"n\">$loop</span> *for k0" "$scratch/page"
expect "instructions of the loop, lit" 200 'class="row lit" data-line="[0-9]+"><span class="n">[0-9]+</span>  [a-z]+_' "$scratch/page"
expect "the loop's loads from LDS" 1 'class="row lit"[^>]*><span class="n">[0-9]+</span>  ds_read' "$scratch/page"
expect "the count by kind" 1 'vector [0-9]+' "$scratch/page"
open_page "step=2"
expect "a step" 1 '2 of 31: tile C.i, C.j -&gt; i0, j0, i1, j1 by 64, 64, tail guard' "$scratch/page"
expect "its new lines" 4 'class="row code new"' "$scratch/page"
[ $failures -eq 0 ] && echo "the page shows what it should"
exit $failures
