# SPDX-License-Identifier: BSD-3-Clause
# ozbound_exports_only(TARGET SYMBOLS): of all that a shared object is made of, what matches SYMBOLS is seen, and nothing else.
# Core and bounds may be in a program, in libozbound.so and in a plug-in at once, and none may take another's.
function(ozbound_exports_only target symbols)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${symbols}; local: *; };\n")
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${map})
  set_target_properties(${target} PROPERTIES
    LINK_DEPENDS ${map}
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()
