// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/complex_gemm.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "block_sizes.hpp"
#include "entry_layout.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/detail/combine_complex.hpp"
#include "ozbound/core/detail/exact_dot.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/progress.hpp"

namespace ozbound {
namespace {

double component(std::complex<double> x, Part of) { return of == Part::real ? x.real() : x.imag(); }

/// A component of a complex product is the sum of two real products. Each part of the first factor meets one part of the second
/// (met_by); the product of two imaginary parts is subtracted.
Part met_by(Part first, Part of) { return first == Part::real ? of : other(of); }
bool subtracted(Part first, Part of) { return first == Part::imaginary && of == Part::real; }

std::uint64_t flipped(std::uint64_t bits, bool flip) { return bits ^ (flip ? binary64.sign : 0); }
Dyadic flipped(Dyadic x, bool flip) { return {x.magnitude, x.exponent, x.negative != flip}; }

constexpr Index terms_of_poll = Index{1} << 16;  // terms of a sum between checks of CancelScope

/// Adds alpha times component `of` of row i of A by column j of B.
void add_special_products(SpecialSum& sum, std::uint64_t alpha, const ComplexProduct& product, Index i, Index j, Part of) {
  for (const auto p : both_parts)
    for (Index l = 0; l < product.k(); ++l) {
      if (l % terms_of_poll == 0) poll_cancelled();
      sum.add(flipped(alpha, subtracted(p, of)), product.a.bits(i, l, p), product.b.bits(l, j, met_by(p, of)));
    }
}

/// The effect of NaN and infinities on a component of C.
SpecialSum special_sum(const ComplexProduct& product, Index i, Index j, Part of, bool with_product) {
  SpecialSum sum;
  for (const auto p : both_parts) {
    const double alpha = component(product.alpha, p), beta = component(product.beta, p);
    const bool minus = subtracted(p, of);
    if (with_product && !is_zero(alpha))
      add_special_products(sum, flipped(bits_of(alpha), minus), product, i, j, met_by(p, of));
    if (!is_zero(beta)) sum.add(flipped(bits_of(beta), minus), product.c0.bits(i, j, met_by(p, of)), bits_of(1.0));
  }
  return sum;
}

/// [i]: 1 if row i holds a NaN or an infinity.
std::vector<std::uint8_t> special_rows(const ComplexInputView& matrix, int threads) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(matrix.rows()));
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < matrix.rows(); ++i)
    failure.run([&] {
      for (Index l = 0; l < matrix.cols(); ++l)
        for (const auto of : both_parts)
          if (!is_finite(matrix.bits(i, l, of), binary64)) flags[static_cast<std::size_t>(i)] = 1;
    });
  failure.rethrow();
  return flags;
}

/// The exact parts of row i of A by column j of B.
void exact_parts(const ComplexProduct& product, Index i, Index j, WideDyadic<ExactDot::limbs> (&parts)[2]) {
  for (const auto of : both_parts) {
    ExactDot dot;
    for (const auto p : both_parts)
      for (Index l = 0; l < product.k(); ++l) {
        if (l % terms_of_poll == 0) poll_cancelled();
        dot.add_product(flipped(product.a.element(i, l, p), subtracted(p, of)), product.b.element(l, j, met_by(p, of)));
      }
    parts[static_cast<std::size_t>(of)] = dot.value();
  }
}

/// The steps after an exact A B: alpha A B + beta C0, rounded once by component; NaN and infinities; the order of reading and
/// writing if C0 is C.
class ComplexEpilogue {
 public:
  ComplexEpilogue(const ComplexProduct& product, int threads)
      : product_(product), has_product_(product.has_product()), everywhere_(product.all_special()) {
    if (has_product_) rows_ = special_rows(product.a, threads), columns_ = special_rows(product.b.transposed(), threads);
    if (!everywhere_)
      scalars_ = {{dyadic(has_product_ ? product.alpha.real() : 0), dyadic(has_product_ ? product.alpha.imag() : 0)},
                  {dyadic(product.beta.real()), dyadic(product.beta.imag())},
                  product.c.format()};
  }

  [[nodiscard]] bool has_product() const { return has_product_; }
  [[nodiscard]] bool everywhere() const { return everywhere_; }
  [[nodiscard]] const ComplexScalars& scalars() const { return scalars_; }

