#!/bin/bash
# run.sh SHIM LEAST PROGRAM [INPUT]: one of netlib's testers in an empty working folder, with the shim preloaded over netlib's own
# BLAS and LAPACK. Fails unless the tester reports tests, none of which failed, and comes to its end, and the shim was in it, was
# called for LEAST products or more, and refused none of them. Prints what it counted.

set -uo pipefail

shim=$1 least=$2 program=$3 input=${4-/dev/null}
fail() {
  echo "$1" >&2
  exit 1
}

libraries=$(dirname "$(dirname "$program")")
for file in "$program" "$input" "$libraries"/blas/libblas.so.3 "$libraries"/lapack/liblapack.so.3; do
  [[ -e $file ]] || fail "There is no $file: install libblas-test, liblapack-test, libblas3 and liblapack3, as ./dev test --long does"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"  # testers leave files
env LD_LIBRARY_PATH="$libraries/blas:$libraries/lapack" LD_PRELOAD="$shim" OZBOUND_NETLIB_CALLS="$work/calls" \
  "$program" <"$input" >"$work/output" 2>&1
status=$?
cat "$work"/*.out >>"$work/output" 2>/dev/null

grep -aE 'FAIL|SUSPECT|FATAL|out of|[Ii]llegal| INFO|ERROR  *DETECTED|\*\*\*|refused' "$work/output" && fail 'These are failures'
((status == 0)) || fail "$(tail "$work/output")
The tester ended with $status"
[[ $input == /dev/null ]] || grep -qai 'end of tests' "$work/output" || fail 'The tester did not come to its end'
grep -qaE 'passed the|PASSED THE| PASS ' "$work/output" || fail 'The tester reports no test'
[[ -s $work/calls ]] || fail 'The shim was not in it'
read -r calls errors refused <"$work/calls"
((refused == 0)) || fail "The shim refused $refused calls"
((calls >= least)) || fail "The shim was called for $calls products"

# `All tests ... ( 1234 tests run)`, `PASSED THE COMPUTATIONAL TESTS ( 1234 CALLS)`, or a line for each subprogram.
tests=$(grep -aoE '\( *[0-9]+ (tests run|CALLS)\)| PASS ' "$work/output" | awk '{ sum += /[0-9]/ ? $2 : 1 } END { print sum + 0 }')
echo "$tests tests; $calls products, $errors of them refused as they should be"
