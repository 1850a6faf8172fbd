# SPDX-License-Identifier: BSD-3-Clause
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} --preset demo -B ${WORK_DIR}
  OUTPUT_VARIABLE said WORKING_DIRECTORY ${SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)

# Packages that the configuration looked for.
file(STRINGS ${WORK_DIR}/CMakeCache.txt looked_for
  REGEX "^(GTest_DIR|GMOCK_LIBRARY|benchmark_DIR|CMAKE_Fortran_COMPILER|CMAKE_CUDA_COMPILER|OZBOUND_NVCC|OZBOUND_BLIS)[:-]")
if(looked_for)
  message(FATAL_ERROR "The demo needs none of ${looked_for}")
endif()

# Commands that building the command runs.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR} -- -t commands ozbound_command
  OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
if(NOT commands MATCHES "cli/CMakeFiles/ozbound_command\\.dir/")
  message(FATAL_ERROR "The demo builds no command")
endif()
if(commands MATCHES " ((bench|gpu|tests)/[^ \n]*\\.(o|a))")
  message(FATAL_ERROR "The demo needs no ${CMAKE_MATCH_1}")
endif()