  /// Writes entry (i, j) if both components are decided, and returns true if it did. rounded(part, c0) gives a finite
  /// component.
  template <class Rounding>
  bool write(Index i, Index j, const Rounding& rounded) const {
    Rounded parts[2];
    const bool special = special_product(i, j);
    for (const auto of : both_parts) parts[index(of)] = value(i, j, of, special, rounded);
    if (!parts[0].decided || !parts[1].decided) return false;
    for (const auto of : both_parts) product_.c.parts(of).set_bits(i, j, parts[index(of)].bits);
    return true;
  }

 private:
  static std::size_t index(Part of) { return static_cast<std::size_t>(of); }
  static Dyadic dyadic(double x) { return to_dyadic(x); }

  [[nodiscard]] bool special_product(Index i, Index j) const {
    return has_product_ &&
           (everywhere_ || rows_[static_cast<std::size_t>(i)] != 0 || columns_[static_cast<std::size_t>(j)] != 0);
  }

  template <class Rounding>
  Rounded value(Index i, Index j, Part of, bool special_product, const Rounding& rounded) const {
    const auto special = special_sum(product_, i, j, of, special_product);
    if (special.is_special()) return {special.bits(product_.c.format()), true};
    return rounded(of, c0(i, j));
  }

  /// The parts of C0, if C0 is read; otherwise zeros. Parts that are not finite count as zero.
  [[nodiscard]] std::array<Dyadic, 2> c0(Index i, Index j) const {
    if (!product_.reads_c0()) return {};
    return {finite_or_zero(product_.c0.bits(i, j, Part::real)), finite_or_zero(product_.c0.bits(i, j, Part::imaginary))};
  }
  static Dyadic finite_or_zero(std::uint64_t bits) { return is_finite(bits, binary64) ? to_dyadic(bits, binary64) : Dyadic{}; }

  const ComplexProduct& product_;
  bool has_product_;
  bool everywhere_;  ///< no entry is finite
  std::vector<std::uint8_t> rows_, columns_;
  ComplexScalars scalars_{};
};

/// Calls write(i, j) for entries [0, rows) x [0, columns), in threads with a FloatEnvironment each. write returns true if it
/// wrote the entry; the other entries are returned in row order.
template <class Write>
std::vector<Entry> write_entries(Index rows, Index columns, int threads, const Write& write) {
  std::vector<std::vector<Entry>> open(static_cast<std::size_t>(rows));
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (Index i = 0; i < rows; ++i)
    failure.run([&] {
      const FloatEnvironment environment;
      for (Index j = 0; j < columns; ++j)
        if (!write(i, j)) open[static_cast<std::size_t>(i)].push_back({i, j});
    });
  writing_c([&] { failure.rethrow(); });
  std::vector<Entry> all;
  for (const auto& row : open) all.insert(all.end(), row.begin(), row.end());
  return all;
}

void write_exactly(const ComplexProduct& product, const ComplexEpilogue& epilogue, Index i, Index j) {
  WideDyadic<ExactDot::limbs> sums[2];
  bool known = false;  // both components need both parts
  epilogue.write(i, j, [&](Part of, const std::array<Dyadic, 2>& c0) {
    if (epilogue.has_product() && !known) exact_parts(product, i, j, sums);
    known = true;
    return round_terms(complex_terms(sums, c0, epilogue.scalars(), of), {}, product.c.format());
  });
}

/// Bytes of the integer sums of both parts of rows x columns entries.
double sums_bytes(const Plan& plan, Index rows, Index columns, Index k) {
  const int sums = plan.visit([k](const SplitPlan& slices) { return sum_layout(slices, 2 * k).count; },
                              [](const ResiduePlan& residues) { return residue_groups(residues.moduli); });
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * sums * sizeof(std::int64_t);
}

/// Bytes of the integer sums and of the operands and workspace that produce them.
double complex_scalar_workspace(const Engine& engine, const Plan& plan, Index rows, Index columns, Index k) {
  return engine.workspace(plan, 2 * rows, columns, 2 * k) + sums_bytes(plan, rows, columns, k);
}

