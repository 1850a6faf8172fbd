// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/multiply.hpp"

namespace ozbound {

/// What `decide` found out about its operands under the plan that it took: all that a certificate says of them. It is about the
/// elements that were read, and holds no view of them; whoever uses it answers for their being the same.
struct Evidence {
  PlanBound bound;
  Worst worst;  ///< over what the decision's target allows, after the last rounding
};

/// What conventional summation guarantees of a native GEMM on these operands, of a complex product of each part, k being 2k:
/// |C^ - C| <= factor * (|alpha||A||B| + |beta||C0|) + underflow.
struct NativeGuarantee {
  double factor = 0;     ///< k u for C = +-AB (Jeannerod, Rump); gamma_{k+3} otherwise; u of C's format
  double underflow = 0;  ///< 0 where no operation can underflow
  std::string obstacle;  ///< why there is no guarantee at all; empty if there is one
};

/// What else a product under the decision need not find out again.
struct Findings {
  std::unique_ptr<Examination> examination;  ///< of A and B; null: none was made
  std::optional<OperandRecord> record;
  std::optional<NativeGuarantee> guarantee;  ///< where a native DGEMM was considered
  std::optional<Evidence> evidence;          ///< where one plan's bound certifies every entry
};

struct Decided {
  Decision decision;
  Findings found;
};

enum class Purpose : std::uint8_t { decision, product };

/// `decide` of a real product, with what it found. The record is there where the purpose is a product.
/// @param stated what the decision is for: the product itself, or a complex one that it stands for
/// @param encoding of the slices of plans that are looked at
/// @pre product.check_shapes() passes, and the backend reaches it. @throws as decide.
Decided decide_with_findings(const RealProduct& product, const Product& stated, const Target& target, const Backend& backend,
                             const Choices& choices, Purpose purpose, const Encoding& encoding = Encoding::balanced());

/// `decide` by plans of slices alone, of any encoding. (Complex scalars: balanced ones.)
/// @throws as decide, and std::invalid_argument for an encoding that has no common ratio.
Decision decide_by(const Encoding& encoding, const Product& product, const Target& target, const Backend& backend,
                   Choices choices = {});

/// `multiply` of a real product under a decision. @param found of these very operands, when it was made.
/// @pre product.check() passes, the decision is for `stated`, which is as above, and the backend reaches it.
void check_real(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                const MultiplyOptions& options);
Certificate multiply_real(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                          const MultiplyOptions& options, Findings found = {});

/// A real product, or a complex one with real scalars, as a real one whose matrices lie where the backend works fastest.
class NearProduct {
 public:
  /// @param bring false: no copies are made for being near, as where prepared operands are of the given ones
  /// @pre product.check() passes, or check_shapes() where nothing is written; the backend reaches it.
  NearProduct(const Product& product, const Backend& backend, bool bring = true);
  NearProduct(const NearProduct&) = delete;
  NearProduct& operator=(const NearProduct&) = delete;

  [[nodiscard]] const RealProduct& product() const;
  /// Writes the C of the product that this stands for.
  void write_back() const;

 private:
  RealProduct as_given_;
  std::unique_ptr<RealRepresentation> real_, brought_;  ///< null: as it was given
};

/// Whether a product needs ways of its own: it is complex, and one of its scalars has an imaginary part.
bool has_complex_scalars(const Product& product);

/// What decide and multiply do for those with complex scalars. @pre has_complex_scalars(product), and the decision fits.
Decision decide_scaled(const ComplexProduct& product, const Target& target, const Backend& backend, const Choices& choices);
void check_scaled(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                  const MultiplyOptions& options);
Certificate multiply_scaled(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                            const MultiplyOptions& options);

}  // namespace ozbound
