# SPDX-License-Identifier: BSD-3-Clause
# The installed tree: find_package(ozbound) gives ozbound::ozbound and ozbound::published, and with COMPONENTS verify also
# ozbound::verify, ozbound::grade and ozbound::literature, so that only those who judge need MPFR and rapidcheck; with gpu,
# where it was built, ozbound::gpu and ozbound::gpu_certify.

include(CMakePackageConfigHelpers)

set(ozbound_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ozbound)

foreach(name IN ITEMS core bounds published plugin gpu gpu_certify api verify plot grade literature)
  if(TARGET ozbound_${name})
    install(EXPORT ozbound-${name} NAMESPACE ozbound:: DESTINATION ${ozbound_package_dir})
  endif()
endforeach()

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
