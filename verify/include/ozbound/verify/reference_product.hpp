// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound {
struct ExactNumber;
}

/// The digits, sums and results of a plan by its definition (docs/derivations/slicing.md, residues.md, general_bound.md). Uses
/// exact rational arithmetic in plain, slow loops, and shares no code with the engines that it judges. It makes the conformance
/// vectors (docs/vectors.md).
namespace ozbound::reference {

enum class Digits : std::uint8_t { truncated, ozimmu, nearest, nearest_adaptive, balanced, unsigned8 };

/// Digits of one operand: 1 … 20 digits of weight rho * 2^weight(p), p from 1. With nearest_adaptive each vector has its own
/// weights.
struct Slicing {
  Digits digits = Digits::balanced;
  int radix_bits = 8;
  int slices = 1;

  /// The largest |digit|.
  [[nodiscard]] int largest_digit() const;

  [[nodiscard]] int weight(int p) const { return (digits == Digits::truncated ? 0 : 1) - radix_bits * p; }
};

enum class Accumulation : std::uint8_t { exact, per_product, per_diagonal };

/// Slice pairs (p, q), numbered from 1, whose products are summed in one integer.
using Pairs = std::vector<std::pair<int, int>>;

/// A product by slices.
struct SlicePlan {
  Slicing a, b;
  int cut = 2;
  Accumulation accumulation = Accumulation::exact;

  /// The groups in the order in which their sums are added: diagonals p + q = 2, 3, … cut. `per_diagonal` splits each diagonal,
  /// p ascending, into groups of as many pairs as an INT32 sum always holds at inner dimension k, at least one pair.
  /// `per_product` has the groups (1,1), (1,2), …, (2,1), ….
  [[nodiscard]] std::vector<Pairs> groups(Index k) const;

  /// The weight of every product of a group, relative to rho_i sigma_j. @pre common_ratio().
  [[nodiscard]] int weight(const Pairs& group) const { return a.weight(group[0].first) + b.weight(group[0].second); }

  /// True if all entries have the same weights.
  [[nodiscard]] bool common_ratio() const {
    return a.digits != Digits::nearest_adaptive && b.digits != Digits::nearest_adaptive;
  }
};

/// A product by residues: integers a' of A and b' of B with these numbers of bits, and C' = sum a' b'. The moduli do not affect
/// the result (residues.md, R12).
struct ResiduePlan {
  int moduli = 2, bits_a = 1, bits_b = 1;
};

using Plan = std::variant<SlicePlan, ResiduePlan>;

inline constexpr int most_moduli = 20;
inline constexpr Index longest_residue_inner = (Index{1} << 32) - 1;

/// The modulus t = 1 … most_moduli (residues.md, R1).
int modulus(int t);

/// The residue of an integer, from its remainder modulo p of either sign (R3).
int balanced_residue(int remainder, int p);

/// `ENCODING[,ENCODING_B]:SAxSB:cut=G|full:ACCUMULATION`, `residues:N:AxB` (docs/command.md).
/// @throws std::invalid_argument for anything else, and for invalid plans.
Plan parse_plan(std::string_view text);

/// The canonical spelling: ENCODING_B only if it differs, `full` for a cut that omits nothing.
std::string to_string(const Plan& plan);

/// Scales and digits of vectors along the inner dimension: rows of A, or columns of B.
class SlicedVectors {
 public:
  /// @param vectors count x k: A, or B transposed.
  SlicedVectors(MatrixView<const double> vectors, const Slicing& slicing);

  [[nodiscard]] Index count() const { return static_cast<Index>(exponents_.size()); }
  [[nodiscard]] Index inner() const { return inner_; }
  [[nodiscard]] const Slicing& slicing() const { return slicing_; }

  /// True if a vector has no NaN and no infinity. Other vectors have the scale 1 and only zero digits.
  [[nodiscard]] bool finite(Index i) const { return finite_[static_cast<std::size_t>(i)]; }

  /// rho = 2^exponent; 0 for a vector of zeros.
  [[nodiscard]] int exponent(Index i) const { return exponents_[static_cast<std::size_t>(i)]; }

  /// The weight of digit p of vector i is rho * 2^weight(i, p).
  [[nodiscard]] int weight(Index i, int p) const { return weights_[static_cast<std::size_t>(i * slicing_.slices + p - 1)]; }

  /// Digit p, from 1, of element l of vector i.
  [[nodiscard]] int digit(Index i, Index l, int p) const { return slice(i, p)[l]; }

  /// The k digits of slice p of vector i.
  [[nodiscard]] const std::int16_t* slice(Index i, int p) const {
    return digits_.data() + (i * slicing_.slices + p - 1) * inner_;
  }

 private:
  Slicing slicing_;
  Index inner_;
  std::vector<bool> finite_;
  std::vector<int> exponents_, weights_;
  std::vector<std::int16_t> digits_;
};

/// The digits of a product by slices, and their sums.
class SlicedProduct {
 public:
  /// @param operands must outlive this. @param inner_repeat and exceptions: see Product.
  SlicedProduct(const Operands& operands, const SlicePlan& plan, Index inner_repeat = 1);

  [[nodiscard]] const SlicedVectors& a() const { return a_; }
  [[nodiscard]] const SlicedVectors& b() const { return b_; }
  [[nodiscard]] const SlicePlan& plan() const { return plan_; }

  /// The groups of slice pairs that are summed in integers: the plan's groups at this inner dimension.
  [[nodiscard]] const std::vector<Pairs>& groups() const { return groups_; }

