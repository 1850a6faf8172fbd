// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/stream_launcher.hpp"

namespace ozbound {

/// Facts that `decide` found about its operands under the chosen plan: everything that a certificate states about them. They
/// describe the elements that were read, and hold no view of them. The user of the facts must ensure that the elements are
/// unchanged.
struct Evidence {
  PlanBound bound;
  /// Waits for the worst entry, relative to the error that the decision's target allows, after the last rounding. May be null
  /// if the purpose is no product.
  std::function<Worst()> worst = {};
};

/// The guarantee of conventional summation for a native GEMM on these operands: |C^ - C| <= factor * (|alpha||A||B| +
/// |beta||C0|) + underflow. For a complex product it holds for each part, with 2k for k.
struct NativeGuarantee {
  double factor = 0;     ///< k u for C = +-AB (Jeannerod, Rump); gamma_{k+3} otherwise; u of C's format
  double underflow = 0;  ///< 0 if no operation can underflow
  std::string obstacle;  ///< reason why there is no guarantee at all; empty if there is one
};

/// Other facts that a product under the decision need not compute again.
struct Findings {
  std::unique_ptr<Examination> examination;  ///< of A and B; null: not made
  std::optional<OperandRecord> record;  ///< of A and B; given with a decision, it says that a plan there holds their product
  std::optional<NativeGuarantee> guarantee;  ///< set if a native DGEMM was considered
  std::optional<Evidence> evidence;          ///< set if one plan's bound certifies every entry
  std::unique_ptr<StartedProduct> started;   ///< under the chosen plan; null: not started
};

struct Decided {
  Decision decision;
  Findings found;
};

enum class Purpose : std::uint8_t { decision, product };

/// `decide` for a real product, together with its findings. The record is included if the purpose is a product.
/// @param stated the subject of the decision: the product itself, or a complex one that it stands for
/// @param encoding encoding of the slices in the plans considered
/// @param workspace bytes of a product that may be started before its decision is known; 0: none is started
/// @pre product.check_shapes() passes, and the backend reaches it. @throws as decide.
Decided decide_with_findings(const RealProduct& product, const Product& stated, const Target& target, const Backend& backend,
                             const Choices& choices, Purpose purpose, const Encoding& encoding = Encoding::balanced(),
                             double workspace = 0);

/// `decide` with plans by slices only, of any encoding. (Complex scalars: balanced only.)
/// @throws as decide, and std::invalid_argument for an encoding that has no common ratio.
Decision decide_by(const Encoding& encoding, const Product& product, const Target& target, const Backend& backend,
                   Choices choices = {});

/// `multiply` for a real product under a decision. @param found findings of these same operands, if the decision was made for
/// them
/// @pre product.check() passes, the decision is for `stated` as in decide_with_findings, and the backend reaches the product.
void check_real(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                const MultiplyOptions& options);
Certificate multiply_real(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                          const MultiplyOptions& options, Findings found = {});

/// The sums of an exponent of A and one of B, least and top, between which native DGEMM certifies a target for C = AB of
/// doubles, whatever the elements are. Nothing if it never does.
std::optional<ExponentRange> native_range(const NativeGemm& native, Index k, const Target& target);

/// The decision and the certificate of a product C = AB of doubles that a device computed in a stream. Reads A, B and C if
/// native DGEMM computed it: nothing if one of them has been changed since. Nothing either if C is of no use: an entry is
/// infinite although the exact one may not be, or the worst entry is beyond the target after all.
std::optional<Multiplied> multiplied_in_stream(const RealProduct& product, const Target& target, const Backend& backend,
                                               StreamRecord record);

/// A real product, or a complex one with real scalars, as a real product whose matrices lie where the backend works fastest.
class NearProduct {
 public:
  /// @param bring false: use the given matrices in place, as prepared operands that belong to them require
  /// @pre product.check() passes, or check_shapes() if nothing is written; the backend reaches it.
  NearProduct(const Product& product, const Backend& backend, bool bring = true);
  NearProduct(const NearProduct&) = delete;
  NearProduct& operator=(const NearProduct&) = delete;

  [[nodiscard]] const RealProduct& product() const;
  /// Writes the C of the original product.
  void write_back() const;

 private:
  RealProduct as_given_;
  std::unique_ptr<RealRepresentation> real_, brought_;  ///< null: not needed
};

/// True if a product is complex and a scalar has an imaginary part. Such products take separate functions.
bool has_complex_scalars(const Product& product);

/// decide and multiply for products with complex scalars. @pre has_complex_scalars(product), and the decision fits.
Decision decide_with_complex_scalars(const ComplexProduct& product, const Target& target, const Backend& backend,
                                     const Choices& choices);
void check_with_complex_scalars(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                                const MultiplyOptions& options);
Certificate multiply_with_complex_scalars(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                                          const MultiplyOptions& options);

}  // namespace ozbound
