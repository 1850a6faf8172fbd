#include "ozbound/verify/models/model.hpp"

#include <array>

namespace ozbound {

std::span<const Model> all_models() {
  static constexpr std::array<Model, 3> models{{
      {"m3xu", "Ha, Zhang, Kao, Hughes, Ro, Tseng: FP32, complex FP32 and FP64 from 12-bit multipliers"},
      {"multiword", "Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur: binary32 products from words of 16 bits, (3) to (5)"},
      {"tensor-core", "products of short numbers, aligned and accumulated in binary32: width and rounding are parameters"},
  }};
  return models;
}

}  // namespace ozbound
