# SPDX-License-Identifier: BSD-3-Clause
execute_process(COMMAND ${EXAMPLE} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${DOCUMENT} says that its example prints\n${expected}\nbut it prints\n${printed}")
endif()
