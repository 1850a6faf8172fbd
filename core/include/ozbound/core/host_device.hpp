// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Marks code that affects bits of the result. Any C++20 compiler compiles it for the host, and nvcc for the device.
#ifdef __CUDACC__
#define OZB_HD __host__ __device__
#else
#define OZB_HD
#endif
