// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Marks what affects a bit of the result: compiled for the host by any C++20 compiler and for the device by nvcc.
#ifdef __CUDACC__
#define OZB_HD __host__ __device__
#else
#define OZB_HD
#endif
