# SPDX-License-Identifier: BSD-3-Clause
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
configure(${CMAKE_CURRENT_LIST_DIR}/cxx ${WORK_DIR}/cxx -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${CXX}
  "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -D WITH_VERIFY=${WITH_VERIFY})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/cxx)
run(${WORK_DIR}/cxx/cxx)
