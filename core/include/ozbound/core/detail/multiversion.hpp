// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Marks a loop that the compiler vectorises. The loop is compiled once for each target below, and a version is picked when the
// program starts. Sanitized builds take the plain loop, since the pick would run before their runtime is ready. Clang, which
// has no arch=x86-64-v4 here, takes it too.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define OZB_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OZB_MULTIVERSION
#endif
