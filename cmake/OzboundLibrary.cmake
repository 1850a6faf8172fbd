# ozbound_library(NAME SOURCES ... HEADERS ... [LINK ...]): one library of one folder, ozbound::NAME.
#
# Every folder has its own include root (NAME/include), so that an include the design forbids does not compile. HEADERS
# form a file set: each is compiled on its own by the target all_verify_interface_header_sets, and installed.

include(GNUInstallDirs)

find_package(OpenMP REQUIRED COMPONENTS CXX)

# Flags of every target here. Contraction changes bits, and bits are what this project is about.
add_library(ozbound_flags INTERFACE)
target_compile_options(ozbound_flags INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

function(ozbound_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;LINK")
  add_library(ozbound_${name} STATIC ${arg_SOURCES})
  add_library(ozbound::${name} ALIAS ozbound_${name})
  set_target_properties(ozbound_${name} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(ozbound_${name} PUBLIC cxx_std_20)
  target_sources(ozbound_${name} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  target_link_libraries(ozbound_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:ozbound_flags> OpenMP::OpenMP_CXX)
endfunction()
