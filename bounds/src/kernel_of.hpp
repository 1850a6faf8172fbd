#pragma once

#include <string>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/core/cpu_engine.hpp"

namespace ozbound {

template <class E>
std::string kernel_name(const E& engine) {
  if constexpr (requires { engine.kernel().name; }) return std::string(engine.kernel().name);
  return "portable";
}

template <class E>
KernelTile kernel_tile(const E& engine) {
  if constexpr (requires { engine.kernel().rows() + engine.kernel().columns(); })
    return {engine.kernel().rows(), engine.kernel().columns()};
  return {1, 1};
}

}  // namespace ozbound
