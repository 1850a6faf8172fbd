// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <ios>
#include <iterator>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include "properties/sampling.hpp"
#include "support/classified.hpp"

namespace ozbound::test {

using namespace case_sampling;

/// A finite number and its classes; printed in hex.
template <class T>
struct Number {
  ExponentClass exponent;
  SignificandClass significand;
  T value;

  friend void showValue(const Number& number, std::ostream& out) {
    out << std::hexfloat << number.value << std::defaultfloat << " (exponent class " << static_cast<int>(number.exponent)
        << ", significand class " << static_cast<int>(number.significand) << ")";
  }
};

/// A row of finite numbers, printed in hex.
struct Row {
  RowClass kind;
  std::vector<double> values;

  [[nodiscard]] double top() const {
    double top = 0;
    for (const double x : values) top = std::abs(x) > top ? std::abs(x) : top;
    return top;
  }

  friend void showValue(const Row& row, std::ostream& out) {
    out << "row class " << static_cast<int>(row.kind) << ":" << std::hexfloat;
    for (const double x : row.values) out << ' ' << x;
    out << std::defaultfloat;
  }
};

inline Row sample_row(RowClass kind, int size, RandomBits& random) {
  Row row{kind, {sample<double>(random)}};
  if (row.values[0] == 0) row.values[0] = 0x1p-1074;
  int e = 0;
  std::frexp(row.values[0], &e);
  for (int i = 1; i < size; ++i) {
    switch (kind) {
      case RowClass::alike: row.values.push_back(sample_below<double>(e - 1, random.below(2), random)); break;
      case RowClass::spread: row.values.push_back(sample_below<double>(e - 1, random.below(70), random)); break;
      case RowClass::dominated: row.values.push_back(sample_below<double>(e - 1, random.between(50, 2200), random)); break;
      case RowClass::any: row.values.push_back(sample<double>(random)); break;
      case RowClass::maximal: row.values.push_back(row.values[0]); break;
    }
  }
  std::swap(row.values[0], row.values[static_cast<std::size_t>(random.below(size))]);
  return row;
}

namespace gen {

/// A seed with all 64 bits random from the first case on; rapidcheck's own integers start small.
inline rc::Gen<std::uint64_t> seed() { return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()); }

/// Finite numbers, with every class equally likely.
template <class T>
rc::Gen<Number<T>> number() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::elementOf(std::vector(std::begin(exponent_classes), std::end(exponent_classes))),
                     rc::gen::elementOf(std::vector(std::begin(significand_classes), std::end(significand_classes))),
                     rc::gen::arbitrary<bool>(), seed()),
      [](const std::tuple<ExponentClass, SignificandClass, bool, std::uint64_t>& drawn) {
        const auto& [exponent, significand, negative, bits] = drawn;
        RandomBits random(bits);
        return Number<T>{exponent, significand, sample<T>(exponent, significand, negative, random)};
      });
}

/// Rows of 1 … 8 finite numbers, at least one of them not zero.
inline rc::Gen<Row> row() {
  return rc::gen::map(rc::gen::tuple(rc::gen::elementOf(std::vector(std::begin(row_classes), std::end(row_classes))),
                                     rc::gen::inRange(1, 9), seed()),
                      [](const std::tuple<RowClass, int, std::uint64_t>& drawn) {
                        RandomBits random(std::get<2>(drawn));
                        return sample_row(std::get<0>(drawn), std::get<1>(drawn), random);
                      });
}

}  // namespace gen

}  // namespace ozbound::test
