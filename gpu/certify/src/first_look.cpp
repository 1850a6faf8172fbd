// SPDX-License-Identifier: BSD-3-Clause
#include "first_look.hpp"

#include <algorithm>
#include <numeric>

#include "slicing.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

constexpr Slicing one_digit{Encoding::balanced(), 1};

std::uint64_t sum_of(const std::vector<std::uint64_t>& words) {
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

}  // namespace

FirstLooks::FirstLooks(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, cudaStream_t stream) {
  Arena needed;
  take(needed, m, n, k);
  memory_ = Memory(needed.used(), stream);
  auto arena = memory_.arena();
  take(arena, m, n, k);
  launch_first_looks({a, a_, k, 1}, {transposed(b), b_, 1, n}, stream);
}

void FirstLooks::take(Arena& arena, Index m, Index n, Index k) {
  const std::size_t begin = arena.used();
  a_.prints = arena.take<std::uint64_t>(FirstLook::print_words);
  b_.prints = arena.take<std::uint64_t>(FirstLook::print_words);
  loose_ = arena.take<std::uint32_t>(1);
  auto* const row_exponents = arena.take<std::int32_t>(m);
  auto* const column_exponents = arena.take<std::int32_t>(n);
  auto* const rows = arena.take<std::uint8_t>(m);
  auto* const columns = arena.take<std::uint8_t>(n);
  report_bytes_ = arena.used() - begin;
  a_.digits = take_slices(arena, false, one_digit, m, k);
  b_.digits = take_slices(arena, true, one_digit, n, k);
  a_.digits.exponents = row_exponents, a_.digits.special = rows;
  b_.digits.exponents = column_exponents, b_.digits.special = columns;
  a_.sums = arena.take<std::int64_t>(m);
  b_.sums = arena.take<std::int64_t>(n);
}

FirstLooks::Report FirstLooks::report(cudaStream_t stream) const {
  const HostBlock copied(a_.prints, reinterpret_cast<const std::uint8_t*>(a_.prints) + report_bytes_, stream);
  const auto &rows = a_.digits, &columns = b_.digits;
  return {sum_of(copied.part(a_.prints, FirstLook::print_words)),
          sum_of(copied.part(b_.prints, FirstLook::print_words)),
          copied.part(loose_, 1)[0] != 0,
          copied.part(rows.exponents, rows.count),
          copied.part(columns.exponents, columns.count),
          copied.part(rows.special, rows.count),
          copied.part(columns.special, columns.count)};
}

}  // namespace ozbound::gpu