/// The integer sums of A B's stacked parts under a plan, and their layout and scales.
class PlanSums {
 public:
  /// @param a rows of the left factor @param b columns of the stacked parts of B
  PlanSums(const InputView& a, const InputView& b, const Plan& plan, const Engine& engine) {
    const Index m = a.rows(), n = b.cols(), k = a.cols();
    const auto complex = complex_forms(engine, plan, m, n, k, engine.workspace(plan, m, n, k));
    const auto forms = complex ? *complex : operand_forms(plan);
    const auto rows = engine.prepare(a, Side::rows_of_a, forms.a), columns = engine.prepare(b, Side::columns_of_b, forms.b);
    plan.visit([&](const SplitPlan& slices) { take_slices(rows.slices(), columns.slices(), slices, engine); },
               [&](const ResiduePlan& residues) { take_residues(rows.residues(), columns.residues(), residues, engine); });
  }

  [[nodiscard]] std::size_t count() const { return sums_.size(); }
  [[nodiscard]] std::int64_t at(std::size_t t, Index i, Index j) const { return sums_[t](i, j); }
  [[nodiscard]] int scale(Index i, Index j) const {
    return row_exponents_[static_cast<std::size_t>(i)] + column_exponents_[static_cast<std::size_t>(j)];
  }
  [[nodiscard]] SumLayout layout(Index i, Index j) const {
    return groups_.empty() ? layout_ : entry_layout(layout_, groups_, *a_, i, *b_, j);
  }

 private:
  void take_slices(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan, const Engine& engine) {
    sums_ = engine.group_sums(a, b, plan);
    layout_ = sum_layout(plan, a.inner_dimension());
    for (Index i = 0; i < a.count(); ++i) row_exponents_.push_back(a.exponent(i));
    for (Index j = 0; j < b.count(); ++j) column_exponents_.push_back(b.exponent(j));
    if (!plan.common_ratio()) a_ = a, b_ = b, groups_ = plan.groups(a.inner_dimension());
  }

  void take_residues(const ResidueMatrix& a, const ResidueMatrix& b, const ResiduePlan& plan, const Engine& engine) {
    sums_ = engine.recovered_groups(a, b, plan);
    layout_ = residue_layout(plan);
    for (Index i = 0; i < a.count(); ++i) row_exponents_.push_back(a.residues().scale(i).exponent);
    for (Index j = 0; j < b.count(); ++j) column_exponents_.push_back(b.residues().scale(j).exponent);
  }

  std::vector<Matrix<std::int64_t>> sums_;
  SumLayout layout_{};
  std::vector<int> row_exponents_, column_exponents_;
  std::vector<ProductGroup> groups_;  ///< not empty if entries have weights of their own, read from these slices
  std::optional<SlicedMatrix> a_, b_;
};

/// The product of a call with scalars of any kind, by slices or residues.
class ComplexScalarProduct {
 public:
  ComplexScalarProduct(const ComplexProduct& product, const Plan& plan, const Engine& engine, const EntryBound* error)
      : product_(product),
        plan_(plan),
        engine_(engine),
        error_(error),
        epilogue_(product, engine.threads()),
        factors_(real_factors(product, engine.threads())) {}

  std::vector<Entry> run(double workspace) const {
    if (!epilogue_.has_product() || epilogue_.everywhere()) return run_without_product();
    const auto bytes = [this](Index r, Index c) { return complex_scalar_workspace(engine_, plan_, r, c, product_.k()); };
    auto [rows, columns] = block_sizes(bytes, product_.m(), product_.n(), product_.k(), workspace);
    while (rows * columns > 1 && sums_bytes(plan_, rows, columns, product_.k()) > most_sums_bytes)
      (rows >= columns ? rows : columns) = (std::max(rows, columns) + 1) / 2;
    std::vector<Entry> open;
    run_blocks({0, 0, product_.m(), product_.n()}, rows, columns, open);
    std::sort(open.begin(), open.end());
    return open;
  }

 private:
  static constexpr double most_sums_bytes = 0x1p27;  ///< cap of the integer sums in memory, unless one entry needs more

  /// Entries [i, i + rows) x [j, j + columns).
  struct Block {
    Index i, j, rows, columns;
  };

