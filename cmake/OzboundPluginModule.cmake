# SPDX-License-Identifier: BSD-3-Clause
# ozbound_plugin_module(TARGET SOURCES ... LINK ...): a plug-in, a shared object to be loaded, with all that it is made of
# inside. Everything is hidden but the function `ozbound_plugin` (plugin/include/ozbound/plugin/table.h): core and bounds are in
# the program that loads it too, and neither may take the other's.
function(ozbound_plugin_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  set(map ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK} ozbound_flags OpenMP::OpenMP_CXX)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${map})
  set_target_properties(${target} PROPERTIES
    LINK_DEPENDS ${map}
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()
