# SPDX-License-Identifier: BSD-3-Clause
# RUNS inputs of PROGRAM, a libFuzzer target, beginning with its CORPUS: the same ones every time. New inputs go to WORK_DIR,
# which begins empty; one that is a finding stays there.

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/inputs)
execute_process(
  COMMAND ${PROGRAM} -runs=${RUNS} -seed=1 -timeout=20 -malloc_limit_mb=64 -print_final_stats=1
    -artifact_prefix=${WORK_DIR}/ ${WORK_DIR}/inputs ${CORPUS}
  COMMAND_ERROR_IS_FATAL ANY)
