# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.25)
set(prefix ${WORK_DIR}/prefix)
set(examples ${prefix}/${DOCDIR}/examples)

# run(COMMAND...): runs a command that must succeed.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# configure(SOURCE BUILD OPTION...): configures from scratch a project that finds the installed package.
function(configure source build)
  file(REMOVE_RECURSE ${build})
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix} ${ARGN})
endfunction()

# expect(EXIT_CODE STANDARD_OUTPUT STANDARD_ERROR COMMAND...): checks that a command gives exactly these.
function(expect expected_code expected_output expected_error)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE error)
  foreach(what IN ITEMS code output error)
    if(NOT ${what} STREQUAL expected_${what})
      message(FATAL_ERROR "${ARGN}: ${what} must be\n${expected_${what}}\nnot\n${${what}}")
    endif()
  endforeach()
endfunction()
