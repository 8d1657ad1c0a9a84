#!/usr/bin/env bash
# Runs the shell commands of a README in order, word for word but for the build folder, and stops at the first that
# fails. tools/lathe-dev is left out: it is what runs this.
#   run_commands.sh README.md BUILD_DIR
set -euo pipefail
readme=$(readlink -f "$1")
build=$2
root=$(dirname "$readme")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Commands write into the current folder: work in one that only looks like the checkout.
for entry in "$root"/*; do
  [ "$(basename "$entry")" = build ] || ln -s "$entry" "$scratch/"
done
cd "$scratch"
count=0
while IFS= read -r line; do
  command=${line%%#*}
  [[ $command =~ ^[[:space:]]*$ || $command == tools/lathe-dev* ]] && continue
  command=${command//build\/release/$build}
  echo "\$ $command"
  bash -c "$command" >output.txt 2>&1 || { cat output.txt; echo "failed: $command"; exit 1; }
  count=$((count + 1))
done < <(awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$readme")
[ "$count" -gt 0 ] || { echo "no command found in $readme"; exit 1; }
echo "$count commands ran"
