// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/last_bits.hpp"

#include <algorithm>
#include <bit>

#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/first_exception.hpp"

namespace ozbound {

std::vector<std::int32_t> last_bits(InputView operand, Side side, int threads) {
  const auto vectors = vectors_of(operand, side);
  std::vector<std::int32_t> lasts(static_cast<std::size_t>(vectors.rows()), no_last_bit);
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < vectors.rows(); ++i)
    failure.run([&] {
      poll_cancelled();
      auto& last = lasts[static_cast<std::size_t>(i)];
      for (Index l = 0; l < vectors.cols(); ++l) {
        if (!is_finite(vectors.bits(i, l), binary64)) continue;
        const auto x = vectors.element(i, l);
        if (x.magnitude != 0) last = std::min(last, x.exponent + std::countr_zero(x.magnitude));
      }
    });
  failure.rethrow();
  return lasts;
}

}  // namespace ozbound
