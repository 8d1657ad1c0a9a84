#!/usr/bin/env bash
# The lathe command on bad input: every line is "arguments ::: what the message must say"; the exit code is never 0 and
# never a signal's. Then a round trip through .npy files.
#   command_test.sh LATHE SOURCE_DIR
set -uo pipefail
lathe=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$source"/tests/programs/vector_add.te add.te
head -c 120 add.te >cut.te
head -c 100 /dev/urandom >noise.bin
failures=0
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }

while IFS= read -r line; do
  arguments=${line%% ::: *} message=${line##* ::: }
  # shellcheck disable=SC2086  # arguments are words
  output=$("$lathe" $arguments 2>&1 </dev/null)
  code=$?
  [ $code -gt 0 ] && [ $code -lt 126 ] || fail "lathe $arguments: exit code $code"
  [[ $output == *"$message"* ]] || fail "lathe $arguments: expected \"$message\", got: $output"
done <<'CASES'
build missing.te ::: missing.te: cannot be read: No such file
build . ::: this is a directory
build cut.te ::: cut.te:7:17: expected ",", found the end of the text
build add.te --target gfx1 ::: unknown target "gfx1"
build add.te --target gfx803 ::: gfx803 is known but not compiled for
build add.te --target gfx1100:xnack+ ::: gfx1100 has no feature xnack
build add.te --stop-after nothing ::: there is no pass nothing
build add.te --emit everything ::: --emit
build add.te --emit obj -o no/such/folder/add ::: cannot be written
build add.te --wave-size 32 --target gfx942 ::: a wave of 32 lanes
inspect noise.bin ::: noise.bin
inspect missing.bin ::: cannot be read
run add.te --device emulator:gfx942 --set n=3 ::: input A: it has no value
run add.te --device emulator:gfx942 --random 1 ::: a symbol in it has no value
run add.te --device emulator:gfx942 --random 1 --set m=3 ::: the program has no symbol m
run add.te --device emulator:gfx942 --random 1 --set n=-3 ::: not a whole number of 0 or more
run add.te --device emulator:gfx942 --random 1 --set n=30000000000000 ::: use smaller shapes
run add.te --device emulator:gfx942 --random 1 --set n=3 --out X=x.npy ::: the program has no output of that name
run add.te --device emulator:gfx942 --random 1 --set n=3 --in A=missing.npy ::: missing.npy
run add.te --device emulator:gfx942 --random 1 --set n=3 --in A=noise.bin ::: noise.bin
run add.te --device nonsense --random 1 --set n=3 ::: nonsense
nonsense ::: subcommand
CASES

"$lathe" run add.te --device emulator:gfx942 --random 7 --set n=100 --out C=c.npy || fail "run --out"
"$lathe" run add.te --device emulator:gfx1100 --in A=c.npy --random 8 --out C=d.npy --check || fail "run --in"
[ "$(stat -c %s d.npy)" = $((128 + 400)) ] || fail "d.npy has $(stat -c %s d.npy) bytes"
"$lathe" build add.te --target gfx90a --emit te -o again && "$lathe" build again.te --emit te -o twice && cmp again.te twice.te || fail "te is not stable"
"$lathe" build add.te --emit obj,package -o one && "$lathe" build add.te --emit obj,package -o two && cmp one.lathe two.lathe && cmp one.hsaco two.hsaco ||
  fail "two builds differ"
[ $failures = 0 ] && echo "all commands behave"
exit $((failures > 0))
