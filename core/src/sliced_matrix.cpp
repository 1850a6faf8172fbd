// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/sliced_matrix.hpp"

#include <algorithm>
#include <array>

#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"

namespace ozbound {
namespace {

constexpr Index scales_together = 512;  // vectors measured together; one element of each may be contiguous

// Finite magnitudes, including subnormals, are ordered like their bit patterns without the sign; Inf and NaN are above all of
// them. The integers are signed, since there are more vector instructions for signed than for unsigned ones.

std::int64_t magnitude_bits(double x) { return static_cast<std::int64_t>(bits_of(x) & ~binary64.sign); }
std::int64_t magnitude_bits(float x) { return static_cast<std::int64_t>(bits_of(x) & ~binary32.sign); }

template <class T>
[[gnu::always_inline]] inline void raise_each(const T* x, Index count, std::int64_t* tops) {
  for (Index i = 0; i < count; ++i) tops[i] = std::max(tops[i], magnitude_bits(x[i]));
}
OZB_MULTIVERSION void raise_tops(const double* x, Index count, std::int64_t* tops) { raise_each(x, count, tops); }
OZB_MULTIVERSION void raise_tops(const float* x, Index count, std::int64_t* tops) { raise_each(x, count, tops); }

template <class T>
[[gnu::always_inline]] inline std::int64_t largest_of(const T* x, Index count) {
  std::int64_t top = 0;
  for (Index l = 0; l < count; ++l) top = std::max(top, magnitude_bits(x[l]));
  return top;
}
OZB_MULTIVERSION std::int64_t top_of(const double* x, Index count) { return largest_of(x, count); }
OZB_MULTIVERSION std::int64_t top_of(const float* x, Index count) { return largest_of(x, count); }

/// Scales of a few vectors.
template <class T>
void find_scales(MatrixView<const T> vectors, Encoding encoding, VectorScale* scales) {
  constexpr Format format = sizeof(T) == sizeof(double) ? binary64 : binary32;
  const Index count = vectors.rows(), inner = vectors.cols();
  std::array<std::int64_t, scales_together> tops{};
  if (vectors.row_stride() == 1) {  // the elements of several vectors are contiguous
    for (Index l = 0; l < inner; ++l) {
      poll_cancelled();
      raise_tops(&vectors(0, l), count, tops.data());
    }
  } else {
    for (Index i = 0; i < count; ++i) {
      poll_cancelled();
      auto& top = tops[static_cast<std::size_t>(i)];
      if (vectors.col_stride() == 1 && inner > 0)
        top = top_of(&vectors(i, 0), inner);
      else
        for (Index l = 0; l < inner; ++l) top = std::max(top, magnitude_bits(vectors(i, l)));
    }
  }
  for (Index i = 0; i < count; ++i) {
    const auto top = static_cast<std::uint64_t>(tops[static_cast<std::size_t>(i)]);
    scales[i] =
        is_finite(top, format) ? VectorScale{encoding.scale_exponent(to_dyadic(top, format)), false} : VectorScale{0, true};
  }
}

}  // namespace

InputView vectors_of(InputView operand, Side side) { return side == Side::rows_of_a ? operand : operand.transposed(); }

std::vector<VectorScale> vector_scales(InputView operand, Side side, Encoding encoding, int threads) {
  const auto vectors = vectors_of(operand, side);
  const Index count = vectors.rows();
  std::vector<VectorScale> scales(static_cast<std::size_t>(count));
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) if (count > scales_together)
  for (Index first = 0; first < count; first += scales_together)
    failure.run([&] {
      std::visit(
          [&](const auto& typed) {
            find_scales(typed.block(first, 0, std::min(scales_together, count - first), typed.cols()), encoding,
                        &scales[static_cast<std::size_t>(first)]);
          },
          vectors.typed());
    });
  failure.rethrow();
  return scales;
}

}  // namespace ozbound
