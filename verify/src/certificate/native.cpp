// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "expected.hpp"
#include "outward.hpp"

namespace ozbound::checking {
namespace {

/// The assumptions about a library's GEMM (general_bound.md, G7). Schema 4 called every library routine DGEMM.
std::vector<std::string> trusted(const Claims& claims, const Subject& subject) {
  const bool parts = claims.schema >= 5 && subject.complex;
  const char letter = claims.schema < 5 ? 'D' : subject.complex ? (claims.narrow ? 'C' : 'Z') : claims.narrow ? 'S' : 'D';
  const auto gemm = std::string("the native ") + letter + "GEMM";
  return {gemm + " sums conventionally: each " + (parts ? "part of an entry is a sum of its 2k" : "entry is a sum of its k") +
              " products in some order, each product and each addition rounded once, or the two at once (FMA)",
          gemm + " rounds to nearest, and underflow is gradual",
          gemm + " multiplies sums by alpha, " + (claims.schema < 5 ? "not operands" : "or elements of one operand"),
          gemm + " uses neither Strassen's algorithm, nor another with fewer multiplications, nor an emulation of FP64"};
}

/// The largest k for which k products that underflow cost at most k eta/2 (general_bound.md, G7b).
Index longest_native_underflow(bool narrow) { return narrow ? 4096 : 67108864; }

/// Native DGEMM. Its bits cannot be predicted, but they satisfy their bound.
class Native final : public Expected {
 public:
  Native(const Claims& claims, const Subject& subject)
      : Expected(claims, subject),
        numbers_(native_claims(subject.operands, subject.operands.a.cols(), claims.narrow, claims.schema)) {
    const auto& in = subject.operands;
    const bool with_c0 = in.beta != 0;
    source = with_c0   ? "gamma_{k+3} (|alpha||A||B| + |beta||C0|), |beta||C0| <= |C| + |alpha||A||B|"
             : plain() ? "k u |A||B| (Jeannerod, Rump)"
                       : "gamma_{k+3} |alpha||A||B|";
    assumed = trusted(claims, subject);
    const std::string unknown = "the native library is not known to sum conventionally";
    if (std::ranges::find(claims.assumptions, "no guarantee: " + unknown) != claims.assumptions.end())
      numbers_.obstacle = unknown;  // this only withdraws the guarantee
    if (!numbers_.obstacle.empty()) assumed.push_back("no guarantee: " + numbers_.obstacle);
    const double share = quotient_up(numbers_.factor, difference_down(1, numbers_.factor));
    const Counted a(in.a, {}), b(in.b.transposed(), {});
    bounds.product = summation_bound(a, b, with_c0 ? 2 * share : numbers_.factor);
    bounds.result_factor = with_c0 ? share : 0;
    bounds.underflow = !numbers_.obstacle.empty() ? infinity : with_c0 ? 2 * numbers_.underflow : numbers_.underflow;
    bounds.rounded_once = false;
    limits = {"c: the bits of native DGEMM are the library's; they keep their bound", "native: that this library ran"};
  }

  std::optional<double> entry(Tally&, EntryProducts&, Index, Index, const OracleEntry&) const override { return std::nullopt; }

  [[nodiscard]] WorstRatio ratio(const Tally&) const override {
    return {meets() ? std::min(1.0, quotient_up(numbers_.factor, tau_)) : infinity};
  }

 private:
  [[nodiscard]] bool plain() const { return subject_.operands.alpha == 1 || subject_.operands.alpha == -1; }

  [[nodiscard]] bool meets() const {
    const auto kind = claims_.target.kind;
    if (!numbers_.obstacle.empty() || kind == Target::Kind::cr || kind == Target::Kind::relative) return false;
    const auto& in = subject_.operands;
    const bool dgemm = kind == Target::Kind::dgemm, unscaled = plain() && in.beta == 0;
    if (numbers_.underflow > 0 && !(dgemm && unscaled && in.a.cols() <= longest_native_underflow(claims_.narrow))) return false;
    return (dgemm && claims_.schema >= 5) || numbers_.factor <= tau_;
  }

  NativeClaims numbers_;
};

}  // namespace

std::unique_ptr<Expected> by_native(const Claims& claims, const Subject& subject) {
  return std::make_unique<Native>(claims, subject);
}

}  // namespace ozbound::checking
