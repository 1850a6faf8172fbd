#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ./build.sh [FOLDER]: builds both programs into FOLDER. If Ozbound is not among the system's libraries, set PKG_CONFIG_PATH to
# the folder of ozbound.pc, and LD_LIBRARY_PATH to that of libozbound.so to run the programs.
set -eu
sources=$(dirname "$0")
cd "${1-.}"

cc "$sources/residual.c" $(pkg-config --cflags --libs ozbound) -o residual
gfortran "$(pkg-config --variable=fortran_module ozbound)" "$sources/norm.f90" $(pkg-config --libs ozbound) -o norm
