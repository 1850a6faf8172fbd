# SPDX-License-Identifier: BSD-3-Clause
# cmake -D MANIFEST=install_manifest.txt -P uninstall.cmake: removes what an installation wrote, by the list that it left
# behind, the folders within one named ozbound that this leaves empty, and the list.
cmake_minimum_required(VERSION 3.25)

if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "Nothing to uninstall: there is no ${MANIFEST}, which `cmake --install` writes")
endif()

file(STRINGS ${MANIFEST} files)
set(removed 0)
set(folders "")
foreach(file IN LISTS files)
  set(file $ENV{DESTDIR}${file})
  cmake_path(GET file PARENT_PATH folder)
  list(APPEND folders ${folder})
  if(EXISTS ${file} OR IS_SYMLINK ${file})
    file(REMOVE ${file})
    if(EXISTS ${file} OR IS_SYMLINK ${file})
      message(FATAL_ERROR "${file} cannot be removed")
    endif()
    math(EXPR removed "${removed} + 1")
  endif()
endforeach()

list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  while(folder MATCHES "/ozbound(/|$)")
    execute_process(COMMAND rmdir ${folder} RESULT_VARIABLE occupied ERROR_QUIET)
    if(occupied AND IS_DIRECTORY ${folder})
      break()
    endif()
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()

file(REMOVE ${MANIFEST})
list(LENGTH files listed)
message(STATUS "Removed ${removed} of ${listed} files")
