# SPDX-License-Identifier: BSD-3-Clause
# A copy of a small tree has the expected hooks, and no files that the tree has lost or that are built.

file(REMOVE_RECURSE ${COPY})
file(WRITE ${COPY}/code/lost.txt "gone from the tree")
execute_process(COMMAND ${TOOL} copy ${FIXTURE}/tree ${FIXTURE}/registry.json ${COPY} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${COPY}/code/code.txt ${FIXTURE}/expected.txt
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE files RELATIVE ${COPY} ${COPY}/*)
if(NOT files STREQUAL "code/code.txt")
  message(FATAL_ERROR "the copy has other files: ${files}")
endif()
