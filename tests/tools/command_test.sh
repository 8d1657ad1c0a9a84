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
# Two programs that no library can be slipped under: an ELF without an interpreter, and a 32-bit one (headers are enough).
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0' >fixed; printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0' >narrow
head -c 100 /dev/zero | tee -a fixed >>narrow; chmod +x fixed narrow
# A gather whose indices leave the array: the emulated GPU names the statement.
cat >gather.te <<'TE'
function gather<n>(A: f32[n], I: i64[n], out C)

C[i: n] = A[I[i]]

schedule {
  split C.i -> a, b by 64, tail guard
  bind C.a to block_x
  bind C.b to thread_x
}
TE
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
explain ::: there is no file
explain cut.te ::: expected ","
explain add.te --target gfx1 ::: unknown target "gfx1"
explain add.te --html no/such/folder/add.html ::: cannot be written
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
run gather.te --device emulator:gfx1100 --random 1 --set n=100 ::: gather.ir:3 `C[bx * 64 + tx] = A[I[bx * 64 + tx]]`
run add.te --device nonsense --random 1 --set n=3 ::: nonsense
emulate ::: program is required
emulate --arch gfx9 -- ls ::: there is no emulated gfx9
emulate --arch gfx90a,nonsense -- ls ::: there are gfx900, gfx906
emulate --devices 0 -- ls ::: --devices
emulate --devices 2 --arch gfx906,gfx1100 -- ls ::: --arch already lists the devices
emulate --report everything -- ls ::: --report
emulate -- no-such-program ::: no folder of PATH has such a program
emulate -- add.te ::: for the one in this folder write ./add.te
emulate -- ./no-such-program ::: there is no such program
emulate -- ./ ::: this is a directory
emulate -- ./add.te ::: this is not executable
emulate -- ./fixed ::: this program is linked statically
emulate -- ./narrow ::: this is a 32-bit program
nonsense ::: subcommand
CASES

# lathe emulate is the program from then on: arguments, output, status, signals.
[ "$("$lathe" emulate --arch gfx906 --devices 2 --fast -- sh -c 'echo "$0 $* $LATHE_EMULATOR_ARCH $LATHE_EMULATOR"' --a -- 'b  c')" = "--a -- b  c gfx906,gfx906 fast" ] ||
  fail "emulate passes arguments on"
"$lathe" emulate -- sh -c 'exit 7'; [ $? = 7 ] || fail "emulate passes the exit status on"
"$lathe" emulate -- sh -c 'kill -TERM $$'; [ $? = 143 ] || fail "emulate passes signals on"

"$lathe" run add.te --device emulator:gfx942 --random 7 --set n=100 --out C=c.npy || fail "run --out"
"$lathe" run add.te --device emulator:gfx1100 --in A=c.npy --random 8 --out C=d.npy --check || fail "run --in"
[ "$(stat -c %s d.npy)" = $((128 + 400)) ] || fail "d.npy has $(stat -c %s d.npy) bytes"
"$lathe" build add.te --target gfx90a --emit te -o again && "$lathe" build again.te --emit te -o twice && cmp again.te twice.te || fail "te is not stable"
"$lathe" build add.te --emit obj,package -o one && "$lathe" build add.te --emit obj,package -o two && cmp one.lathe two.lathe && cmp one.hsaco two.hsaco ||
  fail "two builds differ"
[ $failures = 0 ] && echo "all commands behave"
exit $((failures > 0))
