# SPDX-License-Identifier: BSD-3-Clause
# Builds the installed examples in one project, so CMake finds the compilers once, and compares their output.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
configure(${CMAKE_CURRENT_LIST_DIR}/examples ${WORK_DIR}/examples -D EXAMPLES=${examples} -D CMAKE_CXX_COMPILER=${CXX}
  "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -D WITH_FORTRAN=${WITH_FORTRAN})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/examples)

# prints(FOLDER PROGRAM [VARIABLE=VALUE]): checks that a program prints its output.txt.
function(prints folder program)
  file(READ ${examples}/${folder}/output.txt expected)
  expect(0 "${expected}" "" ${CMAKE_COMMAND} -E env ${ARGN} ${WORK_DIR}/examples/${folder}/${program})
endfunction()

prints(cpp cancellation)
prints(c rotation)
if(WITH_FORTRAN)
  prints(fortran hilbert)
endif()
prints(cmake either)
prints(complex fourier)
prints(batched turned)

# With a device that is the CPU, without a device, and with the machine's device, which may be another one.
prints(gpu device OZBOUND_CUDA_PLUGIN=${COUNTERFEIT})
set(device ${WORK_DIR}/examples/gpu/device)
expect(2 "" "OZBOUND_CUDA_PLUGIN=none switches CUDA off\n" ${CMAKE_COMMAND} -E env OZBOUND_CUDA_PLUGIN=none ${device})
execute_process(COMMAND ${device} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE error)
message(STATUS "with what there is, ${code}: ${output}${error}")
if(NOT (code EQUAL 0 AND output MATCHES "^cuda: [^\n]*\ncorrectly rounded on both, the same bits\n$" AND error STREQUAL "") AND
   NOT (code EQUAL 2 AND output STREQUAL "" AND error MATCHES "^[^\n]+\n$"))
  message(FATAL_ERROR "${device} must compare two products, or say in a line why not, and exit with 2")
endif()
