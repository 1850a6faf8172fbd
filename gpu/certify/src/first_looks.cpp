// SPDX-License-Identifier: BSD-3-Clause
#include "first_looks.hpp"

#include <algorithm>
#include <numeric>

#include "ozbound/bounds/detail/residue_facts.hpp"
#include "slicing.hpp"

namespace ozbound::gpu {
namespace {

constexpr Slicing one_digit{Encoding::balanced(), 1};

std::uint64_t sum_of(const std::vector<std::uint64_t>& words) {
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

}  // namespace

OperandReport::OperandReport(const FirstLook& look, const LeastSums& least, const HostBlock& copied)
    : copied_(copied),
      print_(sum_of(copied.part(look.prints, FirstLook::print_words))),
      count_(look.norms.count),
      exponents_(copied.at(look.digits.exponents)),
      above_last_bits_(copied.at(look.norms.above_last_bits)),
      special_(copied.at(look.digits.special)),
      words_(copied.at(look.norms.words)),
      least_complements_(copied.at(least.complements)) {}

VectorNorms OperandReport::vector(Index i) const {
  const auto word = [&](int which) { return words_[which * count_ + i]; };
  return {{exponents_[i], special_[i] != 0}, {word(0), word(1), word(2)}, word(3), last_bit(i)};
}

std::int32_t OperandReport::exact_bits() const {
  std::int32_t bits = 0;
  for (Index i = 0; i < count_; ++i) bits = std::max(bits, exact_bits(i));
  return bits;
}

ExponentRange OperandReport::outer_range() const {
  ExponentRange range;
  for (Index i = 0; i < count_; ++i) widen(range, {exponents_[i], special_[i] != 0}, is_zero(i), last_bit(i));
  return range;
}

std::vector<RoundedVector> OperandReport::sums() const {
  std::vector<RoundedVector> all;
  all.reserve(static_cast<std::size_t>(count_));
  for (Index i = 0; i < count_; ++i) all.push_back({words_[i], exact_bits(i)});
  return all;
}

const std::vector<VectorNorms>& OperandReport::vectors() const {
  std::call_once(vectors_->made, [this] {
    vectors_->all.reserve(static_cast<std::size_t>(count_));
    for (Index i = 0; i < count_; ++i) vectors_->all.push_back(vector(i));
  });
  return vectors_->all;
}

FirstLooks::FirstLooks(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, cudaStream_t stream) {
  Arena needed;
  take(needed, m, n, k);
  memory_ = std::make_shared<const Memory>(needed.used(), stream);
  auto arena = memory_->arena();
  take(arena, m, n, k);
  launch(a, b, k, stream);
}

void FirstLooks::launch(const DeviceMatrix& a, const DeviceMatrix& b, Index k, cudaStream_t stream) const {
  check(cudaMemsetAsync(a_.prints, 0, zero_bytes_, stream), "cudaMemsetAsync");
  static_assert(LookNorms::no_last_bit == no_last_bit);
  launch_first_looks({a, a_, k, 1}, {transposed(b), b_, 1, b_.norms.count}, stream);
}

void FirstLooks::take(Arena& arena, Index m, Index n, Index k) {
  const std::size_t begin = arena.used();
  a_.prints = arena.take<std::uint64_t>(FirstLook::print_words);
  b_.prints = arena.take<std::uint64_t>(FirstLook::print_words);
  loose_ = arena.take<std::uint32_t>(1);
  largest_units_ = arena.take<std::uint64_t>(1);
  middle_ = arena.take<std::uint32_t>(1);
  a_.norms = {arena.take<std::uint64_t>(LookNorms::words_each * m), nullptr, m};
  b_.norms = {arena.take<std::uint64_t>(LookNorms::words_each * n), nullptr, n};
  a_.sums = arena.take<std::int64_t>(m);
  b_.sums = arena.take<std::int64_t>(n);
  a_.norms.above_last_bits = arena.take<std::int32_t>(m);
  b_.norms.above_last_bits = arena.take<std::int32_t>(n);
  row_least_.complements = arena.take<std::uint32_t>(m);
  column_least_.complements = arena.take<std::uint32_t>(n);
  zero_bytes_ = arena.used() - begin;
  auto* const row_exponents = arena.take<std::int32_t>(m);
  auto* const column_exponents = arena.take<std::int32_t>(n);
  auto* const rows = arena.take<std::uint8_t>(m);
  auto* const columns = arena.take<std::uint8_t>(n);
  report_bytes_ = arena.used() - begin;
  a_.digits = take_slices(arena, false, one_digit, m, k);
  b_.digits = take_slices(arena, true, one_digit, n, k);
  a_.digits.exponents = row_exponents, a_.digits.special = rows;
  b_.digits.exponents = column_exponents, b_.digits.special = columns;
}

void FirstLooks::start_report(cudaStream_t stream) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(a_.prints);
  copy_ = std::make_unique<const StartedCopy>(begin, begin + report_bytes_, stream);
}

FirstLooks::Report FirstLooks::report(cudaStream_t stream) {
  if (copy_ == nullptr) start_report(stream);
  const auto& copied = copy_->wait();
  return {copied.part(loose_, 1)[0] != 0, copied.part(largest_units_, 1)[0], copied.part(middle_, 1)[0],
          OperandReport(a_, row_least_, copied), OperandReport(b_, column_least_, copied)};
}

PlanBound residue_plan_bound(const FirstLooks::Report& report, const ResiduePlan& plan, Index k) {
  return {residue_error_upper(report.a.sums(), report.b.sums(), plan, k), report.a.exponents(), report.b.exponents()};
}

}  // namespace ozbound::gpu
