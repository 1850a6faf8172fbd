# SPDX-License-Identifier: BSD-3-Clause
# OpenBLAS::OpenBLAS: the library and its own cblas.h.
#
# Debian keeps several builds side by side. The OpenMP build comes first: it shares the threads of our own OpenMP regions and
# obeys OMP_NUM_THREADS, where the pthread build would start a second pool on the same cores.

find_path(OpenBLAS_INCLUDE_DIR openblas_config.h PATH_SUFFIXES openblas-openmp openblas openblas-pthread)
find_library(OpenBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp openblas openblas-pthread)
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR)

if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
    IMPORTED_LOCATION ${OpenBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OpenBLAS_INCLUDE_DIR})
endif()
