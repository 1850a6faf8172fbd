// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/plugin/load.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <system_error>

#include "fork_watch.hpp"

namespace ozbound::plugin {
namespace {

constexpr const char* file_name = "libozbound_cuda.so";
constexpr const char* missing = "this installation has no CUDA plug-in: libozbound_cuda.so";

std::string in_a_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The dynamic loader's message, without the file name at its beginning.
std::string loader_error(const std::string& file) {
  const char* const error = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
  const std::string text = error == nullptr ? "the loader does not say why" : error;
  return text.rfind(file + ": ", 0) == 0 ? text.substr(file.size() + 2) : text;
}

/// The library or program that contains this code; empty if unknown.
std::filesystem::path self() {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&self), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  // The program's name in the link map is the one given by its caller, which cannot be trusted.
  const bool program = map == nullptr || map->l_name == nullptr || map->l_name[0] == 0;
  std::error_code error;
  auto path = std::filesystem::canonical(program ? "/proc/self/exe" : map->l_name, error);
  return error ? std::filesystem::path() : path;
}

/// True if a CUDA driver is installed. Without one, the plug-in, which links cuBLAS, need not be loaded.
bool has_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

Loaded load_first() {
  const char* variable = secure_getenv("OZBOUND_CUDA_PLUGIN");  // NOLINT(concurrency-mt-unsafe): only read
  if (variable != nullptr && variable[0] == 0) variable = nullptr;
  if (variable == nullptr && !has_driver()) return {nullptr, "there is no CUDA driver here"};
  for (const auto& file : search_order(variable, self())) {
    std::error_code error;
    const bool on_path = file.find('/') == std::string::npos;
    if (variable != nullptr || on_path || std::filesystem::exists(file, error)) {
      auto found = load(file);
      // The system's search path lacks the plug-in: the loader names no other library than the requested one.
      if (on_path && found.obstacle.find("cannot be loaded: cannot open shared object file") != std::string::npos) break;
      return found;
    }
  }
  return {nullptr, variable != nullptr ? "OZBOUND_CUDA_PLUGIN=none switches CUDA off" : missing};
}

const Loaded& loaded() {
  static const auto& once = *new Loaded(load_first());  // never destroyed: programs may use it during their exit
  static const auto& in_child = *new Loaded{nullptr, obstacle_in_child};
  return once.plugin != nullptr && forked_after_loading() ? in_child : once;
}

}  // namespace

std::vector<std::string> search_order(const char* variable, const std::filesystem::path& self) {
  if (variable != nullptr && std::string_view(variable) == "none") return {};
  if (variable != nullptr) {
    std::error_code error;
    const auto path = std::filesystem::absolute(variable, error);  // always a path, even without a slash
    return {error ? variable : path.string()};
  }
  std::vector<std::string> order;
  if (!self.empty()) {
    const auto folder = self.parent_path();
    for (const auto* const beside : {".", "../lib/ozbound", "../lib", "../" OZBOUND_LIBDIR}) {
      const auto file = (folder / beside / file_name).lexically_normal().string();
      if (std::find(order.begin(), order.end(), file) == order.end()) order.push_back(file);
    }
  }
  order.emplace_back(file_name);
  return order;
}

Loaded load(const std::string& file) {
  try {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {nullptr, in_a_line(file + " cannot be loaded: " + loader_error(file))};
    watch_forks();
    auto* const entry = reinterpret_cast<ozbound_plugin_function*>(dlsym(library, "ozbound_plugin"));
    const auto* const table = entry == nullptr ? nullptr : entry(OZBOUND_PLUGIN_VERSION);
    if (const auto wrong = mismatch(table); table == nullptr || !wrong.empty()) return {nullptr, in_a_line(file + " " + wrong)};
    auto plugin = std::make_unique<const Plugin>(*table);
    if (const auto why = plugin->obstacle(); !why.empty()) return {nullptr, in_a_line(why)};
    return {plugin.release(), ""};
  } catch (const std::exception& e) {
    return {nullptr, in_a_line(file + ": " + e.what())};
  }
}

const Plugin* cuda_plugin() { return loaded().plugin; }

const std::string& plugin_obstacle() { return loaded().obstacle; }

}  // namespace ozbound::plugin
