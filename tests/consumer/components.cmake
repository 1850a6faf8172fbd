# SPDX-License-Identifier: BSD-3-Clause
# A missing component that a project requests is refused by name. The project asks/ has no language.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

# A copy of the package without the components that need more than C++.
set(copy ${WORK_DIR}/few_components)
file(REMOVE_RECURSE ${copy})
file(COPY ${prefix}/${LIBDIR}/cmake DESTINATION ${copy}/${LIBDIR})
file(COPY ${prefix}/include/ozbound.f90 DESTINATION ${copy}/include)
file(GLOB library ${prefix}/${LIBDIR}/libozbound.so*)
file(COPY ${library} DESTINATION ${copy}/${LIBDIR})
set(config ${copy}/${LIBDIR}/cmake/ozbound/ozbound-config.cmake)
file(READ ${config} text)
string(REGEX REPLACE "set\\(ozbound_built \"[^\"]*\"\\)" "set(ozbound_built \"c;cxx\")" text "${text}")
file(WRITE ${config} "${text}")

# ask(EXPECTED ARGUMENT...): EXPECTED is the message, or `found`.
function(ask expected)
  list(JOIN ARGN " " arguments)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/asks -B ${WORK_DIR}/asks -G ${GENERATOR}
    -D ozbound_DIR=${copy}/${LIBDIR}/cmake/ozbound "-DARGUMENTS=${ARGN}"
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " said "${output} ${error}")
  string(FIND "${said}" "${expected}" place)
  if(place EQUAL -1 OR (expected STREQUAL "found" AND code) OR NOT (expected STREQUAL "found" OR code))
    message(FATAL_ERROR "find_package(ozbound ${arguments}) must say '${expected}'; it says\n${output}${error}")
  endif()
endfunction()

ask("found" REQUIRED)
ask("found" REQUIRED COMPONENTS c)
ask("found" REQUIRED COMPONENTS c OPTIONAL_COMPONENTS gpu cuda)
ask("Ozbound's component 'verify' was not built" REQUIRED COMPONENTS c verify)
ask("Ozbound's component 'gpu' was not built" REQUIRED COMPONENTS gpu)
ask("Ozbound has no component 'cuda': of c, cxx, verify and gpu these were built: c, cxx" REQUIRED COMPONENTS cuda)
ask("Ozbound's component 'cxx' is of C++, and the project's languages do not include CXX" REQUIRED COMPONENTS cxx)
ask("0.1" 0.1 REQUIRED)  # another minor version
