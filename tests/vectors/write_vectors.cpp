// SPDX-License-Identifier: BSD-3-Clause
// ozbound_vectors write|check FOLDER: makes the conformance vectors (docs/vectors.md) with the reference product only.

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "ozbound/verify/hex_text.hpp"
#include "ozbound/verify/reference_product.hpp"
#include "vectors/cases.hpp"
#include "vectors/cublas_cases.hpp"
#include "vectors/cublas_reference.hpp"

namespace ozbound::vectors {
namespace {

using json = nlohmann::ordered_json;
using reference::Product;

std::string hex(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return hex_text(x);
}

/// A table of value(i, j) for every entry, row by row.
template <class Value>
json table(Index rows, Index cols, const Value& value) {
  auto all = json::array();
  for (Index i = 0; i < rows; ++i) {
    auto row = json::array();
    for (Index j = 0; j < cols; ++j) row.push_back(value(i, j));
    all.push_back(row);
  }
  return all;
}

json numbers(const Matrix<double>& x) {
  return table(x.rows(), x.cols(), [&x](Index i, Index j) { return hex(x(i, j)); });
}

std::uint64_t bits_of_entry(const Product& product, Index i, Index j, ResultFormat format) {
  const double c = product.entry(i, j, format);
  if (format == ResultFormat::of_double) return std::isnan(c) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(c);
  return std::isnan(c) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(static_cast<float>(c));
}

json c_bits(const Product& product, Index m, Index n, ResultFormat format) {
  const int digits = format == ResultFormat::of_double ? 16 : 8;
  return table(m, n, [&](Index i, Index j) { return fmt::format("{:0{}x}", bits_of_entry(product, i, j, format), digits); });
}

/// Every digit, in tables of the operand's shape.
json digits(const reference::SlicedVectors& x, bool rows) {
  auto slices = json::array();
  for (int p = 1; p <= x.slicing().slices; ++p)
    slices.push_back(table(rows ? x.count() : x.inner(), rows ? x.inner() : x.count(),
                           [&](Index i, Index j) { return rows ? x.digit(i, j, p) : x.digit(j, i, p); }));
  return slices;
}

/// The exponents of SlicedVectors or RoundedVectors.
template <class Vectors>
json exponents(const Vectors& x) {
  auto all = json::array();
  for (Index i = 0; i < x.count(); ++i) all.push_back(x.exponent(i));
  return all;
}

/// For each vector, the exponents of its digits' weights relative to its scale.
json weights(const reference::SlicedVectors& x) {
  return table(x.count(), x.slicing().slices, [&x](Index i, Index p) { return x.weight(i, static_cast<int>(p) + 1); });
}

/// A JSON integer if every reader can represent it exactly, otherwise a string.
json integer(std::int64_t x) {
  constexpr auto most = std::int64_t{1} << 53;
  if (-most <= x && x <= most) return x;
  return std::to_string(x);
}

json groups(const reference::SlicedProduct& product, Index m, Index n) {
  auto all = json::array();
  const auto& list = product.groups();
  for (std::size_t t = 0; t < list.size(); ++t)
    all.push_back({{"pairs", list[t]},
                   {"weight", product.plan().common_ratio() ? json(product.plan().weight(list[t])) : json(nullptr)},
                   {"sums", table(m, n, [&](Index i, Index j) { return integer(product.group_sums(i, j)[t]); })}});
  return all;
}

/// Adds the results of slicing the operands.
void add_parts(json& all, const reference::SlicedProduct& product, Index m, Index n) {
  all["a_exponents"] = exponents(product.a());
  all["b_exponents"] = exponents(product.b());
  all["a_digits"] = digits(product.a(), true);
  all["b_digits"] = digits(product.b(), false);
  if (!product.plan().common_ratio()) {
    all["a_weights"] = weights(product.a());
    all["b_weights"] = weights(product.b());
  }
  all["groups"] = groups(product, m, n);
}

/// Integers as JSON's own or as decimal strings, in a table of the operand's shape.
json integers(const reference::RoundedVectors& x, bool rows) {
  return table(rows ? x.count() : x.inner(), rows ? x.inner() : x.count(), [&](Index i, Index j) {
    const auto value = rows ? x.integer(i, j) : x.integer(j, i);
    const auto short_one = static_cast<std::int64_t>(value);
    return short_one == value ? integer(short_one) : json(x.text(rows ? i : j, rows ? j : i));
  });
}

json residues(const reference::RoundedVectors& x, bool rows, int moduli) {
  auto all = json::array();
  for (int t = 1; t <= moduli; ++t)
    all.push_back(table(rows ? x.count() : x.inner(), rows ? x.inner() : x.count(),
                        [&](Index i, Index j) { return rows ? x.residue(i, j, t) : x.residue(j, i, t); }));
  return all;
}

/// Adds the results of taking residues of the operands.
void add_parts(json& all, const reference::ResidueProduct& product, Index m, Index n) {
  const int moduli = product.plan().moduli;
  all["moduli"] = json::array();
  for (int t = 1; t <= moduli; ++t) all["moduli"].push_back(reference::modulus(t));
  all["a_exponents"] = exponents(product.a());
  all["b_exponents"] = exponents(product.b());
  all["a_integers"] = integers(product.a(), true);
  all["b_integers"] = integers(product.b(), false);
  all["a_residues"] = residues(product.a(), true, moduli);
  all["b_residues"] = residues(product.b(), false, moduli);
  all["residue_sums"] = json::array();
  for (int t = 1; t <= moduli; ++t)
    all["residue_sums"].push_back(table(m, n, [&](Index i, Index j) { return integer(product.residue_sum(i, j, t)); }));
  all["integers"] = table(m, n, [&](Index i, Index j) {
    const auto text = product.integer_text(i, j);
    return text.size() < 19 ? integer(std::stoll(text)) : json(text);
  });
}

json record(const Case& c) {
  const Index m = c.a.rows(), n = c.b.cols();
  const auto operands = c.operands();
  const auto plan = reference::parse_plan(c.plan);
  const Product product(operands, plan, c.inner_repeat);
  json all{{"name", c.name}, {"why", c.why}, {"m", m}, {"n", n}, {"k", c.a.cols()}, {"inner_repeat", c.inner_repeat}};
  all["a"] = numbers(c.a);
  all["b"] = numbers(c.b);
  all["c0"] = c.reads_c0() ? numbers(c.c0) : json(nullptr);
  all["alpha"] = hex(c.alpha);
  all["beta"] = hex(c.beta);
  if (c.complex) all["imaginary"] = {{"alpha", hex(c.imaginary_alpha)}, {"beta", hex(c.imaginary_beta)}};
  all["plan"] = c.plan;
  if (std::holds_alternative<reference::ResiduePlan>(plan)) {
    add_parts(all, product.residues(), m, n);
  } else {
    add_parts(all, product.slices(), m, n);
  }
  all["truncation_bound"] = reference::truncation_bound(plan, c.a.cols() * c.inner_repeat);
  all["truncation_error"] = table(
      m, n, [&](Index i, Index j) { return product.finite(i, j) ? json(product.truncation_error(i, j)) : json(nullptr); });
  all["c_binary64"] = c_bits(product, m, n, ResultFormat::of_double);
  all["c_binary32"] = c_bits(product, m, n, ResultFormat::of_float);
  return all;
}

/// FNV-1a over the bits of C, row by row.
std::string checksum(const Product& product, const Recipe& recipe, ResultFormat format) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < recipe.m; ++i)
    for (Index j = 0; j < recipe.n; ++j) hash = (hash ^ bits_of_entry(product, i, j, format)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

json record(const FamilyCase& c) {
  const auto problem = generate(c.recipe);
  const auto c0 = wrapped(problem.a, c.recipe.n);
  const Product product({problem.a.view(), problem.b.view(), c.alpha, c.beta, c0.view()}, reference::parse_plan(c.plan));
  const auto& r = c.recipe;
  return {{"family", name(r.family)},
          {"m", r.m},
          {"n", r.n},
          {"k", r.k},
          {"phi", r.phi},
          {"seed", r.seed},
          {"alpha", hex(c.alpha)},
          {"beta", hex(c.beta)},
          {"plan", c.plan},
          {"c_binary64_checksum", checksum(product, r, ResultFormat::of_double)},
          {"c_binary32_checksum", checksum(product, r, ResultFormat::of_float)}};
}

/// The text with one line for each case, so a comparison shows which case changed.
template <class Cases>
std::string text_of(const std::string& about, const Cases& cases) {
  auto text = fmt::format("{{\"schema\": \"ozbound-vectors-1\", \"about\": {}, \"cases\": [\n", json(about).dump());
  for (std::size_t t = 0; t < cases.size(); ++t) text += record(cases[t]).dump() + (t + 1 < cases.size() ? ",\n" : "\n");
  return text + "]}\n";
}

std::string bits_text(double c) {
  return fmt::format("{:016x}", std::isnan(c) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(c));
}

json cublas_record(const Case& c) {
  const auto operands = c.operands();
  const test::CublasReference product(operands, test::cublas_bits(c.plan));
  return {{"name", c.name},
          {"why", c.why},
          {"m", c.a.rows()},
          {"n", c.b.cols()},
          {"k", c.a.cols()},
          {"a", numbers(c.a)},
          {"b", numbers(c.b)},
          {"c0", c.reads_c0() ? numbers(c.c0) : json(nullptr)},
          {"alpha", hex(c.alpha)},
          {"beta", hex(c.beta)},
          {"plan", c.plan},
          {"c_binary64", table(c.a.rows(), c.b.cols(), [&](Index i, Index j) { return bits_text(product.entry(i, j)); })}};
}

json cublas_record(const FamilyCase& c) {
  const auto problem = generate(c.recipe);
  const auto operands = ozbound::operands(problem);
  const test::CublasReference product(operands, test::cublas_bits(c.plan));
  const auto& r = c.recipe;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < r.m; ++i)
    for (Index j = 0; j < r.n; ++j) hash = (hash ^ std::bit_cast<std::uint64_t>(product.entry(i, j))) * 0x100000001b3;
  return {{"family", name(r.family)},
          {"m", r.m},
          {"n", r.n},
          {"k", r.k},
          {"phi", r.phi},
          {"seed", r.seed},
          {"plan", c.plan},
          {"c_binary64_checksum", fmt::format("{:016x}", hash)}};
}

/// cublas.json: cases in full, then those with checksums.
std::string cublas_text() {
  std::vector<json> records;
  for (const auto& c : cublas_cases()) records.push_back(cublas_record(c));
  for (const auto& c : cublas_family_cases()) records.push_back(cublas_record(c));
  auto text = fmt::format("{{\"schema\": \"ozbound-vectors-1\", \"about\": {}, \"cases\": [\n",
                          json("cuBLAS's FP64 emulation by its rule: docs/derivations/cublas_emulation.md").dump());
  for (std::size_t t = 0; t < records.size(); ++t) text += records[t].dump() + (t + 1 < records.size() ? ",\n" : "\n");
  return text + "]}\n";
}

/// All files with their names.
std::map<std::string, std::string> files() {
  std::map<std::string, std::string> all;
  for (const auto& file : case_files()) all[file.name + ".json"] = text_of(file.about, file.cases);
  all["families.json"] = text_of(
      "checksums of C over every family of problems: `ozbound generate` writes A and B; column j of C0 is column j mod k of A",
      family_cases());
  all["cublas.json"] = cublas_text();
  return all;
}

int write(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : files())
    if (!(std::ofstream(folder / name, std::ios::binary) << text).flush()) return 1;
  return 0;
}

/// Checks that the folder holds the reference's files and nothing else.
int check(const std::filesystem::path& folder) {
  auto expected = files();
  int wrong = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (!expected.contains(entry.path().filename().string())) ++wrong, fmt::print("{} is not known\n", entry.path().string());
  for (const auto& [name, text] : expected) {
    std::ifstream file(folder / name, std::ios::binary);
    if (std::string(std::istreambuf_iterator<char>(file), {}) != text)
      ++wrong, fmt::print("{} is not what the reference makes\n", name);
  }
  fmt::print("{} files, {} wrong\n", expected.size(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ozbound::vectors

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  if (mode == "write") return ozbound::vectors::write(argv[2]);
  if (mode == "check") return ozbound::vectors::check(argv[2]);
  fmt::print(stderr, "usage: ozbound_vectors write|check FOLDER\n");
  return 2;
}
