# SPDX-License-Identifier: BSD-3-Clause
# Ozbound as part of another project's build (examples/cmake, without an installation). Only its libraries are built, and its
# warnings are no errors there, although each of its own presets makes them errors with the compilers of continuous integration.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(build ${WORK_DIR}/subproject)
if(COMPILE)
  set(build ${WORK_DIR}/subproject_builds)
endif()
configure(${SOURCE_DIR}/examples/cmake ${build} -D FETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER -D OZBOUND_CUDA=OFF
  -D CMAKE_EXPORT_COMPILE_COMMANDS=ON -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=${BUILD_TYPE})

file(READ ${build}/compile_commands.json commands)
if(NOT commands MATCHES "core/src/" OR commands MATCHES "-Werror|core/.*_test.cpp|cli/main.cpp")
  message(FATAL_ERROR "${build}/compile_commands.json has none of core, or '${CMAKE_MATCH_0}'")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target help OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
if(targets MATCHES "uninstall")
  message(FATAL_ERROR "The parent's build has a target uninstall of Ozbound's")
endif()

file(READ ${SOURCE_DIR}/CMakePresets.json presets)
string(JSON last LENGTH "${presets}" configurePresets)
math(EXPR last "${last} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${presets}" configurePresets ${index} name)
  string(JSON parent ERROR_VARIABLE none GET "${presets}" configurePresets ${index} inherits)
  string(JSON strict ERROR_VARIABLE none
    GET "${presets}" configurePresets ${index} cacheVariables OZBOUND_WARNINGS_AS_ERRORS)
  if(NOT parent MATCHES "^(base|release)$" AND NOT strict STREQUAL "ON")
    message(FATAL_ERROR "The preset ${name} takes warnings for no errors")
  endif()
endforeach()

if(COMPILE)
  run(${CMAKE_COMMAND} --build ${build} --target either)
  file(READ ${SOURCE_DIR}/examples/cmake/output.txt expected)
  expect(0 "${expected}" "" ${build}/either)
endif()
