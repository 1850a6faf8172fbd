# SPDX-License-Identifier: BSD-3-Clause
# cmake -D VERSION=1.2.3 -D SOURCE_DIR=folder -P version.cmake: fails unless VERSION is the version in the C header (the library
# does not compile with another one), the Fortran module, the citation, and the first entry of the changelog.
cmake_minimum_required(VERSION 3.25)
string(REGEX MATCHALL "[0-9]+" numbers ${VERSION})
list(GET numbers 0 major)
list(GET numbers 1 minor)
list(GET numbers 2 patch)
set(api/include/ozbound.h "#define OZB_VERSION_MAJOR ${major}\n#define OZB_VERSION_MINOR ${minor}\n"
  "#define OZB_VERSION_PATCH ${patch}\n#define OZB_VERSION \"${VERSION}\"\n")
set(api/fortran/ozbound.f90
  "ozb_version_major = ${major}, ozb_version_minor = ${minor}, ozb_version_patch = ${patch}\n")
set(CITATION.cff "\nversion: ${VERSION}\n")

foreach(file IN ITEMS api/include/ozbound.h api/fortran/ozbound.f90 CITATION.cff)
  string(CONCAT expected ${${file}})
  file(READ ${SOURCE_DIR}/${file} text)
  string(FIND "${text}" "${expected}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${file} is not of version ${VERSION}")
  endif()
endforeach()

file(STRINGS ${SOURCE_DIR}/CHANGELOG.md released REGEX "^## [0-9]")
list(GET released 0 released)
file(STRINGS ${SOURCE_DIR}/CITATION.cff cited REGEX "^date-released: ")
string(REGEX REPLACE "^date-released: " "" date "${cited}")
if(NOT released STREQUAL "## ${VERSION} - ${date}")
  message(FATAL_ERROR "CHANGELOG.md's first version is '${released}', not '## ${VERSION} - ${date}'")
endif()
