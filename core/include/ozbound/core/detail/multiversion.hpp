// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A loop that the compiler vectorises, compiled once for each of these and picked when the program starts. Sanitized builds run
// before their runtime is ready then, and clang needs no help to stay portable: both take the plain loop.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define OZB_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OZB_MULTIVERSION
#endif
