// SPDX-License-Identifier: BSD-3-Clause
// The inputs of cublas.json. Their spelling defines the values exactly.

#include "vectors/cublas_cases.hpp"

#include <cmath>
#include <limits>

namespace ozbound::vectors {
namespace {

constexpr double eta = 0x1p-1074;

using Rows = std::vector<std::vector<double>>;

Matrix<double> matrix(const Rows& rows) {
  Matrix<double> result(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return result;
}

Matrix<double> negated(Matrix<double> x) {
  for (Index t = 0; t < x.rows() * x.cols(); ++t) x.data()[t] = -x.data()[t];
  return x;
}

/// Bits at which the number of digits changes, their neighbours, and FP64's own 53.
constexpr int all_bits[] = {8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48, 53, 55, 56, 63, 64};

std::string plan(int bits) { return "cublas:" + std::to_string(bits); }

void add(std::vector<Case>& cases, const std::string& name, const std::string& why, const Matrix<double>& a,
         const Matrix<double>& b, std::initializer_list<int> bits) {
  for (const int m : bits) cases.push_back({name + "-" + std::to_string(m), why, a, b, plan(m)});
}

void add_mantissas(std::vector<Case>& cases) {
  for (const int bits : all_bits) {
    const auto problem = generate({Family::wide_exponents, 2, 2, 5, 0.5, static_cast<std::uint64_t>(bits)});
    cases.push_back({"mantissa-" + std::to_string(bits), "every number of slices", problem.a, problem.b, plan(bits)});
  }
}

void add_carries(std::vector<Case>& cases) {
  // Digits of 128 become -128 with a carry in x, and stay -128 in -x.
  const auto a =
      matrix({{0x1.01010101010101p0, 0x1.80808080808080p-1, -0x1.010101p-3}, {0x1.7f7f7f7f7f7f7p0, -0x1.fb8080808p0, 1}});
  const auto b = matrix({{0x1.0180808p0, -0x1.8080808080808p0}, {-0x1.010101010101p-2, 0x1.7f80p-1}, {0x1.8080p0, 0x1.01p0}});
  add(cases, "carries", "a digit 128 carries", a, b, {8, 23, 55, 64});
  add(cases, "carries-negated", "the digits of -x are not those of x", negated(a), b, {8, 23, 55, 64});
}

void add_bumps(std::vector<Case>& cases) {
  const double significands[] = {0x1.fbfffffffffffp0, 0x1.fcp0, 0x1.fc00000000001p0, 0x1.fdp0, 0x1.fffffffffffffp0, 0x1p0};
  Matrix<double> a(6, 2), b(2, 6);
  for (Index i = 0; i < 6; ++i) {
    const double x = significands[i];
    a(i, 0) = i % 2 == 0 ? x : -x, a(i, 1) = 0x1.23456789abcdfp-1;
    b(0, i) = 0x1.fedcba9876543p-2, b(1, i) = i % 3 == 0 ? -x : x;
  }
  add(cases, "bumps", "the exponent is one more from significand 0x1.FC on", a, b, {8, 16, 55, 63});
}

void add_ranges(std::vector<Case>& cases) {
  add(cases, "subnormal", "rows of subnormal numbers: the least exponent is -1022",
      matrix({{0x1p-1040, 0x1.8p-1041}, {0x1.23456p-1030, eta}, {0x1.8p-1022, 0x1p-1060}}),
      matrix({{0x1.23456789abcdfp600, 0x1p1000}, {-0x1.8p599, 0x1.fffffffffffffp1000}}), {15, 31, 55});
  add(cases, "subnormal-bumps", "of rows of subnormal numbers the fraction's field is looked at: 0x0.FC and beyond",
      matrix({{0x0.fbfffffffffffp-1022, 0x1.23p-1030}, {-0x0.fcp-1022, 0x1.23p-1030}, {0x0.fffffffffffffp-1022, 0x0.fcp-1022}}),
      matrix({{0x1.23456789abcdfp600, 0x1p1000}, {-0x1.8p599, 0x1.fffffffffffffp1000}}), {8, 15, 31, 55});
  add(cases, "late-exponents", "exponents are applied to the sum: one rounding to a subnormal number",
      matrix({{0x1.8p-500, 0x1.0000000000001p-501}, {0x1p-520, -0x1.fp-520}}),
      matrix({{0x1.0000000000001p-574, 0x1.7p-552}, {0x1.5555555555555p-573, 0x1.23456789abcdfp-553}}), {15, 55, 63});
  add(cases, "overflow", "nearly and beyond", matrix({{0x1.fffffffffffffp511, 0x1p511}, {0x1p600, -0x1p600}}),
      matrix({{0x1.fffffffffffffp511, 0x1p511}, {0x1p510, 0x1p423}}), {31, 55});
}

void add_scalars(std::vector<Case>& cases) {
  const auto problem = generate({Family::uniform, 2, 3, 4, 0, 77});
  for (const auto& [alpha, beta] : {std::pair{-1.0, 1.0},
                                    {0.1, 0.0},
                                    {1.0, -0.7},
                                    {0x1.fffffffffffffp-1, 0x1.0000000000001p0},
                                    {0.0, 3.0},
                                    {3.0, 0x1p-1074}})
    for (const int bits : {24, 55})
      cases.push_back(
          {"scalars", "C = fma(alpha, T, beta C0)", problem.a, problem.b, plan(bits), alpha, beta, wrapped(problem.a, 3)});
}

}  // namespace

std::vector<Case> cublas_cases() {
  std::vector<Case> cases;
  add_mantissas(cases);
  add_carries(cases);
  add_bumps(cases);
  add_ranges(cases);
  add_scalars(cases);
  return cases;
}

std::vector<FamilyCase> cublas_family_cases() {
  std::vector<FamilyCase> cases;
  const auto add = [&](Family family, Index m, Index n, Index k, int bits) {
    cases.push_back({{family, m, n, k, 1, static_cast<std::uint64_t>(k)}, plan(bits)});
  };
  for (const Index k : {1023, 1024, 1025, 1500, 4096, 8200})
    for (const int bits : {8, 31, 55}) add(Family::graded_inner, 2, 3, k, bits);
  add(Family::uniform, 129, 1, 1280, 15);
  add(Family::uniform, 129, 130, 1024, 8);
  add(Family::uniform, 257, 5, 2000, 15);
  add(Family::maximal_digits, 3, 300, 1100, 23);
  return cases;
}

}  // namespace ozbound::vectors