  /// Runs a block in smaller blocks. A block for which the engine lacks memory is cut further.
  void run_blocks(const Block& all, Index rows, Index columns, std::vector<Entry>& open) const {
    for (Index i = all.i; i < all.i + all.rows; i += rows)
      for (Index j = all.j; j < all.j + all.columns; j += columns) {
        const Block block{i, j, std::min(rows, all.i + all.rows - i), std::min(columns, all.j + all.columns - j)};
        try {
          run_block(block, open);
        } catch (const OutOfMemory&) {
          if (block.rows == 1 && block.columns == 1) throw;
          run_blocks(block, (block.rows + 1) / 2, (block.columns + 1) / 2, open);
        }
      }
  }

  /// Computes C if the scalars are not finite or the product has no terms.
  [[nodiscard]] std::vector<Entry> run_without_product() const {
    const WideDyadic<1> none[2] = {};
    return write_entries(product_.m(), product_.n(), engine_.threads(), [&](Index i, Index j) {
      return epilogue_.write(i, j, [&](Part of, const std::array<Dyadic, 2>& c0) {
        return round_terms(complex_terms(none, c0, epilogue_.scalars(), of), {}, product_.c.format());
      });
    });
  }

  void run_block(const Block& block, std::vector<Entry>& open) const {
    const auto& [i, j, rows, columns] = block;
    const Index k = 2 * product_.k();
    const PlanSums sums(factors_.a.view().block(2 * i, 0, 2 * rows, k), factors_.b.view().block(0, j, k, columns), plan_,
                        engine_);
    const auto left = write_entries(rows, columns, engine_.threads(), [&](Index row, Index column) {
      return epilogue_.write(block.i + row, block.j + column, [&](Part of, const std::array<Dyadic, 2>& c0) {
        return rounded(sums, {block.i, block.j}, row, column, of, c0);
      });
    });
    for (const auto& entry : left) open.push_back({i + entry.i, j + entry.j});
  }

  /// Component `of` of entry (row, column) of the block that begins at `origin`.
  [[nodiscard]] Rounded rounded(const PlanSums& sums, Entry origin, Index row, Index column, Part of,
                                const std::array<Dyadic, 2>& c0) const {
    std::int64_t parts[2][SumLayout::max_groups];
    for (std::size_t t = 0; t < sums.count(); ++t)
      for (int p = 0; p < 2; ++p) parts[p][t] = sums.at(t, 2 * row + p, column);
    ComplexSums entry{{parts[0], parts[1]}, 1};
    for (int p = 0; error_ != nullptr && p < 2; ++p)
      entry.errors[p] = error_->upper(2 * (origin.i + row) + p, origin.j + column);
    return combine_complex(entry, sums.layout(2 * row, column), sums.scale(2 * row, column), epilogue_.scalars(), c0, of);
  }

  const ComplexProduct& product_;
  const Plan& plan_;
  const Engine& engine_;
  const EntryBound* error_;
  ComplexEpilogue epilogue_;
  RealFactors factors_;
};

}  // namespace

std::vector<Entry> multiply_with_complex_scalars(const ComplexProduct& product, const Plan& plan, const Engine& engine,
                                                 const EntryBound* error, double workspace) {
  const FloatEnvironment environment;
  plan.validate();
  const ComplexScalarProduct multiplication(product, plan, engine, error);
  begin_progress(2 * product.m() * product.n());  // counts real and imaginary parts
  return writing_c([&] { return multiplication.run(workspace); });
}

double least_complex_scalar_workspace(const Engine& engine, const Plan& plan, Index k) {
  const FloatEnvironment environment;
  return complex_scalar_workspace(engine, plan, 1, 1, k);
}

double full_complex_scalar_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k) {
  const FloatEnvironment environment;
  return complex_scalar_workspace(engine, plan, std::max<Index>(m, 1), std::max<Index>(n, 1), k);
}

void finish_exactly(const ComplexProduct& product, const std::vector<Entry>& entries, int threads) {
  const ComplexEpilogue epilogue(product, threads);
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (const auto& entry : entries) failure.run([&] { write_exactly(product, epilogue, entry.i, entry.j); });
  writing_c([&] { failure.rethrow(); });
}

void multiply_exactly(const ComplexProduct& product, int threads) {
  const ComplexEpilogue epilogue(product, threads);
  auto* const progress = begin_progress(product.m() * product.n());
  write_entries(product.m(), product.n(), threads, [&](Index i, Index j) {
    write_exactly(product, epilogue, i, j);
    if (progress != nullptr) progress->add(1);
    return true;
  });
}

}  // namespace ozbound