  /// The weight of every product of each group at (i, j), relative to rho_i sigma_j.
  [[nodiscard]] std::vector<int> weights(Index i, Index j) const;

  /// The sum of the digit products of each group.
  [[nodiscard]] std::vector<std::int64_t> group_sums(Index i, Index j) const;

  /// The group sums added up by the plan's accumulation; and by accumulation `exact`.
  [[nodiscard]] ExactNumber sum(Index i, Index j) const;
  [[nodiscard]] ExactNumber exact_sum(Index i, Index j) const;

 private:
  SlicePlan plan_;
  Index inner_repeat_;
  std::vector<Pairs> groups_;
  SlicedVectors a_, b_;
};

/// The integers of vectors along the inner dimension: x 2^(bits - e), rounded to nearest, ties to even. 2^e is twice the unit
/// in the first place of the vector's largest element (residues.md, R2).
class RoundedVectors {
 public:
  __extension__ typedef __int128 Integer;  ///< at most 2^120 in magnitude

  /// @param vectors count x k: A, or B transposed. @param bits 1 … 120
  RoundedVectors(MatrixView<const double> vectors, int bits);

  [[nodiscard]] Index count() const { return static_cast<Index>(exponents_.size()); }
  [[nodiscard]] Index inner() const { return inner_; }
  [[nodiscard]] int bits() const { return bits_; }

  /// True if a vector has no NaN and no infinity. Other vectors have the scale 1 and only zero integers.
  [[nodiscard]] bool finite(Index i) const { return finite_[static_cast<std::size_t>(i)] != 0; }

  /// The exponent e; 0 for a vector of zeros.
  [[nodiscard]] int exponent(Index i) const { return exponents_[static_cast<std::size_t>(i)]; }

  /// True if every element equals its integer times 2^(e - bits).
  [[nodiscard]] bool exact(Index i) const { return exact_[static_cast<std::size_t>(i)] != 0; }

  [[nodiscard]] const Integer* integers(Index i) const { return integers_.data() + i * inner_; }
  [[nodiscard]] Integer integer(Index i, Index l) const { return integers(i)[l]; }
  [[nodiscard]] std::string text(Index i, Index l) const;  ///< in decimal

  /// The residue of an integer for modulus t = 1 …
  [[nodiscard]] int residue(Index i, Index l, int t) const;

 private:
  void round(MatrixView<const double> vectors, Index i);

  int bits_;
  Index inner_;
  std::vector<std::uint8_t> finite_, exact_;
  std::vector<int> exponents_;
  std::vector<Integer> integers_;
};

/// The integers of a product by residues, and their sums.
class ResidueProduct {
 public:
  /// @param operands must outlive this. @param inner_repeat and exceptions: see Product.
  ResidueProduct(const Operands& operands, const ResiduePlan& plan, Index inner_repeat = 1);

  [[nodiscard]] const RoundedVectors& a() const { return a_; }
  [[nodiscard]] const RoundedVectors& b() const { return b_; }
  [[nodiscard]] const ResiduePlan& plan() const { return plan_; }

  /// C' = sum a' b' times its unit, and sum |a' b'| times the same unit, computed from the integers without moduli.
  [[nodiscard]] ExactNumber sum(Index i, Index j) const;
  [[nodiscard]] ExactNumber magnitude(Index i, Index j) const;

  /// True if 2 sum |a' b'| < P, so that the residues determine C' (R5).
  [[nodiscard]] bool held(Index i, Index j) const;

  /// C', in decimal.
  [[nodiscard]] std::string integer_text(Index i, Index j) const;

  /// The sum of the products of residues of modulus t = 1 …
  [[nodiscard]] std::int64_t residue_sum(Index i, Index j, int t) const;

 private:
  ResiduePlan plan_;
  Index inner_repeat_;
  RoundedVectors a_, b_;
};

/// C = alpha A B + beta C0 under a plan. Complex scalars follow Operands.
class Product {
 public:
  /// @param operands must outlive this.
  /// @param inner_repeat >= 1: the columns of A and the rows of B are repeated this many times, one copy after the other.
  /// @throws std::invalid_argument if shapes do not fit, or the inner dimension is too long for 64-bit sums.
  Product(const Operands& operands, const Plan& plan, Index inner_repeat = 1);

  /// The product before scalars. @throws std::bad_variant_access for a plan of the other kind.
  [[nodiscard]] const SlicedProduct& slices() const { return std::get<SlicedProduct>(made_); }
  [[nodiscard]] const ResidueProduct& residues() const { return std::get<ResidueProduct>(made_); }

  /// Entry (i, j), rounded once to the format. NaN and infinities follow Oracle.
  [[nodiscard]] double entry(Index i, Index j, ResultFormat format) const;

  /// True if neither NaN nor infinities decide this entry of AB, so that it must be computed.
  [[nodiscard]] bool finite(Index i, Index j) const;

  /// AB - S, where S is the exact sum of the plan's products, spelled as by exact_text. @pre finite(i, j).
  [[nodiscard]] std::string truncation_error(Index i, Index j) const;

 private:
  [[nodiscard]] bool decided_by_specials(Index i, Index j) const;

  Operands operands_;
  Index inner_repeat_;
  std::variant<SlicedProduct, ResidueProduct> made_;
};

/// The exact a-priori bound of |AB - S| over rho_i sigma_j (general_bound.md, G2; residues.md, R11): `0x1f3ap-120`, an odd
/// hexadecimal integer times a power of two, or `0x0p+0`.
std::string truncation_bound(const Plan& plan, Index k);

}  // namespace ozbound::reference
