// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <numeric>

#include "largest.hpp"
#include "recovery.hpp"

namespace ozbound::gpu {

/// Facts of a C that the kernels which recover it from residues find on the way: its fingerprint, the largest bound of an entry
/// that is not special, and whether such an entry is infinite.
struct RecoveredFacts {
  static constexpr Index words = 2 + LargestWork::print_words;  ///< work.best, work.prints and work.infinite

  BoundWithScales error = {};    ///< of residues: two terms, each one outer product
  RoundingError rounding = {};   ///< for alpha = 1, beta = 0
  LargestWork work = {};         ///< `best`, `prints` and `infinite` are results; `parts` and `result` are not used
  std::int32_t* rows = nullptr;  ///< EntryExponent of every row, to the end of the last tile
  std::int32_t* columns = nullptr;
  std::uint64_t next_row_key = 0;  ///< difference between the fingerprint keys of entries eight rows apart

  /// Takes memory for an m x n product.
  static RecoveredFacts take(Arena& arena, Index m, Index n);

  /// Zeroes the results, and makes what the kernels compare with. Comes before the first recovery.
  /// @param specials flags of rows and columns
  void prepare(const DeviceSpecials& specials, cudaStream_t stream) const;

  /// The results, from a host copy of their words.
  [[nodiscard]] static LargestResult result(const std::uint64_t* found) {
    const auto* const prints = found + 1;
    const auto* const infinite = prints + LargestWork::print_words;
    return {{double_from_bits(*found), 0}, std::accumulate(prints, infinite, std::uint64_t{0}), *infinite != 0};
  }
};

/// True if C can be recovered with its facts: it is C' rounded to binary64.
bool finds_facts(const DeviceEpilogue& epilogue);

/// Does what the launch_recovery of bytes does, and finds facts.
/// @param chosen if not null, a plan in device memory: nothing is written unless it has this many moduli. The combination is
/// then that of one bit for each operand. @pre finds_facts(epilogue)
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const FusedResidues::Bytes& bytes, const DeviceEpilogue& epilogue,
                     const OperandPair& operands, const ChosenResidues* chosen, const RecoveredFacts& facts,
                     cudaStream_t stream);

}  // namespace ozbound::gpu
