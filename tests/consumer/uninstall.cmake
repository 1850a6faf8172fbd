# SPDX-License-Identifier: BSD-3-Clause
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(manifest ${WORK_DIR}/install_manifest.txt)
file(WRITE ${prefix}/include/ozbound/of_somebody_else.h "")
run(${CMAKE_COMMAND} -D MANIFEST=${manifest} -P ${SOURCE_DIR}/cmake/uninstall.cmake)

# Folders that others may use stay.
file(GLOB_RECURSE left LIST_DIRECTORIES true RELATIVE ${prefix} ${prefix}/*)
set(shared bin include lib libexec share share/doc ${LIBDIR} ${LIBDIR}/cmake ${LIBDIR}/pkgconfig
  share/man share/man/man1 share/bash-completion share/bash-completion/completions
  share/fish share/fish/vendor_completions.d share/zsh share/zsh/site-functions)
list(REMOVE_ITEM left ${shared} include/ozbound)
if(NOT left STREQUAL "include/ozbound/of_somebody_else.h")
  message(FATAL_ERROR "An uninstallation must leave what it did not install, and nothing else: ${left}")
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -D MANIFEST=${manifest} -P ${SOURCE_DIR}/cmake/uninstall.cmake
  RESULT_VARIABLE code ERROR_VARIABLE error)
if(code EQUAL 0 OR NOT error MATCHES "Nothing to uninstall")
  message(FATAL_ERROR "A second uninstallation must say that there is nothing: ${error}")
endif()
