# SPDX-License-Identifier: BSD-3-Clause
# A project only in C needs no C++ compiler, and CMake does not look for the libraries of C++.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(ENV{CXX} /there/is/none)
configure(${examples}/c ${WORK_DIR}/c_alone)
file(READ ${WORK_DIR}/c_alone/CMakeCache.txt cache)
if(cache MATCHES "\n((OpenMP|nlohmann|OpenBLAS|CMAKE_CXX)[A-Za-z_]*)")
  message(FATAL_ERROR "A project of C alone has ${CMAKE_MATCH_1} in its cache")
endif()
run(${CMAKE_COMMAND} --build ${WORK_DIR}/c_alone)
file(READ ${examples}/c/output.txt expected)
expect(0 "${expected}" "" ${WORK_DIR}/c_alone/rotation)
