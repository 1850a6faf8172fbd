# SPDX-License-Identifier: BSD-3-Clause
# cmake -DNM=nm -DFILE=plug-in -P exports.cmake: fails unless the one dynamic symbol that FILE defines is `ozbound_plugin`.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${FILE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "^ozbound_plugin T [0-9a-f]+ [0-9a-f]*\n$")
  string(LENGTH "${symbols}" length)
  string(SUBSTRING "${symbols}" 0 2000 symbols)
  message(FATAL_ERROR "${FILE} defines, in ${length} characters:\n${symbols}")
endif()
