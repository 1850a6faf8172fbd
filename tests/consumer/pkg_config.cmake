# SPDX-License-Identifier: BSD-3-Clause
# Links with -lozbound by pkg-config, from a tree that was moved after the installation.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(moved ${WORK_DIR}/moved)
set(programs ${WORK_DIR}/pkg_config)
file(REMOVE_RECURSE ${moved} ${programs})
file(MAKE_DIRECTORY ${programs})
file(COPY ${prefix}/include/ozbound.h ${prefix}/include/ozbound.f90 DESTINATION ${moved}/include)
file(GLOB library ${prefix}/${LIBDIR}/libozbound.so*)
file(COPY ${library} ${prefix}/${LIBDIR}/pkgconfig DESTINATION ${moved}/${LIBDIR})

set(ENV{PKG_CONFIG_PATH} ${moved}/${LIBDIR}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${moved}/${LIBDIR})
expect(0 "${VERSION}\n" "" pkg-config --modversion ozbound)
if(WITH_FORTRAN)
  run(${examples}/pkg-config/build.sh ${programs})
  file(READ ${examples}/pkg-config/output.txt expected)
  expect(0 "${expected}" "" sh -c "cd ${programs} && ./residual && ./norm")
endif()

# libozbound.so finds the CUDA plug-in beside it. The file that replaces the driver only has to exist.
file(COPY_FILE ${COUNTERFEIT} ${moved}/${LIBDIR}/libozbound_cuda.so)
file(COPY_FILE ${COUNTERFEIT} ${moved}/${LIBDIR}/libcuda.so.1)
run(sh -c "cc ${examples}/gpu/device.c $(pkg-config --cflags --libs ozbound) -o ${programs}/device")
file(READ ${examples}/gpu/output.txt expected)
expect(0 "${expected}" "" ${programs}/device)
