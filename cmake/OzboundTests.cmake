# SPDX-License-Identifier: BSD-3-Clause
# ozbound_tests(NAME [FOLDER FOLDER] LINK ...): the GoogleTest cases of tests/FOLDER, or tests/NAME, labelled NAME.
#
# *_test.cpp become ozbound_NAME_tests; *_long_test.cpp become ozbound_NAME_long_tests, labelled NAME-long, which only
# `./dev test --long` runs. New files appear without an edit. Includes may start at tests/. Each file has a namespace of its
# own, ozbound::FILE, since several are one unit (ozbound_units).

find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)

function(ozbound_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "LINK")
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${arg_FOLDER}/*_test.cpp)
  set(long_sources ${sources})
  list(FILTER sources EXCLUDE REGEX "_long_test\\.cpp$")
  list(FILTER long_sources INCLUDE REGEX "_long_test\\.cpp$")
  ozbound_test_program(ozbound_${name}_tests "${sources}" "${arg_LINK}" ${name} 600)  # a hang, also under sanitizers
  ozbound_test_program(ozbound_${name}_long_tests "${long_sources}" "${arg_LINK}" ${name}-long 1800)
endfunction()

function(ozbound_test_program target sources link label timeout)
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  # The classes of numbers and cases that tests draw are those of the properties, headers of bounds and verify.
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/bounds/include
    ${PROJECT_SOURCE_DIR}/verify/include ${PROJECT_SOURCE_DIR}/verify/src)
  target_link_libraries(${target} PRIVATE
    ${link} ozbound_flags OpenMP::OpenMP_CXX rapidcheck::rapidcheck GTest::gmock GTest::gtest_main)
  # The libraries under test have -O3; tests take half the time to compile without it. Tests of core are optimised, since much
  # of what they test is inline, and tests of verify, which spend their time in headers of Boost.
  if(target MATCHES "^ozbound_(core|verify)_(long_)?tests$")
    set(level -O1)
    set(first ozbound_core_tests)
  else()
    set(level -O0)
    set(first ozbound_process_tests)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  # The first of the programs of each level has the headers precompiled for all.
  if(TARGET ${first} AND NOT target STREQUAL first)
    ozbound_precompile_headers(${target} REUSE_FROM ${first})
  else()
    ozbound_precompile_headers(${target}
      <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h> <nlohmann/json.hpp> <algorithm> <functional> <map> <random> <vector>)
  endif()
  ozbound_units(${target})
  gtest_discover_tests(${target}
    DISCOVERY_MODE PRE_TEST  # so that the sanitizers' run-time options of the test presets hold
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${timeout} LABELS ${label})
endfunction()
