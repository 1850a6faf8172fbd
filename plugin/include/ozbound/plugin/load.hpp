// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ozbound/plugin/import.hpp"

namespace ozbound::plugin {

/// The CUDA plug-in, `libozbound_cuda.so`, loaded when this is first called and never unloaded; null where it cannot be used:
/// plugin_obstacle says why. It is looked for
///  1. where the environment variable OZBOUND_CUDA_PLUGIN says, a path, and nowhere else; `none`: nowhere. The variable counts
///     for nothing in a program with other rights than its caller's (setuid), nor where it is empty;
///  2. in the folder of the library or program that this code is part of, and in ../lib/ozbound, ../lib and the installation's
///     library folder beside it;
///  3. on the system's search path, as any library that this code was linked with: in a build tree its top folder.
/// Unless the variable counts it is not loaded where there is no CUDA driver. A child of fork() has none where its parent had
/// loaded it. May be called by several threads at once.
const Plugin* cuda_plugin();

/// Why it cannot be used, in a line; empty where it can.
const std::string& plugin_obstacle();

/// One of the two.
struct Loaded {
  const Plugin* plugin = nullptr;
  std::string obstacle;
};

/// A plug-in from a file, for tests; without a slash in its name from the system's search path. It is never unloaded.
Loaded load(const std::string& file);

/// Where the plug-in is looked for under `variable`, the environment's or null, by code that is part of `self`, in order.
std::vector<std::string> search_order(const char* variable, const std::filesystem::path& self);

}  // namespace ozbound::plugin
