// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "block_sizes.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/detail/exact_dot.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/team_size.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/progress.hpp"
#include "ozbound/core/special.hpp"
#include "ozbound/core/special_entries.hpp"

namespace ozbound {
namespace {

constexpr Index terms_of_poll = Index{1} << 16;  // terms of a sum between checks of CancelScope

SpecialSum special_sum(const RealProduct& product, Index i, Index j, bool with_product) {
  SpecialSum sum;
  const auto alpha = bits_of(product.alpha);
  for (Index l = 0; with_product && l < product.k(); ++l) {
    if (l % terms_of_poll == 0) poll_cancelled();
    sum.add(alpha, product.a.bits(i, l), product.b.bits(l, j));
  }
  if (!is_zero(product.beta)) sum.add(bits_of(product.beta), product.c0.bits(i, j), bits_of(1.0));
  return sum;
}

void read_row(const InputView& view, Index i, std::vector<Dyadic>& elements) {
  elements.resize(static_cast<std::size_t>(view.cols()));
  for (Index l = 0; l < view.cols(); ++l) elements[static_cast<std::size_t>(l)] = view.element(i, l);
}

/// column(l) is element l of column j of B.
template <class Column>
std::uint64_t exact_entry(const RealProduct& product, const std::vector<Dyadic>& row, const Column& column, Index i, Index j) {
  ExactDot dot;
  for (std::size_t l = 0; l < row.size(); ++l) {
    if (l % terms_of_poll == 0) poll_cancelled();
    dot.add_product(row[l], column(l));
  }
  const auto c0 = is_zero(product.beta) ? Dyadic{} : product.c0.element(i, j);
  return dot.round({to_dyadic(product.alpha), to_dyadic(product.beta), product.c.format()}, c0);
}

/// Number of steps of `entries` exact sums, for team_size.
double exact_steps(const RealProduct& product, Index entries) {
  return static_cast<double>(entries) * (16 + 4 * static_cast<double>(product.k()));
}

/// Numbers of rows and columns of C's blocks that fit the workspace cap. Kept operands are not cut.
std::pair<Index, Index> block_sizes(const Engine& engine, const Plan& plan, Index m, Index n, Index k, double cap,
                                    KeptOperands kept = {}) {
  const auto bytes = [&](Index rows, Index columns) { return engine.workspace(plan, rows, columns, k); };
  return ozbound::block_sizes(bytes, m, n, k, cap, {kept.a == nullptr, kept.b == nullptr});
}

/// Rows [i, i + height) and columns [j, j + width) of C.
RealProduct block_of(const RealProduct& product, Index i, Index j, Index height, Index width) {
  auto block = product;
  block.a = product.a.block(i, 0, height, product.k());
  block.b = product.b.block(0, j, product.k(), width);
  block.c = product.c.block(i, j, height, width);
  if (!is_zero(product.beta)) block.c0 = product.c0.block(i, j, height, width);
  return block;
}

/// The blocks of a product, and the forms of their operands.
struct Blocks {
  Index rows, columns;
  OperandForms forms;
};

/// Blocks of at most `rows` by `columns` entries, with complex layers if possible. They have half the columns if complex layers
/// fit the same number of bytes only then. Blocks of several rows begin with a real part, so that smaller blocks of them may
/// also have complex layers. If an operand is kept, neither operand has complex layers.
Blocks blocks_of(const RealProduct& product, const Plan& plan, const Engine& engine, KeptOperands kept, Index rows,
                 Index columns) {
  if (product.stands_for_complex && rows > 1) rows = rows / 2 * 2;
  const Index height = rows > 1 ? std::min(product.m(), rows) : 0, width = std::min(product.n(), columns);
  const bool complex = product.stands_for_complex && height > 0 && kept.a == nullptr && kept.b == nullptr;
  const double most = complex ? engine.workspace(plan, height, width, product.k()) : 0;
  for (const Index narrower : {width, (width + 1) / 2})
    if (const auto forms = complex ? complex_forms(engine, plan, height, narrower, product.k(), most) : std::nullopt)
      return {height, narrower, *forms};
  return {rows, columns, operand_forms(plan)};
}

/// The kept slices or residues of an operand, or new ones.
IntegerOperand operand(const Engine& engine, InputView of, Side side, const OperandForm& form, const IntegerOperand* kept) {
  return kept != nullptr ? *kept : engine.prepare(of, side, form);
}

/// Multiplies blocks of C, of at most the given numbers of rows and columns. A block for which the engine lacks memory is cut.
/// @pre alpha and beta are finite; kept operands have the plan's form.
std::vector<Entry> multiply_blocks(const RealProduct& product, const Plan& plan, const Engine& engine, KeptOperands kept,
                                   ZivBound error, Index most_rows, Index most_columns) {
  const auto [rows, columns, forms] = blocks_of(product, plan, engine, kept, most_rows, most_columns);
  std::optional<FetchedZivBound> here;  // blocks take parts of it; an engine knows only the whole of a remote bound
  const bool in_parts = rows < product.m() || columns < product.n();
  if (in_parts) error = here.emplace(error).get();
  std::vector<Entry> undecided;
  for (Index i = 0; i < product.m(); i += rows) {
    const Index height = std::min(rows, product.m() - i);
    std::optional<IntegerOperand> a;
    for (Index j = 0; j < product.n(); j += columns) {
      const Index width = std::min(columns, product.n() - j);
      const auto block = block_of(product, i, j, height, width);
      const auto block_error = error.host() == nullptr ? EntryBound{} : error.host()->block(i, j, height, width);
      const auto ziv_bound = error.host() == nullptr ? error : ZivBound(&block_error);
      std::vector<Entry> left;
      try {
        if (!a) a = operand(engine, block.a, Side::rows_of_a, forms.a, kept.a);
        const auto b = operand(engine, block.b, Side::columns_of_b, forms.b, kept.b);
        const Epilogue epilogue{product.alpha, product.beta, is_zero(product.beta) ? InputView{} : block.c0, ziv_bound};
        left = engine.multiply(*a, b, plan, epilogue, block.c);
      } catch (const OutOfMemory&) {
        const bool cut_rows = height > 1 && kept.a == nullptr, cut_columns = width > 1 && kept.b == nullptr;
        if (!cut_rows && !cut_columns) throw;
        a.reset();
        left = multiply_blocks(block, plan, engine, kept, ziv_bound, cut_rows ? (height + 1) / 2 : height,
                               cut_columns ? (width + 1) / 2 : width);
      }
      for (const auto& entry : left) undecided.push_back({i + entry.i, j + entry.j});
    }
  }
  return undecided;
}

}  // namespace

double full_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k) {
  const FloatEnvironment environment;
  return engine.workspace(plan, std::max<Index>(m, 1), std::max<Index>(n, 1), k);
}

