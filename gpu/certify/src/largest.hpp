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

/// The largest value of some entries, and the first entry that has it, row by row. None if the value is 0.
struct LargestEntry {
  double value = 0;
  Index place = 0;  ///< i * n + j
};

struct PlaceOfEntry {
  Index place, i, j;
};

/// Results of a search. If a matrix was searched, includes its fingerprint, and whether an entry that is not special is
/// infinite.
struct LargestResult {
  LargestEntry entry;
  std::uint64_t print = 0;
  bool infinite = false;
};

/// Norms of a bound's rows, or of its columns, in binary32, rounded up.
struct SideEstimates {
  float* norms = nullptr;  ///< [outer * blocks * tile + i], 0 beyond the last vector
  float* tops = nullptr;   ///< [outer * blocks + block]: the largest norm in a block of `tile` vectors
  Index blocks = 0;
};

/// Memory for a search, and the entry found. In device memory.
struct LargestWork {
  static constexpr int print_words = 32;
  static constexpr int tile = 128;
  static constexpr int parts_of_tile = 4;  ///< there are at least so many parts for each tile

  LargestEntry* parts = nullptr;
  Index parts_count = 0;  ///< at least parts_of_tile times tiles(), and more than 1
  LargestResult* result = nullptr;
  SideEstimates rows, columns;
  Index outers = 0;
  std::uint64_t* best = nullptr;      ///< bits of the largest value so far
  std::uint64_t* prints = nullptr;    ///< [print_words]: their sum is a fingerprint; lies behind `best`
  std::uint64_t* infinite = nullptr;  ///< not 0 if an entry that is not special is infinite; lies behind `prints`
  std::uint64_t* stored = nullptr;    ///< the number of parts that are stored
  std::uint64_t* finished = nullptr;  ///< the number of blocks that have come to their end

  [[nodiscard]] Index tiles() const { return rows.blocks * columns.blocks; }

  /// Takes memory for bounds with this many outer products.
  static LargestWork take(Arena& arena, Index outers, Index m, Index n);
};

/// The parts of an Allowance that kernels need.
struct EntryTarget {
  double factor = 0;                     ///< share of M that the error may take
  bool of_norm = false;                  ///< the target is normwise; an entry's allowance is then M itself
  double alpha = 1, beta = 0;            ///< scalars of the product
  DeviceMatrix c0 = {};                  ///< given if beta is not 0
  const double* row_norms = nullptr;     ///< [m], for rowcol targets: ||a_i||_2 rounded down, relative to the product's scales
  const double* column_norms = nullptr;  ///< [n]
};

/// A bound relative to 2^(row_exponents[i] + column_exponents[j]).
struct BoundWithScales {
  DeviceBound bound;
  const std::int32_t* row_exponents;
  const std::int32_t* column_exponents;
};

/// Allowance::worst over all entries. @pre the target is not normwise.
void launch_worst_entry(const BoundWithScales& error, const DeviceMagnitudes& of, const EntryTarget& target,
                        const LargestWork& work, cudaStream_t stream);

/// Allowance::worst over all entries if level 1 is loose. @pre there are entries.
void launch_worst_loose_entry(const BoundWithScales& error, const DeviceMagnitudes& of, const EntryTarget& target,
                              const LargestWork& work, cudaStream_t stream);

/// Finds the entry with the smallest allowance among the entries of at most most_probed_rows rows whose share of M is more than
/// 0. The value in the result is not the allowance; it is 0 if there is no such entry. @pre m and n are not 0.
inline constexpr Index most_probed_rows = 32;
void launch_least_allowing(const DeviceMagnitudes& of, const EntryTarget& target, const LargestWork& work, cudaStream_t stream);

/// Sets *place to the place of the entry found, in a product with n columns.
void launch_taking_place(const LargestWork& work, Index n, PlaceOfEntry* place, cudaStream_t stream);

/// allowed[t] = the allowance of the entry at places[t] = i * n + j, as Allowance::probe. @pre count > 0.
void launch_probes(const DeviceMagnitudes& of, const EntryTarget& target, const Index* places, Index count, double* allowed,
                   cudaStream_t stream);
/// The same for one entry, at `place`.
void launch_probe(const DeviceMagnitudes& of, const EntryTarget& target, Index place, double* allowed, cudaStream_t stream);

/// The largest bound of an entry of C that is not special, and LargestResult's facts about C.
void launch_largest_bound(const BoundWithScales& error, const RoundingError& rounding, const DeviceMatrix& c,
                          const DeviceSpecials& specials, const LargestWork& work, cudaStream_t stream);

}  // namespace ozbound::gpu
