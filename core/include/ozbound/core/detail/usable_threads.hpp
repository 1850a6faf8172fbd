// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound {

/// Number of threads, out of `wanted`, that an OpenMP region may use: all of them, but only 1 in a process forked after the
/// first call of this function. OpenMP's workers do not exist in a child of fork(), and a region that counts on them never
/// ends. In such a child, OpenMP's own default becomes 1 too. @pre wanted >= 1. Many threads may call it at once.
int usable_threads(int wanted);

}  // namespace ozbound
