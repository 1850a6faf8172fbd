// SPDX-License-Identifier: BSD-3-Clause
#include "shadow.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <variant>
#include <vector>

#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/machine.hpp"
#include "program_blas.hpp"
#include "tally.hpp"

namespace ozbound::drop_in {
namespace {

constexpr Index most_samples = 4, most_sampled_terms = 400000;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A random generator for choosing entries: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  Index below(Index size) {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return static_cast<Index>((x ^ x >> 31) % static_cast<std::uint64_t>(size));
  }

 private:
  std::uint64_t state_;
};

bool all_finite(const InputView& view) {
  return std::visit(
      [](const auto& x) {
        const bool by_row = x.row_stride() < x.col_stride();  // walk along the shorter stride
        const Index across = by_row ? x.cols() : x.rows(), along = by_row ? x.rows() : x.cols();
        for (Index s = 0; s < across; ++s)
          for (Index t = 0; t < along; ++t)
            if (!std::isfinite(by_row ? x(t, s) : x(s, t))) return false;
        return true;
      },
      view.typed());
}

double element(const InputView& view, Index i, Index j) { return double_from_bits(view.bits(i, j)); }

/// alpha a b + beta c0, correctly rounded to T.
template <class T>
T exact_sum(double alpha, const std::vector<double>& a, const std::vector<double>& b, double beta, double c0) {
  const auto k = static_cast<Index>(a.size());
  T sum = 0;
  const T start = static_cast<T>(c0);
  multiply_exactly({MatrixView<const double>(a.data(), 1, k, k, 1), MatrixView<const double>(b.data(), k, 1, 1, 1),
                    MatrixView<T>(&sum, 1, 1, 1, 1), alpha, beta, MatrixView<const T>(&start, 1, 1, 1, 1)},
                   1);
  return sum;
}

}  // namespace

Index samples_for(Index k) { return std::clamp<Index>(most_sampled_terms / std::max<Index>(k, 1), 1, most_samples); }

Examination::Examination(const Call& call, const RealProduct& product, const Target& target, long number, int threads,
                         bool mode_is_usual)
    : product_(product), target_(target), mode_is_usual_(mode_is_usual) {
  const FloatEnvironment environment;
  if (!all_finite(product.a) || !all_finite(product.b) || (!is_zero(product.beta) && !all_finite(product.c.as_input())) ||
      !std::isfinite(product.alpha) || !std::isfinite(product.beta)) {
    way_ = way_special;
    reason_ = "an operand holds a NaN or an infinity";
    return;
  }
  try {
    const auto& blas = mode_is_usual ? blas_of(*call.as_made.site) : blas_in_another_mode();
    decision_ = decide(product, target, Machine::cpu(threads, &blas));
    way_ = way_text(decision_->method, decision_->plan);
    reason_ = decision_->reason;
  } catch (const std::exception& error) {
    way_ = "cannot";
    reason_ = error.what();
  }
  Draws draws(static_cast<std::uint64_t>(number));
  for (Index s = 0; s < samples_for(call.k); ++s) {
    const Index i = draws.below(call.m), j = draws.below(call.n);
    samples_.push_back({i, j, is_zero(product.beta) ? 0 : element(product.c.as_input(), i, j)});
  }
}

void Examination::compare() {
  const FloatEnvironment environment;
  for (const auto& sample : samples_)
    if (const auto ratio = ratio_of(sample)) worst_ = std::max(worst_.value_or(0), *ratio);
}

bool Examination::native_certifies() const {
  if (!decision_) return false;
  return std::ranges::any_of(decision_->candidates, [](const Candidate& candidate) {
    return candidate.method == Method::native && candidate.certifies;
  });
}

std::optional<double> Examination::predicted_seconds() const {
  if (!decision_ || decision_->costs.unit != "seconds") return {};
  return decision_->cost;
}

std::optional<double> Examination::ratio_of(const Sample& sample) const {
  using Kind = Target::Kind;
  const bool of_magnitudes =
      target_.kind == Kind::dgemm || target_.kind == Kind::dgemm_typical || target_.kind == Kind::componentwise;
  if (!of_magnitudes && target_.kind != Kind::relative && target_.kind != Kind::correctly_rounded) return {};
  const Index k = product_.k();
  const auto format = product_.c.format();
  const bool narrow = format.precision == binary32.precision;
  const double alpha = product_.alpha, beta = product_.beta;
  const double c = element(product_.c.as_input(), sample.i, sample.j);
  std::vector<double> a, b;
  a.reserve(static_cast<std::size_t>(k + 1)), b.reserve(a.capacity());
  for (Index l = 0; l < k; ++l) a.push_back(element(product_.a, sample.i, l)), b.push_back(element(product_.b, l, sample.j));
  const auto rounded = [&] {  // to C's format
    return narrow ? static_cast<double>(exact_sum<float>(alpha, a, b, beta, sample.c0))
                  : exact_sum<double>(alpha, a, b, beta, sample.c0);
  };
  if (target_.kind == Kind::correctly_rounded) return c == rounded() ? 0 : infinity;
  if (!std::isfinite(c)) return c == rounded() ? 0 : infinity;  // an exact value beyond the format is infinite too
  double error = 0, exact = 0;
  if (std::abs(alpha) == 1 && of_magnitudes) {  // adds C as one more term, so that the error is rounded only once
    a.push_back(-alpha * c), b.push_back(1);
    error = std::abs(exact_sum<double>(alpha, a, b, beta, sample.c0));
    a.pop_back(), b.pop_back();
    if (error > 0) error = next_up(error);  // an error of 0 is below eta / 2, which every target allows
  } else {
    exact = exact_sum<double>(alpha, a, b, beta, sample.c0);
    error = c == exact ? 0 : add_upper(next_up(std::abs(c - exact)), multiply_upper(0x1p-53, std::abs(exact)));
  }
  if (error == 0) return 0;
  for (auto* const terms : {&a, &b})
    for (auto& x : *terms) x = std::abs(x);
  const double magnitude =
      of_magnitudes ? exact_sum<double>(std::abs(alpha), a, b, std::abs(beta), std::abs(sample.c0)) : std::abs(exact);
  // Beside tau times the magnitude, the target allows eta / 2 of underflow, k times that for `dgemm`; rounded down.
  const double half_etas = target_.kind == Kind::dgemm ? static_cast<double>(k) : 1;
  const double underflow = narrow ? half_etas * 0x1p-150 : std::floor(half_etas / 2) * 0x1p-1074;
  const double tau = target_tau(target_, k, format, has_scalars(alpha, beta));
  return divide_upper(error, add_lower(multiply_lower(tau, magnitude > 0 ? next_down(magnitude) : 0), underflow));
}

}  // namespace ozbound::drop_in
