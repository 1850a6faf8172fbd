// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ozbound/plugin/import.hpp"

namespace ozbound::plugin {

/// The CUDA plug-in, `libozbound_cuda.so`, loaded on the first call and never unloaded. Null if it cannot be used;
/// plugin_obstacle gives the reason. It is searched for
///  1. only at the path in the environment variable OZBOUND_CUDA_PLUGIN, if set; `none`: nowhere. The variable is ignored if it
///    is empty, and in a program with other rights than its caller's (setuid);
///  2. in the folder of the library or program that contains this code, and beside it in ../lib/ozbound, ../lib and the
///    installation's library folder;
///  3. on the system's search path, like any library linked with this code; in a build tree, its top folder.
/// Unless the variable is used, the plug-in is not loaded without a CUDA driver. A child of fork() gets null if its parent had
/// loaded the plug-in. Several threads may call this at once.
const Plugin* cuda_plugin();

/// The reason why the plug-in cannot be used, in one line; empty if it can.
const std::string& plugin_obstacle();

/// A plug-in, or the reason why there is none.
struct Loaded {
  const Plugin* plugin = nullptr;
  std::string obstacle;
};

/// Loads a plug-in from a file, for tests; a name without a slash is searched for on the system's search path. The plug-in is
/// never unloaded.
Loaded load(const std::string& file);

/// The places where the plug-in is searched for, in order. @param variable value of the environment variable, or null @param
/// self the library or program that contains this code
std::vector<std::string> search_order(const char* variable, const std::filesystem::path& self);

}  // namespace ozbound::plugin
