#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh SHIM EXACT LEAST PROGRAM [INPUT]: one of netlib's testers in an empty working folder, with the shim preloaded over netlib's
# own BLAS and LAPACK. Fails unless the tester reports tests, none of which failed, and comes to its end, and the shim was in it, was
# called for LEAST products or more, and refused none of them. Prints what it counted.
#
# A tester that judges two results by their distance, whatever the condition of its problem, may fail an exact product. So a line that
# reports a failure is no failure of Ozbound's where EXACT, products of sums in long double, gives the same lines, number by number.
# That is so of testers of single precision, whose names end in s or c but not in ds or zc: in them alone EXACT is more exact than what is tested.

set -uo pipefail

shim=$1 exact=$2 least=$3 program=$4 input=${5-/dev/null}
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
mkdir "$work"/{shim,exact}

# run_with FOLDER LIBRARY: testers leave files.
run_with() {
  cd "$work/$1" || return
  local status=0
  env LD_LIBRARY_PATH="$libraries/blas:$libraries/lapack" LD_PRELOAD="$2" OZBOUND_NETLIB_CALLS="$work/$1/calls" \
    "$program" <"$input" >output 2>&1 || status=$?
  cat ./*.out >>output 2>/dev/null
  return "$status"
}
failures() { grep -aE 'FAIL|Failure|SUSPECT|FATAL|out of|[Ii]llegal| INFO|ERROR  *DETECTED|\*\*\*|refused' "$work/$1/output"; }

run_with shim "$shim"
status=$?
((status == 0)) || fail "$(tail "$work/shim/output")
The tester ended with $status"
if failures shim; then
  [[ $program == *[^dz][sc] ]] || fail 'These are failures'
  run_with exact "$exact" || fail 'The tester does not end as it should with exact products'
  [[ $(failures shim) == "$(failures exact)" ]] || fail "These are failures; with exact products: $(failures exact)"
  echo 'The same with exact products'
fi
output=$work/shim/output
[[ $input == /dev/null ]] || grep -qai 'end of tests' "$output" || fail 'The tester did not come to its end'
grep -qaE 'passed the|PASSED THE| PASS ' "$output" || fail 'The tester reports no test'
[[ -s $work/shim/calls ]] || fail 'The shim was not in it'
read -r calls errors refused <"$work/shim/calls"
((refused == 0)) || fail "The shim refused $refused calls"
((calls >= least)) || fail "The shim was called for $calls products"

# `All tests ... ( 1234 tests run)`, `PASSED THE COMPUTATIONAL TESTS ( 1234 CALLS)`, or a line for each subprogram.
tests=$(grep -aoE '\( *[0-9]+ (tests run|CALLS)\)| PASS ' "$output" | awk '{ sum += /[0-9]/ ? $2 : 1 } END { print sum + 0 }')
echo "$tests tests; $calls products, $errors of them refused as they should be"
