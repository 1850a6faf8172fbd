# SPDX-License-Identifier: BSD-3-Clause
# Runs PROGRAM, a libFuzzer target, on RUNS inputs, beginning with its CORPUS; the inputs are the same every time. New inputs go
# to WORK_DIR, which is empty at first. An input that is a finding stays there.

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/inputs)
execute_process(
  COMMAND ${PROGRAM} -runs=${RUNS} -seed=1 -timeout=20 -malloc_limit_mb=64 -print_final_stats=1
    -artifact_prefix=${WORK_DIR}/ ${WORK_DIR}/inputs ${CORPUS}
  COMMAND_ERROR_IS_FATAL ANY)
