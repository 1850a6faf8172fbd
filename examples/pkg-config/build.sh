#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ./build.sh [FOLDER]: both programs, into FOLDER. Where Ozbound is not among the system's libraries, PKG_CONFIG_PATH names the
# folder of ozbound.pc, and LD_LIBRARY_PATH that of libozbound.so when they run.
set -eu
sources=$(dirname "$0")
cd "${1-.}"

cc "$sources/residual.c" $(pkg-config --cflags --libs ozbound) -o residual
gfortran "$(pkg-config --variable=fortran_module ozbound)" "$sources/norm.f90" $(pkg-config --libs ozbound) -o norm
