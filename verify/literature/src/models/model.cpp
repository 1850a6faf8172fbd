// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/model.hpp"

#include <array>

namespace ozbound {

std::span<const Model> all_models() {
  static constexpr std::array<Model, 7> models{{
      {"cublas", "cuBLAS 13.0 and 13.1, FP64 emulation by fixed point (eager), as probed on an H200: 8 to 64 mantissa bits"},
      {"fp16-slices", "Mukunoki, Ozaki, Ogita, Imamura, Algorithms 1 to 3: slices of binary16 with sums in binary32"},
      {"gemmul8-scaling", "GEMMul8 3.0.5, fast mode: its scaling, its moduli and its INT32 sums"},
      {"m3xu", "Ha, Zhang, Kao, Hughes, Ro, Tseng: FP32, complex FP32 and FP64 from 12-bit multipliers"},
      {"multiword", "Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur: binary32 products from words of 16 bits, (3) to (5)"},
      {"tensor-core", "products of short numbers, aligned and accumulated in binary32: width and rounding are parameters"},
      {"unit-slices", "Ootomo, Ozaki, Yokota, Table 2 and section 3.2: slices on INT4, INT8 and INT12 units"},
  }};
  return models;
}

}  // namespace ozbound