double least_workspace(const Engine& engine, const Plan& plan, Index k) {
  const FloatEnvironment environment;
  return engine.workspace(plan, 1, 1, k);
}

std::optional<NotHeld> find_not_held(const RealProduct& product, const Plan& plan, const Engine& engine) {
  const FloatEnvironment environment;
  const auto read = product.without_unread();
  if (read.all_special()) return std::nullopt;
  return plan.visit(
      [](const SplitPlan&) -> std::optional<NotHeld> { return std::nullopt; },
      [&](const ResiduePlan& residues) {
        check_inner_dimension(residues, read.k());
        const auto rows = engine.norms(read.a, Side::rows_of_a), columns = engine.norms(read.b, Side::columns_of_b);
        auto entry = find_not_held(residues, norms_of(rows), norms_of(columns), read.k());
        const bool covered = covers_first_digits(rows, residues.bits_a) && covers_first_digits(columns, residues.bits_b);
        if (entry && covered && first_digits_held(residues, engine.largest_units(read.a, read.b))) entry.reset();
        return entry;
      });
}

void refuse_not_held(const Plan& plan, const NotHeld& entry, Index parts) {
  const std::string enough = entry.moduli == 0 ? "; fewer bits do, or slices"
                                               : "; with these bits " + std::to_string(entry.moduli) + " moduli are enough";
  throw std::invalid_argument("plan: " + to_string(plan) + " is not sure to hold entry (" + std::to_string(entry.i / parts) +
                              ", " + std::to_string(entry.j) + ")" + enough);
}

