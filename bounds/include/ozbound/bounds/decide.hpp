#pragma once

#include <stdexcept>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// What beside A and B the accuracy of C depends on, and which ways are open.
struct DecideOptions {
  double alpha = 1;
  double beta = 0;
  InputView c0 = {};         ///< m x n where beta is not 0
  Format format = binary64;  ///< of C
  Encoding encoding = Encoding::balanced();
  const NativeGemm* native = nullptr;  ///< null: native DGEMM is not considered
  bool slices = true;                  ///< false: only native DGEMM is considered
  const CostModel* costs = nullptr;    ///< null: the engine's, which counts products; machine_costs() predicts seconds
};

/// No way that is open certifies the target; what() says why.
class CannotCertify : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Chooses the cheapest way whose bound certifies the target: every s_A, s_B <= 20 and cut, native DGEMM, the superaccumulator.
///
/// Reads A and B once for an enclosure of |A||B|, and again for the norms of the slicings that come into question. Rows and
/// columns with NaN or infinities do not take part. The result is a function of the inputs and the cost model.
/// @throws CannotCertify for a target below the rounding of C's format; std::invalid_argument for shapes that do not fit.
Decision decide(InputView a, InputView b, const Target& target, const Engine& engine, const DecideOptions& options = {});

}  // namespace ozbound
