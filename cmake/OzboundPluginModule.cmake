# SPDX-License-Identifier: BSD-3-Clause
# ozbound_plugin_module(TARGET SOURCES ... LINK ...): a plug-in, a shared object to be loaded, with all that it is made of
# inside. Everything is hidden but the function `ozbound_plugin` (plugin/include/ozbound/plugin/table.h).
include(OzboundExports)

function(ozbound_plugin_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK} ozbound_flags OpenMP::OpenMP_CXX)
  ozbound_exports_only(${target} ozbound_plugin)
endfunction()