void check_held(const RealProduct& product, const Plan& plan, const Engine& engine, Index parts) {
  if (const auto entry = find_not_held(product, plan, engine)) refuse_not_held(plan, *entry, parts);
}

std::vector<Entry> multiply_finite(const RealProduct& original, const Plan& plan, const Engine& engine, ZivBound error,
                                   double workspace) {
  return multiply_finite(original, plan, engine, KeptOperands{}, error, workspace);
}

std::vector<Entry> multiply_finite(const RealProduct& original, const Plan& plan, const Engine& engine, KeptOperands kept,
                                   ZivBound error, double workspace) {
  const FloatEnvironment environment;
  plan.validate();
  const auto product = original.without_unread();
  if (product.k() == 0) kept = {};
  const auto [rows, columns] = block_sizes(engine, plan, product.m(), product.n(), product.k(), workspace, kept);
  if (product.all_special()) return {};
  if (product.k() == 0) error = {};  // nothing was truncated
  begin_progress(product.m() * product.n());
  auto undecided = writing_c([&, rows = rows, columns = columns] {  // clang 14 does not capture structured bindings
    if (product.k() > 0 && rows >= product.m() && columns >= product.n())
      if (auto open = engine.multiply_whole(product, plan, kept, error)) return std::move(*open);
    return multiply_blocks(product, plan, engine, kept, error, rows, columns);
  });
  // Blocks of columns follow each other.
  if (!std::is_sorted(undecided.begin(), undecided.end())) std::sort(undecided.begin(), undecided.end());
  return undecided;
}

SpecialEntries special_entries(const RealProduct& original, int threads) {
  const auto product = original.without_unread();
  const auto special = [&](const InputView& operand, Side side) {
    std::vector<std::uint8_t> flags;
    for (const auto& scale : vector_scales(operand, side, Encoding::balanced(), threads))
      flags.push_back(scale.special ? 1 : 0);
    return flags;
  };
  return {special(product.a, Side::rows_of_a), special(product.b, Side::columns_of_b), product.all_special(),
          is_zero(product.beta) ? InputView() : product.c0};
}

Index SpecialEntries::count_by_product() const {
  const auto m = static_cast<Index>(rows.size()), n = static_cast<Index>(columns.size());
  const Index i = std::count(rows.begin(), rows.end(), 1), j = std::count(columns.begin(), columns.end(), 1);
  return everywhere ? m * n : i * n + j * m - i * j;
}

void apply_specials(const RealProduct& original, const SpecialEntries& specials, int threads) {
  if (specials.c0.empty() && specials.count_by_product() == 0) return;
  const auto product = original.without_unread();
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
  for (Index i = 0; i < product.m(); ++i)
    failure.run([&] {
      for (Index j = 0; j < product.n(); ++j)
        if (specials.at(i, j))
          product.c.set_bits(i, j, special_sum(product, i, j, specials.product(i, j)).bits(product.c.format()));
    });
  writing_c([&] { failure.rethrow(); });
}

void apply_specials(const RealProduct& product, int threads) {
  apply_specials(product, special_entries(product, threads), threads);
}

void finish_exactly(const RealProduct& original, const std::vector<Entry>& entries, int threads) {
  const auto product = original.without_unread();
  const auto columns = product.b.transposed();
  auto by_column = entries;  // entries of a column share its elements, which are not contiguous in a row-major B
  std::sort(by_column.begin(), by_column.end(),
            [](const Entry& x, const Entry& y) { return std::pair(x.j, x.i) < std::pair(y.j, y.i); });
  const auto count = static_cast<Index>(by_column.size());
  const auto together = std::clamp<Index>(count / (8 * threads), 1, 64);
  auto* const progress = begin_progress(count);
  FirstException failure;
#pragma omp parallel num_threads(team_size(threads, exact_steps(product, count)))
  {
    std::vector<Dyadic> row, column;
    Index read = -1;
#pragma omp for schedule(dynamic, together)
    for (Index t = 0; t < count; ++t)
      failure.run([&] {
        const auto [i, j] = by_column[static_cast<std::size_t>(t)];
        if (j != read) read_row(columns, j, column), read = j;
        read_row(product.a, i, row);
        product.c.set_bits(i, j, exact_entry(product, row, [&](std::size_t l) { return column[l]; }, i, j));
        if (progress != nullptr) progress->add(1);
      });
  }
  writing_c([&] { failure.rethrow(); });
}

