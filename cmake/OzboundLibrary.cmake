# SPDX-License-Identifier: BSD-3-Clause
# ozbound_library(NAME [NOT_INSTALLED] [UNITS] [SOURCES ...] [HEADERS ...] [LINK ...]): one library of one folder,
# ozbound::NAME, installed and exported in the set ozbound-NAME. UNITS: see ozbound_units. SOURCES defaults to every src/*.cpp,
# HEADERS to everything under include/ but what is in a folder detail/: that is for this project's own sources, and is not
# installed.
#
# Every folder, and every room in one (verify/grade), has its own include root (NAME/include), so that an include the design
# forbids does not compile. HEADERS form a file set: each is compiled on its own by the target
# all_verify_interface_header_sets, and installed.

include(GNUInstallDirs)

find_package(OpenMP REQUIRED COMPONENTS CXX)

# Flags of every target here. Contraction changes bits, and bits are what this project is about.
#
# -frounding-math: a caller may round in any mode, and tests do. A compiler that takes the mode for a constant may fold an
# operation at compile time, or move it past the call that sets the mode up (FloatEnvironment) or restores it. To nearest the
# flag changes no bit: it only forbids what is wrong in other modes. It keeps clang from vectorising; files of loops alone,
# which are entered with the mode set up and never change it, have -fno-rounding-math (core/CMakeLists.txt). GCC 12 makes the
# same machine code of every other file of core and of the kernels with the flag and without.
add_library(ozbound_flags INTERFACE)
target_compile_options(ozbound_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off;-frounding-math>
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wsign-conversion>
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-Xfatbin=-compress-all;-Xcompiler=-ffp-contract=off,-Wall,-Wextra>)

# False alarms of GCC: before 13 about std::string's operator+ (its bug 105651), which a precompiled header does not mark as the
# system's; from 13 on about Boost.Multiprecision's shifts.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(false_alarms -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(false_alarms -Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized -Wno-aggressive-loop-optimizations)
endif()
target_compile_options(ozbound_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${false_alarms}>")

# A newer compiler has warnings that nobody here has seen yet. They must not keep a user from building.
set(ci_compilers "GNU 12" "Clang 14")
string(REGEX MATCH "^[0-9]+" compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
if(OZBOUND_WARNINGS_AS_ERRORS AND "${CMAKE_CXX_COMPILER_ID} ${compiler_major}" IN_LIST ci_compilers)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(OZBOUND_CCACHE ccache)
if(OZBOUND_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OZBOUND_CCACHE})
endif()

# Precompiled headers, where the compiler takes them for any definitions of macros, and no ccache has to find the same again.
function(ozbound_precompile_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    if(ARGV1 STREQUAL "REUSE_FROM")
      target_precompile_headers(${target} REUSE_FROM ${ARGV2})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()

# ozbound_units(TARGET): compiles sources of TARGET together, three units a folder by their first letters: a to d, e to o, p to
# z. A source's unit depends on its own name alone, so that it is the same in every preset, and a new source changes no other's
# unit. Only for what nobody measures the speed of: judges, commands, tests. Libraries that multiply are compiled source by
# source, since the compiler inlines by the unit.
option(OZBOUND_UNITS "Compile sources of judges, commands and tests together; off for tools that read single sources" ON)
mark_as_advanced(OZBOUND_UNITS)
function(ozbound_units target)
  if(NOT OZBOUND_UNITS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    cmake_path(GET path STEM stem)
    foreach(letters IN ITEMS a-d e-o p-z)
      if(stem MATCHES "^[${letters}]")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}-${letters})
      endif()
    endforeach()
  endforeach()
endfunction()

# ozbound_apart(SOURCE...): these are units of their own: a name without linkage of theirs is another source's too, or a program
# links a copy of its own.
function(ozbound_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The headers that the libraries' sources share, precompiled once for all of them.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
add_library(ozbound_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
target_compile_features(ozbound_precompiled PRIVATE cxx_std_20)
target_link_libraries(ozbound_precompiled PRIVATE ozbound_flags OpenMP::OpenMP_CXX)
ozbound_precompile_headers(ozbound_precompiled
  <algorithm> <array> <atomic> <cmath> <complex> <functional> <limits> <map> <memory> <mutex> <optional> <span> <sstream>
  <stdexcept> <string> <utility> <variant> <vector>)  # a larger one takes longer to read than most sources save

function(ozbound_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NOT_INSTALLED;UNITS" "" "SOURCES;HEADERS;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ozbound_library(${name}): ${arg_UNPARSED_ARGUMENTS} is not known")
  endif()
  if(NOT arg_SOURCES)
    file(GLOB_RECURSE arg_SOURCES CONFIGURE_DEPENDS src/*.cpp)
  endif()
  if(NOT arg_HEADERS)
    file(GLOB_RECURSE arg_HEADERS CONFIGURE_DEPENDS include/*.hpp include/*.h)
    list(FILTER arg_HEADERS EXCLUDE REGEX "/detail/")
  endif()

  add_library(ozbound_${name} STATIC ${arg_SOURCES})
  add_library(ozbound::${name} ALIAS ozbound_${name})
  set_target_properties(ozbound_${name} PROPERTIES
    EXPORT_NAME ${name}
    VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(ozbound_${name} PUBLIC cxx_std_20)
  ozbound_precompile_headers(ozbound_${name} REUSE_FROM ozbound_precompiled)
  target_sources(ozbound_${name} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  target_link_libraries(ozbound_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:ozbound_flags> OpenMP::OpenMP_CXX)
  if(arg_UNITS)
    ozbound_units(ozbound_${name})
  endif()
  if(NOT arg_NOT_INSTALLED)
    install(TARGETS ozbound_${name} EXPORT ozbound-${name} FILE_SET HEADERS)
  endif()
endfunction()
