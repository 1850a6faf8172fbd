// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "../exact_number.hpp"
#include "../fold_entries.hpp"
#include "../judge.hpp"
#include "../reference/plan_arithmetic.hpp"
#include "claims.hpp"
#include "entry_products.hpp"
#include "numbers.hpp"
#include "outward.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "parallel.hpp"
#include "work.hpp"

namespace ozbound::checking {
namespace {

using reference::Accumulation;
using Kind = Target::Kind;

constexpr const char* assumed_of_tensor_cores =
    "tensor cores' sum of k products of bfloat16 numbers is at most the exact one over 1 - k 2^-22";
constexpr const char* assumed_of_sums =
    "the native DGEMM sums conventionally: each entry is a sum of its k products in some order, each product and each addition "
    "rounded once, or the two at once (FMA)";
constexpr const char* assumed_of_environment = "the native DGEMM rounds to nearest, and underflow is gradual";
constexpr const char* assumed_of_alpha = "the native DGEMM multiplies sums by alpha, not operands";
constexpr const char* assumed_of_algorithm =
    "the native DGEMM uses neither Strassen's algorithm, nor another with fewer multiplications, nor an emulation of FP64";
constexpr Index longest_native_underflow = Index{67108864};  // general_bound.md, G7b
constexpr Index longest_by_tensor_cores = Index{1} << 21;    ///< inner dimension, where their sums are used (E5)
constexpr auto lowest_exponent = std::numeric_limits<std::int64_t>::min();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

bool same(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

std::string text(double x) { return fmt::format("{} ({})", hex_text(x), x); }
std::string text(bool x) { return x ? "true" : "false"; }
std::string text(Index x) { return fmt::format("{}", x); }
std::string text(int x) { return fmt::format("{}", x); }
std::string text(const std::string& x) { return "'" + x + "'"; }
std::string text(const std::optional<std::string>& x) { return x ? text(*x) : "null"; }
std::string text(const std::vector<std::string>& x) {
  std::string all;
  for (const auto& one : x) all += (all.empty() ? "" : ", ") + text(one);
  return "[" + all + "]";
}
std::string text(const Entry& x) { return fmt::format("[{}, {}{}]", x.i, x.j, x.part.empty() ? "" : ", \"" + x.part + "\""); }

bool equal(double x, double y) { return same(x, y); }
template <class T>
bool equal(const T& x, const T& y) {
  return x == y;
}

/// S of docs/records.md.
std::uint64_t mixed(std::uint64_t z) {
  z ^= z >> 30, z *= 0xbf58476d1ce4e5b9;
  z ^= z >> 27, z *= 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// The fingerprint of a matrix or a ResultView.
template <class Elements>
std::string print_of(const Elements& matrix) {
  std::atomic<std::uint64_t> sum = 0;
  for_rows(matrix.rows(), matrix.cols(), [&](Index i) {
    std::uint64_t of_row = 0, key = static_cast<std::uint64_t>(i * matrix.cols()) * 0x9e3779b97f4a7c15;
    for (Index j = 0; j < matrix.cols(); ++j) {
      const double x = matrix(i, j);
      key += 0x9e3779b97f4a7c15;
      of_row += mixed(key + (std::isnan(x) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(x)));
    }
    sum += of_row;
  });
  return spelling(sum);
}

/// Whether a vector has no NaN and no infinity.
std::vector<std::uint8_t> finite_vectors(MatrixView<const double> vectors) {
  std::vector<std::uint8_t> finite(at(vectors.rows()));
  for_rows(vectors.rows(), vectors.cols(), [&](Index i) {
    bool all = true;
    for (Index l = 0; l < vectors.cols(); ++l) all = all && std::isfinite(vectors(i, l));
    finite[at(i)] = all ? 1 : 0;
  });
  return finite;
}

/// The plan after this one, for entries that it leaves open: half as many slices again (docs/records.md).
std::string finer(reference::Plan plan) {
  const auto more = [](int slices) { return std::min(20, slices + std::max(2, slices / 2)); };
  plan.a.slices = more(plan.a.slices);
  plan.b.slices = more(plan.b.slices);
  plan.cut = std::min(plan.a.slices + plan.b.slices, std::max(plan.a.slices, plan.b.slices) + 1);
  plan.accumulation = Accumulation::exact;
  for (auto* const slicing : {&plan.a, &plan.b})
    if (slicing->digits == reference::Digits::nearest_adaptive) slicing->digits = reference::Digits::nearest;
  return reference::to_string(plan);
}

/// |alpha| E.
double scaled_error(const RelativeBound& error, double alpha, Index i, Index j) {
  const double relative = error.at(i, j);
  if (relative == infinity) return relative;
  return product_up(Wide::of(alpha), Wide{relative, error.scale(i, j)}).value_up();
}

/// |alpha| E + the rounding, as records.md states it.
struct EntryBounds {
  RelativeBound product;
  double alpha = 1, result_factor = 0, underflow = 0;
  bool rounded_once = true;

  [[nodiscard]] double at(Index i, Index j, double c) const {
    const double rounding = std::isfinite(c) ? product_up(result_factor, std::fabs(c)) : 0;
    return sum_up(scaled_error(product, alpha, i, j),
                  rounded_once ? std::max(rounding, underflow) : sum_up(rounding, underflow));
  }
};

/// What the entries say together.
struct Gathered {
  Index entries = 0, finite = 0, undecided = 0, exact = 0;
  double relative_ratio = 0;
  std::string wrong_bits, wrong_bound, wrong_identity, wrong_target;  ///< the first of each; empty where there is none
  judging::SquareSum errors, allowed;

  void merge(const Gathered& other) {
    entries += other.entries, finite += other.finite, undecided += other.undecided, exact += other.exact;
    relative_ratio = std::max(relative_ratio, other.relative_ratio);
    for (const auto part : {&Gathered::wrong_bits, &Gathered::wrong_bound, &Gathered::wrong_identity, &Gathered::wrong_target})
      if ((this->*part).empty()) this->*part = other.*part;
    errors.merge_upper(other.errors);
    allowed.merge_lower(other.allowed);
  }
};

/// Whether a scalar is not real: then a certificate is about A B, and counts both parts of an entry where one is open.
bool complex_scalars(const Operands& given) { return given.imaginary_alpha != 0 || given.imaginary_beta != 0; }

/// Whether A and B are read at all.
bool reads_factors(const Operands& given) {
  return (given.alpha != 0 || given.imaginary_alpha != 0) && given.a.rows() > 0 && given.b.cols() > 0;
}

/// What is read: nothing of A and B where alpha = 0 or C has no entries, and no scalar where there are no products.
Operands read_part(const Operands& given) {
  auto operands = given;
  if (!reads_factors(given)) {
    operands.a = operands.a.block(0, 0, operands.a.rows(), 0);
    operands.b = operands.b.block(0, 0, 0, operands.b.cols());
  }
  if (operands.a.cols() == 0) operands.alpha = 1, operands.imaginary_alpha = 0;
  return operands;
}

class Checker {
 public:
  Checker(Claims claims, const Operands& given, const ResultView& c, const CertificateCheckOptions& options)
      : claims_(std::move(claims)),
        given_(given),
        operands_(read_part(given)),
        c_(c),
        options_(options),
        oracle_(given),
        complex_(oracle_.operands().complex),
        scaled_(complex_scalars(given)) {}

  CertificateCheck run() {
    expect("seal", claims_.seal, claims_.sealed);
    if (!claims_.beside.empty()) result_.limits.push_back(fmt::format("of the report: {}", fmt::join(claims_.beside, ", ")));
    if (!subject()) return result_;
    find_finite();
    u_ = unit_roundoff(c_.format());
    tau_ = target_tau();
    if (!method()) return result_;
    set_bounds();
    bound_members();
    const auto gathered = look_at_entries();
    counts(gathered);
    numbers(gathered);
    truths(gathered);
    return result_;
  }

 private:
  /// From below: k u, sqrt(k) u, or what the target says.
  [[nodiscard]] double target_tau() const {
    const auto terms = static_cast<std::uint64_t>(std::max<Index>(given_.a.cols(), 1));
    if (claims_.target.kind == Kind::dgemm) return integer_down(terms) * u_;
    return claims_.target.kind == Kind::dgemm_typical ? root_down(terms) * u_ : claims_.target.tau;
  }

  template <class T>
  bool expect(const char* claim, const T& claimed, const T& found) {
    const bool holds = equal(claimed, found);
    return say(claim, holds, holds ? "" : text(claimed) + " is claimed, and " + text(found) + " found");
  }

  bool say(const char* claim, bool holds, const std::string& finding) {
    result_.claims.push_back({claim, holds, holds ? "" : finding});
    return holds;
  }

  /// Whether the certificate is about these operands. Without the same sizes and scalars nothing else can be recomputed.
  bool subject() {
    const Index parts = complex_ ? 2 : 1;
    bool sizes = !(complex_ || claims_.complex) || kind();
    sizes = expect("m", claims_.m, given_.a.rows() / parts) && sizes;
    sizes = expect("n", claims_.n, given_.b.cols()) && sizes;
    sizes = expect("k", claims_.k, given_.a.cols() / parts) && sizes;
    sizes = expect("alpha", claims_.alpha, given_.alpha) && sizes;
    sizes = expect("beta", claims_.beta, given_.beta) && sizes;
    if (scaled_ || claims_.imaginary) {
      const auto imaginary = claims_.imaginary.value_or(std::pair(0.0, 0.0));
      sizes = expect("imaginary.alpha", imaginary.first, given_.imaginary_alpha) && sizes;
      sizes = expect("imaginary.beta", imaginary.second, given_.imaginary_beta) && sizes;
    }
    sizes = expect<std::string>("type", claims_.narrow ? "binary32" : "binary64",
                                c_.format() == ResultFormat::of_float ? "binary32" : "binary64") &&
            sizes;
    using Print = std::optional<std::string>;
    expect("fingerprints.a", claims_.a_print, reads_factors(given_) ? Print(print_of(given_.a)) : Print());
    expect("fingerprints.b", claims_.b_print, reads_factors(given_) ? Print(print_of(given_.b)) : Print());
    expect("fingerprints.c0", claims_.c0_print, c0_terms(given_, 0).count == 0 ? Print() : Print(print_of(given_.c0)));
    expect("fingerprints.c", claims_.c_print, print_of(c_));
    return sizes;
  }

  /// Whether the product is complex as claimed: A, where it is read, stands for a complex matrix. Bounds of a pair of rows are
  /// mixed, which must have one scale.
  bool kind() {
    if (claims_.complex != complex_) return expect("complex", claims_.complex, complex_);
    const auto& a = operands_.a;
    const auto is_block = [&a](Index i, Index l) { return same(a(i, l), a(i + 1, l + 1)) && same(a(i, l + 1), -a(i + 1, l)); };
    bool blocks = a.rows() % 2 == 0 && a.cols() % 2 == 0;
    for (Index i = 0; blocks && i < a.rows(); i += 2)
      for (Index l = 0; blocks && l < a.cols(); l += 2) blocks = is_block(i, l);
    return say("complex", blocks, "a has no blocks (x, -y; y, x): it stands for no complex matrix");
  }

  void find_finite() {
    const auto& in = operands_;
    const bool finite_alpha = std::isfinite(in.alpha) && std::isfinite(in.imaginary_alpha);
    all_special_ = !std::isfinite(in.beta) || !std::isfinite(in.imaginary_beta) || (in.a.cols() > 0 && !finite_alpha);
    const auto rows = finite_vectors(in.a), columns = finite_vectors(in.b.transposed());
    finite_product_.resize(at(m() * n()));
    finite_.resize(at(m() * n()));
    for_rows(m(), n(), [&](Index i) {
      for (Index j = 0; j < n(); ++j) {
        const bool product = !all_special_ && rows[at(i)] != 0 && columns[at(j)] != 0;
        finite_product_[at(i * n() + j)] = product ? 1 : 0;
        finite_[at(i * n() + j)] = product && finite_c0(i, j) ? 1 : 0;
      }
    });
    finite_entries_ = std::count(finite_.begin(), finite_.end(), 1);
  }

  [[nodiscard]] bool finite_c0(Index i, Index j) const {
    const auto terms = c0_terms(operands_, i);
    return std::all_of(terms.begin(), terms.end(), [&](const RowTerm& t) { return std::isfinite(operands_.c0(t.row, j)); });
  }

  /// Whether the plans are those of a product by this method.
  bool method() {
    const auto count = claims_.plans.size();
    const bool sliced = !all_special_ && (claims_.method == Method::slices || claims_.method == Method::correctly_rounded);
    const bool refined = claims_.method == Method::correctly_rounded || claims_.target.kind == Kind::relative;
    bool fits = sliced ? (refined ? count >= 1 : count == 1) : count == 0;
    for (std::size_t t = 1; fits && t < count; ++t)
      fits = claims_.plans[t].text == finer(claims_.plans[t - 1].plan) && claims_.plans[t].text != claims_.plans[t - 1].text;
    say("plans", fits, fmt::format("{} plans, or their order, do not go with the method and the target", count));
    const bool runs_native = claims_.method == Method::native && !all_special_;
    const bool native = runs_native ? !claims_.native.empty() && !claims_.narrow : claims_.native.empty();
    say("native", native, runs_native ? "a native DGEMM of binary64 has a name" : "no native DGEMM ran");
    const bool takes_relative = sliced && claims_.method == Method::slices && claims_.target.kind == Kind::relative;
    const bool attainable = !takes_relative || tau_ >= u_;
    const bool possible = !(scaled_ && claims_.method == Method::native);
    say("method", attainable && possible,
        possible ? "slices meet no relative target below u" : "native DGEMM has no complex alpha or beta");
    return fits && native && attainable && possible;
  }

  /// With complex scalars, correct rounding meets it.
  [[nodiscard]] bool relative() const {
    return !all_special_ && !scaled_ && claims_.method == Method::slices && claims_.target.kind == Kind::relative;
  }
  [[nodiscard]] bool ziv_alone() const { return claims_.method == Method::correctly_rounded; }
  [[nodiscard]] bool native() const { return !all_special_ && claims_.method == Method::native; }
  [[nodiscard]] bool one_plan() const { return !all_special_ && claims_.method == Method::slices && !relative() && !ziv(); }
  [[nodiscard]] bool ziv() const {
    const bool complex_relative = scaled_ && claims_.method == Method::slices && claims_.target.kind == Kind::relative;
    return !all_special_ && (ziv_alone() || complex_relative);
  }

  void set_bounds() {
    for (const auto& plan : claims_.plans) sliced_.emplace_back(plan.plan, operands_);
    const double least = c_.format() == ResultFormat::of_double ? 0x1p-1074 : 0x1p-150;
    bounds_ = {
        {{}, infinity, std::vector<int>(at(m())), std::vector<int>(at(n()))}, scaled_ ? 1 : operands_.alpha, u_, least, true};
    source_ = "correctly rounded: u |C^| or eta/2";
    if (one_plan()) {
      source_ = "general bound: sum_p h(A_p, T^B_c(p)) + h(T^A_sA, B), or k rho sigma (sum_p a_p t_c(p) + t_sA); one rounding";
      bounds_.product = sliced_[0].bound;
      if (scaled_) set_complex_bound();
    }
    if (relative()) {
      source_ = "relative: every entry within tau |C|";
      bounds_.result_factor = quotient_up(tau_, difference_down(1, tau_));
    }
    if (native()) set_native_bounds();
  }

  void set_complex_bound() {
    source_ = "general bound of the parts of A B, times |alpha_r| and |alpha_i|; one rounding";
    bounds_.product = times_complex(bounds_.product, operands_.alpha, operands_.imaginary_alpha);
  }

  void set_native_bounds() {
    native_ = native_claims(operands_, operands_.a.cols());
    const bool with_c0 = operands_.beta != 0;
    const bool plain = operands_.alpha == 1 || operands_.alpha == -1;
    source_ = with_c0 ? "gamma_{k+3} (|alpha||A||B| + |beta||C0|), |beta||C0| <= |C| + |alpha||A||B|"
              : plain ? "k u |A||B| (Jeannerod, Rump)"
                      : "gamma_{k+3} |alpha||A||B|";
    assumptions_ = {assumed_of_sums, assumed_of_environment, assumed_of_alpha, assumed_of_algorithm};
    if (!native_.obstacle.empty()) assumptions_.push_back("no guarantee: " + native_.obstacle);
    const double share = quotient_up(native_.factor, difference_down(1, native_.factor));
    const Counted a(operands_.a, {}), b(operands_.b.transposed(), {});
    bounds_.product = summation_bound(a, b, with_c0 ? 2 * share : native_.factor);
    bounds_.result_factor = with_c0 ? share : 0;
    bounds_.underflow = !native_.obstacle.empty() ? infinity : with_c0 ? 2 * native_.underflow : native_.underflow;
    bounds_.rounded_once = false;
  }

  void bound_members() {
    std::vector<std::string> terms;
    for (const auto& term : bounds_.product.terms) terms.push_back(term.name);
    expect("bound.source", claims_.source, source_);
    expect("bound.rigorous", claims_.rigorous, assumptions_.empty());
    expect("bound.terms", claims_.terms, terms);
    expect("bound.alpha", claims_.bound_alpha, bounds_.alpha);
    expect("bound.result_factor", claims_.result_factor, bounds_.result_factor);
    expect("bound.underflow", claims_.underflow, bounds_.underflow);
    expect("bound.rounded_once", claims_.rounded_once, bounds_.rounded_once);
    options_.takes_norms ? take_norms() : norms();
  }

  /// `bound.norms`. Of each term the alternatives are 2-norms, 1-norms of rows with maxima of columns, and the other way round.
  void norms() {
    const auto& claimed = claims_.norms;
    const auto& found = bounds_.product;
    expect("bound.norms.uniform", claimed.uniform, found.uniform);
    expect_all("bound.norms.row_exponents", claimed.row_exponents, found.row_exponents);
    expect_all("bound.norms.column_exponents", claimed.column_exponents, found.column_exponents);
    std::vector<double> rows, columns;
    for (const auto& term : found.terms) {
      for (const auto norm : {&Norms::two, &Norms::one, &Norms::max})
        for (const auto& of : term.rows) rows.push_back(of.*norm);
      for (const auto norm : {&Norms::two, &Norms::max, &Norms::one})
        for (const auto& of : term.columns) columns.push_back(of.*norm);
    }
    expect_all("bound.norms.rows", claimed.rows, rows);
    expect_all("bound.norms.columns", claimed.columns, columns);
  }

  /// The norms of the record in place of those that were computed.
  void take_norms() {
    const auto& claimed = claims_.norms;
    const auto terms = bounds_.product.terms.size(), rows = at(m()), columns = at(n());
    const bool fit = claimed.row_exponents.size() == rows && claimed.column_exponents.size() == columns &&
                     claimed.rows.size() == 3 * terms * rows && claimed.columns.size() == 3 * terms * columns;
    if (!say("bound.norms", fit, "they are not of as many terms, rows and columns")) return;
    bounds_.product.uniform = claimed.uniform;
    bounds_.product.row_exponents = claimed.row_exponents;
    bounds_.product.column_exponents = claimed.column_exponents;
    for (std::size_t t = 0; t < terms; ++t) {
      auto& term = bounds_.product.terms[t];
      const auto* const x = claimed.rows.data() + 3 * t * rows;
      const auto* const y = claimed.columns.data() + 3 * t * columns;
      for (std::size_t i = 0; i < rows; ++i) term.rows[i] = {.one = x[rows + i], .two = x[i], .max = x[2 * rows + i]};
      for (std::size_t j = 0; j < columns; ++j)
        term.columns[j] = {.one = y[2 * columns + j], .two = y[j], .max = y[columns + j]};
    }
  }

  template <class Number>
  void expect_all(const char* claim, const std::vector<Number>& claimed, const std::vector<Number>& found) {
    if (claimed.size() != found.size())
      return say(claim, false, fmt::format("{} numbers are claimed, and {} found", claimed.size(), found.size())), void();
    const auto differing = std::mismatch(claimed.begin(), claimed.end(), found.begin(),
                                         [](const Number& x, const Number& y) { return equal(x, y); });
    const bool holds = differing.first == claimed.end();
    say(claim, holds,
        holds ? ""
              : fmt::format("number {} is claimed to be {}, and is {}", differing.first - claimed.begin(),
                            text(*differing.first), text(*differing.second)));
  }

  Gathered look_at_entries() {
    if (claims_.target.kind == Kind::rowcol && (given_.alpha != 0 || given_.imaginary_alpha != 0)) {
      row_norms_ = euclidean(given_.a);
      column_norms_ = euclidean(given_.b.transposed());
    }
    const Index all = m() * n();
    const Index total = options_.selection.is_all() ? all : static_cast<Index>(options_.selection.positions(m(), n()).size());
    std::atomic<Index> done = 0;
    auto gathered = judging::fold_entries(options_.selection, m(), n(), Gathered{}, [&](Gathered& part, Index i, Index j) {
      const PlainEnvironment environment;
      look_at(part, i, j);
      if (options_.progress) options_.progress(static_cast<double>(++done) / static_cast<double>(total));
    });
    result_.entries = gathered.entries;
    return gathered;
  }

  void look_at(Gathered& part, Index i, Index j) const {
    const double c = c_(i, j);
    const auto truth = oracle_.evaluate(i, j, c, c_.format());
    ++part.entries;
    const bool finite = is_finite(i, j);
    EntryProducts products(oracle_, sliced_, j);
    if (finite) ++part.finite;
    const auto expected = finite ? expected_entry(part, products, i, j, truth) : std::optional(truth.rounded);
    if (scaled_ && ziv()) look_at_pair(part, products, i, j);
    if (!finite && one_plan() && other_part_overflows(products, i, j)) ++part.exact;  // as the other part
    if (finite) look_at_identity(part, products, i, j);
    if (expected && !same(c, *expected))
      note(part.wrong_bits, i, j, fmt::format("C is {}, and the method gives {}", hex_text(c), hex_text(*expected)));
    if (!finite) return;
    if (truth.error_upper > Magnitude::of(bounds_.at(i, j, c)))
      note(part.wrong_bound, i, j,
           "the error is " + to_string(truth.error_upper) + ", above its bound " + text(bounds_.at(i, j, c)));
    judge_target(part, i, j, c, truth);
  }

  void note(std::string& where, Index i, Index j, const std::string& what) const {
    if (!where.empty()) return;
    const auto at = entry_of(i, j, complex_);
    where = fmt::format("entry ({}, {}){}: {}", at.i, at.j, at.part.empty() ? "" : ", " + at.part + " part", what);
  }

  /// Whether both parts of a complex entry are finished exactly where one is.
  [[nodiscard]] bool in_pairs() const { return scaled_ && (ziv() || one_plan()); }

  /// C at a finite entry by the method; none of native DGEMM, whose sums are its own.
  std::optional<double> expected_entry(Gathered& part, EntryProducts& products, Index i, Index j,
                                       const OracleEntry& truth) const {
    if (one_plan()) return entry_of_plan(part, products, i, j, truth);
    if (native()) return std::nullopt;
    if (relative()) return accepted(part, products, i, j, truth);
    if (scaled_ && ziv()) return truth.rounded;
    bool open = ziv();
    for (std::size_t t = 0; open && t < sliced_.size(); ++t) {
      open = left_open(products, t, i, j);
      if (open && t == 0) ++part.undecided;
    }
    if (open || claims_.method == Method::exact) ++part.exact;
    return truth.rounded;
  }

  /// The plan's sum, rounded; the exact entry where that is infinite, of a complex one where it is in either part.
  double entry_of_plan(Gathered& part, EntryProducts& products, Index i, Index j, const OracleEntry& truth) const {
    const double c = rounded_to(scaled_sum(products, 0, i, j), c_.format());
    if (!std::isinf(c) && !other_part_overflows(products, i, j)) return c;
    ++part.exact;
    return truth.rounded;
  }

  /// Whether the plan's sum of the other part of a complex entry is infinite.
  [[nodiscard]] bool other_part_overflows(EntryProducts& products, Index i, Index j) const {
    return scaled_ && is_finite(i ^ 1, j) && std::isinf(rounded_to(scaled_sum(products, 0, i ^ 1, j), c_.format()));
  }

  /// C before it is rounded, of one plan. @pre finite.
  [[nodiscard]] ExactNumber scaled_sum(EntryProducts& products, std::size_t t, Index i, Index j) const {
    ExactNumber sum;
    if (operands_.a.cols() > 0)
      for (const auto& [alpha, row] : product_terms(operands_, i)) sum = sum + exact(alpha) * products.sum(t, row);
    for (const auto& [beta, row] : c0_terms(operands_, i)) sum = sum + exact(beta) * exact(operands_.c0(row, j));
    return sum;
  }

  /// Both parts of a complex entry stay open where one is, and are counted, special or not.
  void look_at_pair(Gathered& part, EntryProducts& products, Index i, Index j) const {
    const Index first = i - i % 2;
    bool open = true;
    for (std::size_t t = 0; open && t < sliced_.size(); ++t) {
      open = left_open_if_finite(products, t, first, j) || left_open_if_finite(products, t, first + 1, j);
      if (open && t == 0) ++part.undecided;
    }
    if (open) ++part.exact;
  }

  [[nodiscard]] bool left_open_if_finite(EntryProducts& products, std::size_t t, Index i, Index j) const {
    return is_finite(i, j) && left_open(products, t, i, j);
  }

  /// Ziv's test (targets.md, T5).
  [[nodiscard]] bool left_open(EntryProducts& products, std::size_t t, Index i, Index j) const {
    if (operands_.a.cols() == 0) return false;
    const auto& bound = sliced_[t].bound;
    ExactNumber radius;
    for (const auto& [alpha, row] : product_terms(operands_, i)) {
      const double error = bound.at(row, j);
      if (error == infinity) return true;
      radius = radius + absolute(exact(alpha)) * scaled(error, bound.scale(row, j));
    }
    if (radius.number == 0) return false;
    auto h = absolute(scaled_sum(products, t, i, j));
    if (!scaled_) to_grid(h, radius, exact(operands_.alpha) * products.sum(t, i), i, j);
    if ((h + -radius).number <= 0) return true;
    return !same(rounded_to(h + radius, c_.format()), rounded_to(h + -radius, c_.format()));
  }

  /// Takes a real product to the grid of T5: h rounded down, the radius up, and by one more where h was not on it.
  void to_grid(ExactNumber& h, ExactNumber& radius, const ExactNumber& product, Index i, Index j) const {
    const auto c0 = operands_.beta == 0 ? ExactNumber{} : exact(operands_.beta) * exact(operands_.c0(i, j));
    if (product.number == 0 && c0.number == 0) return;
    const auto top = [](const ExactNumber& x) { return x.number == 0 ? lowest_exponent : leading_exponent(x); };
    const auto unit = std::max(top(product), top(c0)) + 3 - 512;
    const auto units = [unit](const ExactNumber& x) { return ExactNumber{whole_multiple(x, unit), unit}; };
    const auto is_cut = [&units](const ExactNumber& x) { return (x + -units(x)).number != 0; };
    const int more = (is_cut(h) ? 1 : 0) + (is_cut(radius) ? 1 : 0);
    h = units(h);
    radius = units(radius) + ExactNumber{more, unit};
  }

  /// The last plan's entry that is close enough (T4), or the exact one.
  double accepted(Gathered& part, EntryProducts& products, Index i, Index j, const OracleEntry& truth) const {
    const double factor = quotient_down(difference_down(product_down(tau_, 1 - u_), u_), sum_up(1, tau_));
    const double least_normal = c_.format() == ResultFormat::of_double ? 0x1p-1022 : 0x1p-126;
    std::optional<double> value;
    for (std::size_t t = 0; t < sliced_.size(); ++t) {
      const double error = scaled_error(sliced_[t].bound, operands_.alpha, i, j);
      const double c = rounded_to(scaled_sum(products, t, i, j), c_.format());
      const double allowed = product_down(factor, std::fabs(c));
      const bool close = std::isfinite(c) && std::fabs(c) >= least_normal && error <= allowed;
      if (sliced_[t].bound.at(i, j) == 0 || close) {
        value = c;
        if (sliced_[t].bound.at(i, j) > 0) part.relative_ratio = std::max(part.relative_ratio, quotient_up(error, allowed));
      } else if (t == 0) {
        ++part.undecided;
      }
    }
    if (!value) ++part.exact;
    return value.value_or(truth.rounded);
  }

  /// What the norms bound, AB - S (general_bound.md, G1), from the elements and the digits alone: no formula that a bound
  /// comes from has a part in it.
  void look_at_identity(Gathered& part, EntryProducts& products, Index i, Index j) const {
    if (operands_.a.cols() == 0) return;
    if (one_plan()) {
      ExactNumber error;
      for (const auto& [alpha, row] : product_terms(operands_, i))
        error = error + exact(scaled_ ? alpha : 1) * (products.exact(row) + -products.sum(0, row));
      return compare(part, error, bounds_.product, i, j);
    }
    for (std::size_t t = 0; t < sliced_.size(); ++t)
      for (const auto& [alpha, row] : product_terms(operands_, i))
        if (products.has_sum(t, row)) compare(part, products.exact(row) + -products.sum(t, row), sliced_[t].bound, row, j);
  }

  void compare(Gathered& part, const ExactNumber& error, const RelativeBound& bound, Index i, Index j) const {
    const double relative = bound.at(i, j);
    if (relative == infinity || (scaled(relative, bound.scale(i, j)) + -absolute(error)).number >= 0) return;
    note(part.wrong_identity, i, j,
         "AB and the sum of the slices' products are " + reference::exact_text(absolute(error)) + " apart, above their bound " +
             text(relative) + fmt::format(" times 2^{}", bound.scale(i, j)));
  }

  /// x * 2^exponent.
  static ExactNumber scaled(double x, std::int64_t exponent) {
    auto number = exact(x);
    number.exponent += exponent;
    return number;
  }

  [[nodiscard]] bool is_finite(Index i, Index j) const { return finite_[at(i * n() + j)] != 0; }

  void judge_target(Gathered& part, Index i, Index j, double c, const OracleEntry& truth) const {
    if (!claims_.holds) return;
    if (claims_.target.kind == Kind::cr) {
      if (!same(c, truth.rounded))
        note(part.wrong_target, i, j, fmt::format("{} is not {}, the correct rounding", hex_text(c), hex_text(truth.rounded)));
      return;
    }
    const auto allowed = of_ratio(allowance(i, j, truth));
    if (claims_.target.kind == Kind::normwise) {
      part.errors.add_upper(truth.error_upper);
      part.allowed.add_lower(allowed);
    } else if (truth.error_upper > add_lower(allowed, underflow())) {
      note(part.wrong_target, i, j,
           fmt::format("the error is {}, and {:.6g} of what the target allows is {}", to_string(truth.error_upper),
                       claims_.ratio, to_string(allowed)));
    }
  }

  /// The share of what the target allows that the ratio leaves. Here it is rounded down, in three operations of 2^-52 at most.
  [[nodiscard]] Magnitude of_ratio(const Magnitude& allowed) const {
    const double share = claims_.ratio * (1 + 0x1p-49);
    return share < 1 ? multiply_lower(Magnitude::of(share), allowed) : allowed;
  }

  [[nodiscard]] Magnitude underflow() const {
    const auto half = Magnitude::power_of_two(smallest_exponent(c_.format()) - 1);
    if (claims_.target.kind != Kind::dgemm) return half;
    return multiply_lower(half, Magnitude::of(integer_down(static_cast<std::uint64_t>(std::max<Index>(given_.a.cols(), 1)))));
  }

  /// tau times M, or what stands in M's place.
  [[nodiscard]] Magnitude allowance(Index i, Index j, const OracleEntry& truth) const {
    const auto tau = Magnitude::of(tau_);
    if (claims_.target.kind == Kind::relative) return multiply_lower(tau, truth.value_lower);
    if (claims_.target.kind != Kind::rowcol) return multiply_lower(tau, truth.scale_lower);
    Magnitude sum;
    for (const auto& [alpha, row] : product_terms(given_, i))
      if (std::isfinite(alpha))
        sum = add_lower(sum, multiply_lower(Magnitude::of(alpha), multiply_lower(row_norms_[at(row)], column_norms_[at(j)])));
    for (const auto& [beta, row] : c0_terms(given_, i))
      sum = add_lower(sum, multiply_lower(Magnitude::of(beta), Magnitude::of(given_.c0(row, j))));
    return multiply_lower(tau, sum);
  }

  static std::vector<Magnitude> euclidean(MatrixView<const double> vectors) {
    std::vector<Magnitude> norms;
    for (Index i = 0; i < vectors.rows(); ++i) {
      judging::SquareSum squares;
      for (Index l = 0; l < vectors.cols(); ++l)
        if (std::isfinite(vectors(i, l))) squares.add_lower(Magnitude::of(vectors(i, l)));
      norms.push_back(squares.root_lower());
    }
    return norms;
  }

  void counts(const Gathered& gathered) {
    const bool pairs = in_pairs();
    const Index looked_at = pairs ? gathered.entries : gathered.finite, all = pairs ? m() * n() : finite_entries_;
    count("undecided_entries", claims_.undecided, gathered.undecided, looked_at, all);
    count("exact_entries", claims_.exact, gathered.exact, looked_at, all);
  }

  /// A count over all entries, or one that a sample leaves possible.
  void count(const char* claim, Index claimed, Index found, Index looked_at, Index all) {
    if (options_.selection.is_all()) {
      expect(claim, claimed, found);
      return;
    }
    const Index most = all - (looked_at - found);
    say(claim, claimed >= found && claimed <= most,
        fmt::format("{} is claimed, and the sample leaves {} to {}", claimed, found, most));
    if (found < most) result_.limits.push_back(std::string(claim) + ": by a sample");
  }

  void numbers(const Gathered& gathered) {
    const PlainEnvironment environment;
    const auto expected = expected_ratio(gathered);
    if (options_.selection.is_all() || !relative()) {
      expect("ratio", claims_.ratio, expected.ratio);
    } else {
      say("ratio", claims_.ratio >= expected.ratio && claims_.ratio <= 1,
          text(claims_.ratio) + " is claimed, and the sample has " + text(expected.ratio));
      result_.limits.emplace_back("ratio: by a sample");
    }
    expect("worst_entry", claims_.worst, entry_of(expected.i, expected.j, complex_));
    expect("holds", claims_.holds, claims_.ratio <= 1);
    expect("assumptions", claims_.assumptions, assumptions(expected));
    expect("largest_bound", claims_.largest_bound, largest_bound());
  }

  /// What is assumed where nothing is, and what a search for the worst entry by tensor cores may have taken on trust: where
  /// level 1 of the enclosure does not settle every entry, its sums are what says which entries to look at (enclosure.md, E5).
  [[nodiscard]] std::vector<std::string> assumptions(const WorstRatio& expected) const {
    const bool by_entry = claims_.target.kind != Kind::rowcol && claims_.target.kind != Kind::normwise;
    const bool may_search = one_plan() && by_entry && expected.loose && operands_.a.cols() <= longest_by_tensor_cores;
    auto all = assumptions_;
    if (may_search && claims_.assumptions == std::vector<std::string>{assumed_of_tensor_cores})
      all.emplace_back(assumed_of_tensor_cores);  // by who searched; nothing is assumed here
    return all;
  }

  [[nodiscard]] double largest_bound() const {
    std::vector<double> of_rows(at(m()));
    for_rows(m(), n(), [&](Index i) {
      for (Index j = 0; j < n(); ++j)
        if (is_finite(i, j)) of_rows[at(i)] = std::max(of_rows[at(i)], bounds_.at(i, j, c_(i, j)));
    });
    return of_rows.empty() ? 0 : *std::max_element(of_rows.begin(), of_rows.end());
  }

  [[nodiscard]] WorstRatio expected_ratio(const Gathered& gathered) const {
    const double rounding = tau_ >= u_ ? std::min(1.0, quotient_up(u_, tau_)) : infinity;
    const bool cr = claims_.target.kind == Kind::cr;
    if (relative()) return {with_rounding(gathered.relative_ratio, tau_, u_)};
    if (native()) return {native_meets() ? std::min(1.0, quotient_up(native_.factor, tau_)) : infinity};
    if (!one_plan()) return {cr ? 1 : rounding};
    if (cr) return zero_error();
    if (!(tau_ >= u_)) return {infinity};
    if (scaled_ && claims_.target.kind == Kind::normwise && finite_ != finite_product_) return {infinity};
    if (scaled_) return worst_ratio(sliced_[0].bound, claims_.target, tau_, u_, {operands_.a, operands_.b}, finite_product_);
    return worst_ratio(bounds_.product, claims_.target, tau_, u_, operands_, finite_);
  }

  /// A plan alone is correctly rounded where its error bound is zero. The last entry where it is not is the one that is told.
  [[nodiscard]] WorstRatio zero_error() const {
    std::vector<Index> last(at(m()), -1);
    for_rows(m(), n(), [&](Index i) {
      for (Index j = 0; j < n(); ++j)
        if (is_finite(i, j) && bounds_.product.at(i, j) > 0) last[at(i)] = j;
    });
    for (Index i = m() - 1; i >= 0; --i)
      if (last[at(i)] >= 0) return {infinity, i, last[at(i)]};
    return {1};
  }

  [[nodiscard]] bool native_meets() const {
    if (!native_.obstacle.empty() || claims_.target.kind == Kind::cr || claims_.target.kind == Kind::relative) return false;
    const bool plain = (operands_.alpha == 1 || operands_.alpha == -1) && operands_.beta == 0;
    const bool allowed = claims_.target.kind == Kind::dgemm && plain && operands_.a.cols() <= longest_native_underflow;
    if (native_.underflow > 0 && !allowed) return false;
    return native_.factor <= tau_;
  }

  /// The claims that a wrong C breaks.
  void truths(const Gathered& gathered) {
    say("c", gathered.wrong_bits.empty(), gathered.wrong_bits);
    say("bound", gathered.wrong_bound.empty(), gathered.wrong_bound);
    if (!sliced_.empty()) say("identity", gathered.wrong_identity.empty(), gathered.wrong_identity);
    if (claims_.holds) target(gathered);
    if (native()) result_.limits.emplace_back("c: the bits of native DGEMM are the library's; they keep their bound");
    if (native()) result_.limits.emplace_back("native: that this library ran");
    if (relative() || ziv())
      result_.limits.emplace_back("plans: that these and no others were tried, where others leave the same entries");
    if (!options_.selection.is_all()) result_.limits.emplace_back("c, bound, identity, target: by a sample");
  }

  void target(const Gathered& gathered) {
    if (claims_.target.kind != Kind::normwise) {
      say("target", gathered.wrong_target.empty(), gathered.wrong_target);
      return;
    }
    if (!options_.selection.is_all()) return result_.limits.emplace_back("target: no sample shows a norm"), void();
    const auto entries = Magnitude::of(static_cast<double>(gathered.finite));
    const auto allowed = add_lower(gathered.allowed.root_lower(), multiply_lower(sqrt_lower(entries), underflow()));
    say("target", !(gathered.errors.root_upper() > allowed),
        fmt::format("the norm of the error is {}, and {:.6g} of what the target allows is {}",
                    to_string(gathered.errors.root_upper()), claims_.ratio, to_string(allowed)));
  }

  [[nodiscard]] Index m() const { return operands_.a.rows(); }
  [[nodiscard]] Index n() const { return operands_.b.cols(); }

  Claims claims_;
  Operands given_, operands_;
  ResultView c_;
  const CertificateCheckOptions& options_;
  ExactOracle oracle_;
  CertificateCheck result_;
  double u_ = 0, tau_ = 0;
  bool complex_ = false;  ///< the product is
  bool scaled_ = false;   ///< a scalar is
  bool all_special_ = false;
  std::vector<std::uint8_t> finite_product_, finite_;  ///< of A B, and of C
  Index finite_entries_ = 0;
  std::vector<Sliced> sliced_;
  EntryBounds bounds_;
  NativeClaims native_;
  std::string source_;
  std::vector<std::string> assumptions_;
  std::vector<Magnitude> row_norms_, column_norms_;
};

}  // namespace
}  // namespace ozbound::checking

namespace ozbound {

bool CertificateCheck::holds() const {
  return std::all_of(claims.begin(), claims.end(), [](const auto& claim) { return claim.holds; });
}

CertificateCheck check_certificate(std::string_view json, const Operands& operands, const ResultView& c,
                                   const CertificateCheckOptions& options) {
  if (c.rows() != operands.a.rows() || c.cols() != operands.b.cols())
    throw std::invalid_argument(fmt::format("c must be {} x {}", operands.a.rows(), operands.b.cols()));
  const checking::PlainEnvironment environment;  // in which numbers are read, too
  auto claims = checking::read_claims(json);
  return checking::Checker(std::move(claims), operands, c, options).run();
}

EntrySelection affordable_selection(std::string_view json, std::uint64_t seed) {
  const checking::PlainEnvironment environment;
  const auto entries = checking::affordable_entries(checking::read_claims(json));
  return entries ? EntrySelection::sample(*entries, seed) : EntrySelection::all();
}

}  // namespace ozbound
