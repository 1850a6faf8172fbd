// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound {

/// How many threads an OpenMP region may have, of those that are wanted: all of them, but 1 in a process that was forked after
/// the first call of this function. OpenMP's workers are not in a child of fork(), and a region that counts on them never ends.
/// In such a child OpenMP's own default becomes 1 too. @pre wanted >= 1. Safe to call from many threads.
int usable_threads(int wanted);

}  // namespace ozbound
