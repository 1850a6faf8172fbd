// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// CUDA works only in the process that first used it. A child of fork() inherits its state without the devices: CUDA still
// counts the devices, but later calls fail with an `initialization error`, or wait for locks that are never released.

namespace ozbound::plugin {

/// Marks children of fork() from the first call on. Call it before using a plug-in.
void watch_forks();

/// True if this process was forked after watch_forks; a plug-in loaded before does not work in it.
bool forked_after_loading();

/// The error text for such a child.
inline constexpr const char* obstacle_in_child = "CUDA cannot be used in a child of fork(): it was loaded before the fork";

}  // namespace ozbound::plugin
