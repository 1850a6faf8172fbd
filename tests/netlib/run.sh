#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh SHIM EXACT LEAST PROGRAM [INPUT]: runs one of netlib's testers in an empty folder, with the shim preloaded over
# netlib's own BLAS and LAPACK. Fails unless the tester ends, reports tests and no failed one, and the shim was loaded, was
# called for LEAST products or more, and refused none of them. Prints the counts.
#
# A tester that judges two results by their distance, whatever the condition of its problem, may fail an exact product. So a
# reported failure is no failure of Ozbound if EXACT, with products summed in long double, gives the same lines, number by
# number. This rule holds only for testers of single precision, whose names end in s or c but not in ds or zc: only for them is
# EXACT more accurate than the tested products.

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

# run_with FOLDER LIBRARY: runs the tester in a folder of its own, as testers leave files.
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

# The tests are counted from `All tests ... ( 1234 tests run)`, `PASSED THE COMPUTATIONAL TESTS ( 1234 CALLS)`, or a line for
# each subprogram.
tests=$(grep -aoE '\( *[0-9]+ (tests run|CALLS)\)| PASS ' "$output" | awk '{ sum += /[0-9]/ ? $2 : 1 } END { print sum + 0 }')
echo "$tests tests; $calls products, $errors of them refused as they should be"
