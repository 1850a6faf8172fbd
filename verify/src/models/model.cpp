#include "ozbound/verify/models/model.hpp"

#include <array>

namespace ozbound {

std::span<const Model> all_models() {
  static constexpr std::array<Model, 1> models{{
      {"m3xu", "Ha, Zhang, Kao, Hughes, Ro, Tseng: FP32, complex FP32 and FP64 from 12-bit multipliers"},
  }};
  return models;
}

}  // namespace ozbound
