// SPDX-License-Identifier: BSD-3-Clause
#include "subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "outward.hpp"
#include "parallel.hpp"

namespace ozbound::checking {
namespace {

/// The function S of docs/records.md.
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

/// For each vector, 1 if it has no NaN and no infinity.
std::vector<std::uint8_t> finite_vectors(MatrixView<const double> vectors) {
  std::vector<std::uint8_t> finite(at(vectors.rows()));
  for_rows(vectors.rows(), vectors.cols(), [&](Index i) {
    bool all = true;
    for (Index l = 0; l < vectors.cols(); ++l) all = all && std::isfinite(vectors(i, l));
    finite[at(i)] = all ? 1 : 0;
  });
  return finite;
}

/// True if a scalar is not real.
bool has_complex_scalars(const Operands& given) { return given.imaginary_alpha != 0 || given.imaginary_beta != 0; }

/// True if A and B are read at all.
bool reads_factors(const Operands& given) {
  return (given.alpha != 0 || given.imaginary_alpha != 0) && given.a.rows() > 0 && given.b.cols() > 0;
}

Operands read_part(const Operands& given) {
  auto operands = given;
  if (!reads_factors(given)) {
    operands.a = operands.a.block(0, 0, operands.a.rows(), 0);
    operands.b = operands.b.block(0, 0, 0, operands.b.cols());
  }
  if (operands.a.cols() == 0) operands.alpha = 1, operands.imaginary_alpha = 0;
  return operands;
}

bool is_all_special(const Operands& in) {
  const bool finite_alpha = std::isfinite(in.alpha) && std::isfinite(in.imaginary_alpha);
  return !std::isfinite(in.beta) || !std::isfinite(in.imaginary_beta) || (in.a.cols() > 0 && !finite_alpha);
}

bool finite_c0(const Operands& operands, Index i, Index j) {
  const auto terms = c0_terms(operands, i);
  return std::all_of(terms.begin(), terms.end(), [&](const RowTerm& t) { return std::isfinite(operands.c0(t.row, j)); });
}

/// Checks that the product is complex as claimed: where A is read, it represents a complex matrix. With complex
/// scalars the bound of a part is a sum over both rows of its pair, so both rows need one scale.
bool check_kind(Findings& findings, const Claims& claims, const Subject& subject) {
  if (claims.complex != subject.complex) return findings.expect("complex", claims.complex, subject.complex);
  const auto& a = subject.operands.a;
  const auto is_block = [&a](Index i, Index l) { return same(a(i, l), a(i + 1, l + 1)) && same(a(i, l + 1), -a(i + 1, l)); };
  bool blocks = a.rows() % 2 == 0 && a.cols() % 2 == 0;
  for (Index i = 0; blocks && i < a.rows(); i += 2)
    for (Index l = 0; blocks && l < a.cols(); l += 2) blocks = is_block(i, l);
  return findings.say("complex", blocks, "a has no blocks (x, -y; y, x): it stands for no complex matrix");
}

}  // namespace

Subject::Subject(const Operands& given_operands, const ResultView& result)
    : given(given_operands),
      operands(read_part(given)),
      c(result),
      oracle(given),
      u(unit_roundoff(c.format())),
      complex(oracle.operands().complex),
      complex_scalars(has_complex_scalars(given)),
      all_special(is_all_special(operands)),
      finite_product(at(m() * n())),
      finite(at(m() * n())) {
  const auto rows = finite_vectors(operands.a), columns = finite_vectors(operands.b.transposed());
  for_rows(m(), n(), [&](Index i) {
    for (Index j = 0; j < n(); ++j) {
      const bool product = !all_special && rows[at(i)] != 0 && columns[at(j)] != 0;
      finite_product[at(i * n() + j)] = product ? 1 : 0;
      finite[at(i * n() + j)] = product && finite_c0(operands, i, j) ? 1 : 0;
    }
  });
  finite_entries = std::count(finite.begin(), finite.end(), 1);
}

double Subject::tau(const Claims& claims) const {
  const Index k = given.a.cols();
  const bool more = claims.schema >= 5 && !complex_scalars && !(unit(given.alpha) && given.beta == 0);
  const auto roundings = static_cast<std::uint64_t>(more ? k + 3 : std::max<Index>(k, 1));
  switch (claims.target.kind) {
    case Target::Kind::dgemm: return more ? gamma_down(roundings, u) : integer_down(roundings) * u;
    case Target::Kind::dgemm_typical: return root_down(roundings) * u;
    default: return claims.target.tau;
  }
}

void note(std::string& first, const Subject& subject, Index i, Index j, const std::string& what) {
  if (!first.empty()) return;
  const auto at = entry_of(i, j, subject.complex);
  first = fmt::format("entry ({}, {}){}: {}", at.i, at.j, at.part.empty() ? "" : ", " + at.part + " part", what);
}

bool check_subject(Findings& findings, const Claims& claims, const Subject& subject) {
  const auto& given = subject.given;
  const Index parts = subject.complex ? 2 : 1;
  bool sizes = !(subject.complex || claims.complex) || check_kind(findings, claims, subject);
  sizes = findings.expect("m", claims.m, given.a.rows() / parts) && sizes;
  sizes = findings.expect("n", claims.n, given.b.cols()) && sizes;
  sizes = findings.expect("k", claims.k, given.a.cols() / parts) && sizes;
  sizes = findings.expect("alpha", claims.alpha, given.alpha) && sizes;
  sizes = findings.expect("beta", claims.beta, given.beta) && sizes;
  if (subject.complex_scalars || claims.imaginary) {
    const auto imaginary = claims.imaginary.value_or(std::pair(0.0, 0.0));
    sizes = findings.expect("imaginary.alpha", imaginary.first, given.imaginary_alpha) && sizes;
    sizes = findings.expect("imaginary.beta", imaginary.second, given.imaginary_beta) && sizes;
  }
  const bool narrow = subject.c.format() != ResultFormat::of_double;
  sizes =
      findings.expect<std::string>("type", claims.narrow ? "binary32" : "binary64", narrow ? "binary32" : "binary64") && sizes;
  using Print = std::optional<std::string>;
  findings.expect("fingerprints.a", claims.a_print, reads_factors(given) ? Print(print_of(given.a)) : Print());
  findings.expect("fingerprints.b", claims.b_print, reads_factors(given) ? Print(print_of(given.b)) : Print());
  findings.expect("fingerprints.c0", claims.c0_print, c0_terms(given, 0).count == 0 ? Print() : Print(print_of(given.c0)));
  findings.expect("fingerprints.c", claims.c_print, print_of(subject.c));
  return sizes;
}

}  // namespace ozbound::checking
