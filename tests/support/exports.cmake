# SPDX-License-Identifier: BSD-3-Clause
# cmake -D NM=nm -D FILE=library (-D SYMBOL=name | -D HEADER=header.h [-D MODULE=module.f90]) -P exports.cmake: fails unless the
# dynamic symbols defined by FILE are exactly the function SYMBOL, or the functions that HEADER declares, each once. MODULE must
# bind the same functions.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${FILE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE " T [0-9a-f]+ [0-9a-f]*\n" ";" symbols "${symbols}")
list(REMOVE_ITEM symbols "")

if(SYMBOL)
  set(declared ${SYMBOL})
else()
  file(READ ${HEADER} text)
  string(REGEX REPLACE "/\\*([^*]|\\*[^/])*\\*/" "" text "${text}")
  string(REGEX MATCHALL "ozb_[a-z_]+\\(" declared "${text}")
  list(TRANSFORM declared REPLACE "\\(" "")
endif()

function(compare left right what)
  list(REMOVE_ITEM left ${right})
  if(left)
    list(LENGTH left count)
    list(SUBLIST left 0 20 left)
    list(JOIN left "\n" left)
    message(FATAL_ERROR "${count} ${what}:\n${left}")
  endif()
endfunction()
compare("${symbols}" "${declared}" "symbols of ${FILE} that must not be seen")
compare("${declared}" "${symbols}" "functions that ${FILE} does not define")

if(MODULE)
  file(READ ${MODULE} text)
  string(REGEX MATCHALL "(function|subroutine) ozb_[a-z_]+\\([^)]*\\) bind\\(c\\)" bound "${text}")
  list(TRANSFORM bound REPLACE "^[a-z]+ (ozb_[a-z_]+).*" "\\1")
  compare("${declared}" "${bound}" "functions that ${MODULE} does not bind")
  compare("${bound}" "${declared}" "functions that ${MODULE} binds and ${HEADER} does not declare")
endif()
