#include <algorithm>

#include "cuda_check.hpp"
#include "ozbound/core/special.hpp"
#include "specials.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256;
constexpr Index most_blocks = 2048;

struct Product {
  DeviceMatrix a, b;
  DeviceSlices a_slices, b_slices;
  DeviceEpilogue epilogue;

  [[nodiscard]] __device__ Index k() const { return a_slices.inner; }
  [[nodiscard]] __device__ bool reads_product() const { return k() > 0 && !is_zero(epilogue.alpha_value()); }
  [[nodiscard]] __device__ bool reads_c0() const { return !is_zero(epilogue.beta_value()); }

  /// The sum of the terms that may be special.
  [[nodiscard]] __device__ SpecialSum sum(Index i, Index j, bool with_product) const {
    SpecialSum result;
    const auto alpha = bits_of(epilogue.alpha_value());
    for (Index l = 0; with_product && l < k(); ++l) result.add(alpha, a.bits(i, l), b.bits(l, j));
    if (reads_c0()) result.add(bits_of(epilogue.beta_value()), epilogue.c0.bits(i, j), bits_of(1.0));
    return result;
  }
};

__global__ void write_specials(const __grid_constant__ Product product) {
  const auto& [a, b, rows, columns, epilogue] = product;
  const bool everywhere = !epilogue.finite_scalars();
  const bool no_terms = !product.reads_product();
  const bool any_vector = !no_terms && (*rows.any_special != 0 || *columns.any_special != 0);
  if (!everywhere && !no_terms && !any_vector && !product.reads_c0()) return;
  const Index m = rows.count, n = columns.count;
  const bool by_row = epilogue.c.row_stride < epilogue.c.col_stride;
  for (Index place = Index{blockIdx.x} * threads + threadIdx.x; place < m * n; place += Index{gridDim.x} * threads) {
    const Index i = by_row ? place % m : place / n, j = by_row ? place / m : place % n;
    const bool of_vectors = any_vector && (rows.special[i] != 0 || columns.special[j] != 0);
    if (!everywhere && !no_terms && !of_vectors && is_finite(epilogue.c0_bits(i, j), binary64)) continue;
    const auto sum = product.sum(i, j, !no_terms && (everywhere || of_vectors));
    const auto bits =
        sum.is_special()
            ? sum.bits(epilogue.c.format())
            : round_sum(WideDyadic<1>{}, 0, epilogue.scalars(), to_dyadic(epilogue.c0_bits(i, j), binary64), 0).bits;
    epilogue.c.set_bits(i, j, bits);
  }
}

}  // namespace

void launch_specials(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceSlices& a_slices, const DeviceSlices& b_slices,
                     const DeviceEpilogue& epilogue, cudaStream_t stream) {
  const Index entries = a_slices.count * b_slices.count;
  if (entries == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, (entries + threads - 1) / threads));
  write_specials<<<blocks, threads, 0, stream>>>({a, b, a_slices, b_slices, epilogue});
  check_launch("write_specials");
}

}  // namespace ozbound::gpu
