// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// CUDA works in the process that first asked for it. A child of fork() has its state without its devices: it still counts them,
// and what follows fails with an `initialization error`, or finds locks that nobody will open.

namespace ozbound::plugin {

/// From the first call on, children of fork() are known as such. To be called before a plug-in is asked for anything.
void watch_forks();

/// Whether this process was forked after that: no plug-in that was loaded before works here.
bool forked_after_loading();

/// What such a child is told where it asks for one.
inline constexpr const char* obstacle_in_child = "CUDA cannot be used in a child of fork(): it was loaded before the fork";

}  // namespace ozbound::plugin
