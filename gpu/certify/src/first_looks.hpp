// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "arena.hpp"
#include "first_look.hpp"
#include "memory.hpp"
#include "ozbound/bounds/detail/part_norms.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "started_copy.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// The part of a look's report that concerns one operand. Vectors are read from the copied block when they are asked for.
class OperandReport {
 public:
  /// @param copied a copy of the block that contains the look and the least sums
  OperandReport(const FirstLook& look, const LeastSums& least, const HostBlock& copied);

  [[nodiscard]] std::uint64_t print() const { return print_; }
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] VectorNorms vector(Index i) const;
  [[nodiscard]] std::vector<std::int32_t> exponents() const { return {exponents_, exponents_ + count_}; }
  /// 1 for each vector that holds a NaN or an infinity, else 0.
  [[nodiscard]] std::vector<std::uint8_t> special() const { return {special_, special_ + count_}; }
  /// Number of bits that hold every vector exactly.
  [[nodiscard]] std::int32_t exact_bits() const;
  /// A range of exponents that contains those of all vectors without specials; empty if they are all zero.
  [[nodiscard]] ExponentRange outer_range() const;
  /// The sum of VectorNorms::norms of vector i.
  [[nodiscard]] std::uint64_t sum(Index i) const { return words_[i]; }
  /// Returns the facts of all vectors that a bound of residues uses.
  [[nodiscard]] std::vector<RoundedVector> sums() const;
  /// ||.||_1 of vector i relative to its scale, rounded up.
  [[nodiscard]] double sum_upper(Index i) const { return relative_sum_upper(words_[i]); }
  /// The least sum of level 1 in the vector's row or column of C, among entries that are neither zero nor special; nothing if
  /// there are none.
  [[nodiscard]] std::optional<std::uint32_t> least_sum(Index i) const {
    return least_complements_[i] == 0 ? std::nullopt : std::optional(~least_complements_[i]);
  }

  /// The norms of all vectors. Made on first use, since most decisions need few of them. Threads may ask at once.
  [[nodiscard]] const std::vector<VectorNorms>& vectors() const;

 private:
  [[nodiscard]] bool is_zero(Index i) const { return words_[2 * count_ + i] == 0; }
  /// VectorNorms::last_bit of vector i.
  [[nodiscard]] std::int32_t last_bit(Index i) const { return LookNorms::no_last_bit - above_last_bits_[i]; }
  /// VectorNorms::exact_bits of vector i.
  [[nodiscard]] std::int32_t exact_bits(Index i) const { return is_zero(i) ? 0 : exponents_[i] - last_bit(i); }

  HostBlock copied_;  ///< keeps what the pointers point to
  std::uint64_t print_;
  Index count_;
  const std::int32_t *exponents_, *above_last_bits_;
  const std::uint8_t* special_;
  const std::uint64_t* words_;
  const std::uint32_t* least_complements_;  ///< as in LeastSums

  struct Vectors {
    std::once_flag made;
    std::vector<VectorNorms> all;
  };
  std::shared_ptr<Vectors> vectors_ = std::make_shared<Vectors>();
};

/// The first looks at both operands of a product, in device memory, and the report: the parts that the host needs.
class FirstLooks {
 public:
  /// Launches the looks. `a` is m x k, `b` k x n; both must outlive the launched work.
  FirstLooks(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, cudaStream_t stream);
  /// Takes memory from the arena, for launch.
  FirstLooks(Index m, Index n, Index k, Arena& arena) { take(arena, m, n, k); }

  /// Launches the looks, as the first constructor does.
  void launch(const DeviceMatrix& a, const DeviceMatrix& b, Index k, cudaStream_t stream) const;

  /// The memory of the looks, for users that may outlive this object; null if an arena gave it.
  [[nodiscard]] const std::shared_ptr<const Memory>& memory() const { return memory_; }
  [[nodiscard]] const FirstLook& a() const { return a_; }
  [[nodiscard]] const FirstLook& b() const { return b_; }
  // Words that are copied with the report; level 1 sets them. All are 0 at first.
  [[nodiscard]] std::uint32_t* loose() const { return loose_; }
  [[nodiscard]] std::uint64_t* largest_units() const { return largest_units_; }
  [[nodiscard]] std::uint32_t* middle() const { return middle_; }
  [[nodiscard]] const LeastSums& row_least() const { return row_least_; }
  [[nodiscard]] const LeastSums& column_least() const { return column_least_; }

  struct Report {
    bool loose = false;
    std::uint64_t largest_units = 0;
    std::uint32_t middle = 0;  ///< as in LevelOneSums
    OperandReport a, b;
  };

  /// Launches the one copy of the report to the host. Work that the stream is given later need not be waited for.
  void start_report(cudaStream_t stream);
  /// Waits for the report that was started last; starts one if there is none.
  [[nodiscard]] Report report(cudaStream_t stream);

 private:
  void take(Arena& arena, Index m, Index n, Index k);

  std::shared_ptr<const Memory> memory_;
  FirstLook a_, b_;
  std::uint32_t* loose_ = nullptr;
  std::uint64_t* largest_units_ = nullptr;
  std::uint32_t* middle_ = nullptr;
  LeastSums row_least_, column_least_;
  std::unique_ptr<const StartedCopy> copy_;
  std::size_t zero_bytes_ = 0;    ///< from a_.prints on: the bytes of words that are 0 at first
  std::size_t report_bytes_ = 0;  ///< from a_.prints on: the bytes up to the end of the report's last part
};

/// residue_plan_bound, from a report.
PlanBound residue_plan_bound(const FirstLooks::Report& report, const ResiduePlan& plan, Index k);

}  // namespace ozbound::gpu
