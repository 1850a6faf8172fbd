# SPDX-License-Identifier: BSD-3-Clause
# The installed tree: libraries, headers and programs by their own folders' rules; here how they are found, by CMake
# (ozbound-config.cmake.in) and by pkg-config (ozbound.pc.in), the documents and examples, and how all of it goes away again.

include(CMakePackageConfigHelpers)

set(ozbound_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ozbound)
set(ozbound_doc_dir ${CMAKE_INSTALL_DATAROOTDIR}/doc/ozbound)

foreach(name IN ITEMS core bounds published plugin gpu gpu_certify api c verify plot grade literature)
  if(TARGET ozbound_${name})
    install(EXPORT ozbound-${name} NAMESPACE ozbound:: DESTINATION ${ozbound_package_dir})
  endif()
endforeach()

set(ozbound_built c cxx)
if(TARGET ozbound_verify)
  list(APPEND ozbound_built verify)
endif()
if(TARGET ozbound_gpu_certify)
  list(APPEND ozbound_built gpu)
endif()
get_directory_property(OpenBLAS_FOUND DIRECTORY ${PROJECT_SOURCE_DIR}/api DEFINITION OpenBLAS_FOUND)
configure_package_config_file(cmake/ozbound-config.cmake.in ${PROJECT_BINARY_DIR}/ozbound-config.cmake
  INSTALL_DESTINATION ${ozbound_package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ozbound-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/ozbound-config.cmake
  ${PROJECT_BINARY_DIR}/ozbound-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLAS.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindMPFR.cmake
  ${PROJECT_SOURCE_DIR}/cmake/Findrapidcheck.cmake
  DESTINATION ${ozbound_package_dir})

# Paths of ozbound.pc start at its own place, so that the tree can be moved; an absolute folder stays what it is.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE ozbound_pc_up)
cmake_path(APPEND ozbound_pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(APPEND ozbound_pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/ozbound.pc.in ${PROJECT_BINARY_DIR}/ozbound.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ozbound.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES
  ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/LICENSE
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  ${PROJECT_SOURCE_DIR}/CITATION.cff
  ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  DESTINATION ${ozbound_doc_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${ozbound_doc_dir}
  USE_SOURCE_PERMISSIONS)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND}
      -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    VERBATIM)
endif()