void multiply_exactly(const RealProduct& original, const SpecialEntries& specials, int threads) {
  const auto product = original.without_unread();
  if (specials.everywhere) return;
  auto* const progress = begin_progress(product.m() * product.n());
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team_size(threads, exact_steps(product, product.m() * product.n())))
  for (Index i = 0; i < product.m(); ++i)
    failure.run([&] {
      if (specials.rows[static_cast<std::size_t>(i)] != 0) return;
      std::vector<Dyadic> row;
      read_row(product.a, i, row);
      for (Index j = 0; j < product.n(); ++j) {
        const auto column = [&](std::size_t l) { return product.b.element(static_cast<Index>(l), j); };
        if (!specials.at(i, j)) product.c.set_bits(i, j, exact_entry(product, row, column, i, j));
      }
      if (progress != nullptr) progress->add(product.n());
    });
  writing_c([&] { failure.rethrow(); });
}

void multiply_exactly(const RealProduct& product, int threads) {
  multiply_exactly(product, special_entries(product, threads), threads);
}

void start_finite(const RealProduct& product, const Plan& plan, const Engine& engine, KeptOperands kept, double workspace) {
  const FloatEnvironment environment;
  const auto read = product.without_unread();
  const bool fits = read.k() > 0 && !read.all_special() && engine.workspace(plan, read.m(), read.n(), read.k()) <= workspace;
  if (!(fits && engine.start(read, plan, kept))) multiply_finite(product, plan, engine, kept, nullptr, workspace);
}

namespace {

void multiply_checked(const RealProduct& product, const Plan& plan, const Engine& engine, double workspace) {
  engine.matrices().write_specials(product);
  multiply_finite(product, plan, engine, nullptr, workspace);
}

/// Refuses a workspace that is too small for any block of m x n real sums with inner dimension k, before anything is written.
/// @param said the inner dimension that the caller knows, for the message
void check_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k, double workspace, Index said) {
  const auto bytes = [&](Index rows, Index columns) { return engine.workspace(plan, rows, columns, k); };
  ozbound::block_sizes(bytes, m, n, said, workspace);
}

void multiply_real(const RealProduct& product, const Plan& plan, const Engine& engine, double workspace) {
  const auto read = product.without_unread();
  check_workspace(engine, plan, read.m(), read.n(), read.k(), workspace, read.k());
  check_held(product, plan, engine);
  multiply_checked(product, plan, engine, workspace);
}

/// The check of check_held for the real product behind a complex product with complex scalars.
void check_complex_scalars_held(const ComplexProduct& product, const Plan& plan, const Engine& engine) {
  if (!plan.by_residues() || !product.has_product()) return;
  const auto factors = real_factors(product, engine.threads());
  check_held({factors.a.view(), factors.b.view(), unwritten(2 * product.m(), product.n(), product.c.format())}, plan, engine,
             2);
}

void multiply_complex(const ComplexProduct& product, const Plan& plan, const Engine& engine, double workspace) {
  if (!product.real_scalars()) {
    if (!product.c.place().is_host())
      throw std::invalid_argument("a, b and c must lie in the host's memory where alpha or beta has an imaginary part");
    check_complex_scalars_held(product, plan, engine);
    multiply_with_complex_scalars(product, plan, engine, nullptr, workspace);
    return;
  }
  const Index k = product.has_product() ? product.k() : 0;
  check_workspace(engine, plan, 2 * product.m(), product.n(), 2 * k, workspace, k);
  const auto real = engine.matrices().represent(product);
  check_held(real->product(), plan, engine, 2);
  multiply_checked(real->product(), plan, engine, workspace);
  real->write_back();
}

}  // namespace

void multiply_unproven(const Product& product, const Plan& plan, const Engine& engine, double workspace) {
  const FloatEnvironment environment;
  product.check();
  check_reached(product, engine.matrices());
  plan.validate();
  if (product.is_complex())
    multiply_complex(product.complex(), plan, engine, workspace);
  else
    multiply_real(product.real(), plan, engine, workspace);
}

}  // namespace ozbound
