// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "facts.hpp"
#include "largest.hpp"
#include "memory.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "started_copy.hpp"

namespace ozbound::gpu {

/// The facts of single rows of A and columns of B, under every slice count of one encoding, kept on the host. Both operands'
/// vectors are measured together.
class MeasuredVectors {
  /// Vectors of both operands that are being measured, or were.
  struct Measuring;

 public:
  /// @param a m x k, in device memory @param b k x n. They must outlive this object.
  MeasuredVectors(const DeviceMatrix& a, const DeviceMatrix& b, Index k, Encoding encoding, int device, cudaStream_t stream)
      : k_(k), encoding_(encoding), device_(device), stream_(stream), rows_{a}, columns_{transposed(b)} {}

  /// A number that a device computes.
  class Number {
   public:
    /// Waits for it.
    [[nodiscard]] double value() const;

   private:
    friend class MeasuredVectors;
    std::shared_ptr<Measuring> in_;
  };

  /// Begins to measure the row and the column that row and column are expected to be asked for. `launch_number`, if not null,
  /// launches work that sets a number in device memory, which is copied together with the facts. @param stream where A and B
  /// are complete @pre the device is the current one.
  Number start(Index i, Index j, cudaStream_t stream, const std::function<void(double*)>& launch_number = nullptr);
  /// Notes rows and columns whose facts are likely to be asked for. They are measured together, when one of them is.
  void expect(std::vector<Index> rows, std::vector<Index> columns);

  const VectorFacts& row(Index i, int slices) { return facts(rows_, i, slices); }
  const VectorFacts& column(Index j, int slices) { return facts(columns_, j, slices); }

 private:
  /// Where the facts of one vector lie; on the host, those that were asked for.
  struct Known {
    std::shared_ptr<Measuring> in;
    const FactsOfAllSlicings* facts;
    Index at;                                                   ///< the vector's place among them
    std::map<int, std::unique_ptr<const VectorFacts>> of = {};  ///< by slice count
  };
  struct Side {
    DeviceMatrix vectors;
    std::map<Index, Known> known = {};
  };

  /// Launches the measurement of vectors. `launch_number` may be null.
  [[nodiscard]] std::shared_ptr<Measuring> launch(std::vector<Index> rows, std::vector<Index> columns,
                                                  const std::function<void(double*)>& launch_number, cudaStream_t stream) const;
  void note_all(const std::shared_ptr<Measuring>& measuring);
  static void erase_known(const Side& side, std::vector<Index>& indices);
  static void note(Side& side, const std::vector<Index>& indices, const FactsOfAllSlicings& facts,
                   const std::shared_ptr<Measuring>& in);
  const VectorFacts& facts(Side& side, Index i, int slices);

  Index k_;
  Encoding encoding_;
  int device_;
  cudaStream_t stream_;
  Side rows_, columns_;
  std::vector<Index> expected_rows_, expected_columns_;
};

}  // namespace ozbound::gpu
