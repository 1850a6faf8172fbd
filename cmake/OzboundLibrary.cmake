# SPDX-License-Identifier: BSD-3-Clause
# ozbound_library(NAME [NOT_INSTALLED] [BY_SOURCE] [SOURCES ...] [HEADERS ...] [LINK ...]): one library of one folder,
# ozbound::NAME, installed and exported in the set ozbound-NAME. SOURCES defaults to every src/*.cpp, HEADERS to everything
# under include/ but what is in a folder detail/: that is for this project's own sources, and is not installed. BY_SOURCE: what
# benches measure is compiled source by source where they are built, whatever CMAKE_UNITY_BUILD says, since the compiler inlines
# by the unit.
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

# False alarms of GCC: before 13 about std::string's operator+ (its bug 105651), from 13 on about Boost.Multiprecision's shifts.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(false_alarms -Wno-restrict)
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

# ozbound_apart(SOURCE...): these are units of their own in a unity build: a name without linkage of theirs is another source's
# too.
function(ozbound_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(ozbound_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NOT_INSTALLED;BY_SOURCE" "" "SOURCES;HEADERS;LINK")
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
  target_sources(ozbound_${name} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  target_link_libraries(ozbound_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:ozbound_flags> OpenMP::OpenMP_CXX)
  if(arg_BY_SOURCE AND OZBOUND_BUILD_BENCH)
    set_target_properties(ozbound_${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(NOT arg_NOT_INSTALLED)
    install(TARGETS ozbound_${name} EXPORT ozbound-${name} FILE_SET HEADERS)
  endif()
endfunction()
