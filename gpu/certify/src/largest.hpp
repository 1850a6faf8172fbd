// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "entries.hpp"
#include "level_two.hpp"
#include "ozbound/bounds/rounding_error.hpp"

namespace ozbound::gpu {

/// The largest value of some entries, the first of them row by row; none if the value is 0.
struct LargestEntry {
  double value = 0;
  Index place = 0;  ///< i * n + j
};

struct PlaceOfEntry {
  Index place, i, j;
};

/// What is found, and of the matrix that was searched, if there was one, its fingerprint and whether an entry that is not
/// special is infinite.
struct LargestResult {
  LargestEntry entry;
  std::uint64_t print = 0;
  bool infinite = false;
};

/// Norms of a bound's rows, or of its columns, in binary32, from above.
struct SideEstimates {
  float* norms = nullptr;  ///< [outer * blocks * tile + i], 0 beyond the last
  float* tops = nullptr;   ///< [outer * blocks + block]: the largest of a block of `tile` vectors
  Index blocks = 0;
};

/// What searching for it takes, and the entry found. In device memory.
struct LargestWork {
  static constexpr int print_words = 32;
  static constexpr int tile = 128;

  LargestEntry* parts = nullptr;
  Index parts_count = 0;  ///< tiles() at least, and more than 1
  LargestResult* result = nullptr;
  SideEstimates rows, columns;
  Index outers = 0;
  std::uint64_t* best = nullptr;      ///< bits of the largest value so far
  std::uint64_t* prints = nullptr;    ///< [print_words]: their sum is a fingerprint
  std::uint64_t* infinite = nullptr;  ///< not 0: an entry that is not special is infinite

  [[nodiscard]] Index tiles() const { return rows.blocks * columns.blocks; }

  /// For bounds of so many outer products.
  static LargestWork take(Arena& arena, Index outers, Index m, Index n);
};

/// What a kernel needs to know of an Allowance.
struct EntryTarget {
  double factor = 0;                     ///< share of M that the error may take
  bool of_norm = false;                  ///< the target is normwise: of entries M itself is asked
  double alpha = 1, beta = 0;            ///< of the product
  DeviceMatrix c0 = {};                  ///< where beta is not 0
  const double* row_norms = nullptr;     ///< [m], for rowcol targets: ||a_i||_2 from below, relative to the product's scales
  const double* column_norms = nullptr;  ///< [n]
};

/// A bound relative to 2^(row_exponents[i] + column_exponents[j]).
struct ScaledBound {
  DeviceBound bound;
  const std::int32_t* row_exponents;
  const std::int32_t* column_exponents;
};

/// Allowance::worst over all entries. @pre the target is not normwise.
void launch_worst_entry(const ScaledBound& error, const Magnitudes& of, const EntryTarget& target, const LargestWork& work,
                        cudaStream_t stream);

/// The same where level 1 is loose. @pre there are entries.
void launch_worst_loose_entry(const ScaledBound& error, const Magnitudes& of, const EntryTarget& target,
                              const LargestWork& work, cudaStream_t stream);

/// The entry that allows least of those whose share of M is more than 0, of most_probed_rows rows or fewer; its value is not
/// what it allows, 0 if there is none. @pre m and n are not 0.
inline constexpr Index most_probed_rows = 32;
void launch_least_allowing(const Magnitudes& of, const EntryTarget& target, const LargestWork& work, cudaStream_t stream);

/// *place = that of the entry found, of a product with n columns.
void launch_taking_place(const LargestWork& work, Index n, PlaceOfEntry* place, cudaStream_t stream);

/// allowed[t] = what the entry at places[t] = i * n + j allows, as Allowance::probe. @pre count > 0.
void launch_probes(const Magnitudes& of, const EntryTarget& target, const Index* places, Index count, double* allowed,
                   cudaStream_t stream);

/// The largest bound of an entry of C that is not special, and what LargestResult says of C.
void launch_largest_bound(const ScaledBound& error, const RoundingError& rounding, const DeviceMatrix& c,
                          const DeviceSpecials& specials, const LargestWork& work, cudaStream_t stream);

}  // namespace ozbound::gpu
