# SPDX-License-Identifier: BSD-3-Clause
# The CUDA language and OZBOUND_HAVE_CUDA, where there is an nvcc from 12.5 on; it need not be on the PATH. With
# OZBOUND_ONLY_GPU, or where OZBOUND_CUDA is REQUIRED, it must be there.

set(OZBOUND_HAVE_CUDA OFF)
set(required OFF)
if(OZBOUND_ONLY_GPU OR OZBOUND_CUDA STREQUAL "REQUIRED")
  set(required ON)
endif()

include(CheckLanguage)

if(NOT CMAKE_CUDA_COMPILER)
  find_program(OZBOUND_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(OZBOUND_NVCC)
    set(CMAKE_CUDA_COMPILER ${OZBOUND_NVCC})
  endif()
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(required)
    message(FATAL_ERROR "The CUDA engine needs nvcc, which was not found")
  endif()
  return()
endif()

# Machine code for Turing, and for Hopper with its own instructions; PTX for what lies between and comes later. The preset cuda
# has machine code for Ampere to Ada too, which takes a third longer to compile.
set(OZBOUND_CUDA_ARCHITECTURES "75;90a-real" CACHE STRING "Architectures to compile for, as CMAKE_CUDA_ARCHITECTURES")
set(CMAKE_CUDA_ARCHITECTURES ${OZBOUND_CUDA_ARCHITECTURES})
# No ccache: it preprocesses for the first architecture alone, so that code under __CUDA_ARCH__ >= 900 could change unseen, and
# an object of before be taken.
enable_language(CUDA)
if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
  set(CMAKE_CUDA_STANDARD 20)
else()  # a CMake older than the compiler
  string(APPEND CMAKE_CUDA_FLAGS " -std=c++20")
endif()
find_package(CUDAToolkit REQUIRED)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.5)
  set(OZBOUND_HAVE_CUDA ON)
elseif(required)
  message(FATAL_ERROR "The CUDA engine needs CUDA 12.5 or later, not ${CMAKE_CUDA_COMPILER_VERSION}")
endif()
