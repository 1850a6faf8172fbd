// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/residue_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/complex_residues.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "residue_constants.hpp"
#include "residue_plan_spelling.hpp"

namespace ozbound {

static_assert(ResidueBase::of(max_moduli).product.bits() <= 156);

namespace {

[[noreturn]] void refuse_plan(const std::string& what, std::string_view got) {
  throw std::invalid_argument("plan: " + what + ": '" + std::string(got) + "'");
}

int plain_int(std::string_view text, const std::string& part) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.front() == '0' || text.front() == '-')
    refuse_plan(part + " must be a positive integer without leading zeros, at most 120", text);
  return value;
}

constexpr auto most_units = std::numeric_limits<std::uint64_t>::max();

/// The norms of |a'| from those of |a|, in units of 2^(bits - 16). Rounding to nearest moves an integer of less than 16 bits by
/// at most 2^(15 - bits) units; it never moves a longer one beyond the next unit.
struct Norms64 {
  uint128 sum, squares;
  std::uint64_t max;
};
Norms64 rounded_norms(const IntegerNorms& norms, int bits, Index k) {
  const bool saturated = norms.sum_squares == most_units;
  Norms64 all{norms.sum, saturated ? ~uint128{0} : uint128{norms.sum_squares}, norms.max};
  if (bits >= IntegerNorms::fraction_bits || norms.zero()) return all;
  const auto h = std::uint64_t{1} << (IntegerNorms::fraction_bits - 1 - bits);
  const auto count = static_cast<std::uint64_t>(k);
  if (!saturated) all.squares += uint128{2 * h} * norms.sum + uint128{h} * h * count;
  all.sum += uint128{h} * count;
  all.max += h;
  return all;
}

/// True if the norms show W <= limit.
bool held(const Norms64& x, const Norms64& y, std::uint64_t limit) {
  if (limit == most_units) return true;
  constexpr auto small = uint128{1} << 64;
  if (x.sum < (uint128{1} << 96) && x.sum * y.max <= limit) return true;
  if (y.sum < (uint128{1} << 96) && y.sum * x.max <= limit) return true;
  return x.squares < small && y.squares < small && x.squares * y.squares <= uint128{limit} * limit;
}

std::vector<Norms64> rounded_norms(std::span<const IntegerNorms> vectors, int bits, Index k) {
  std::vector<Norms64> all;
  all.reserve(vectors.size());
  for (const auto& norms : vectors) all.push_back(rounded_norms(norms, bits, k));
  return all;
}

/// The maximum of each norm over all vectors.
Norms64 largest(const std::vector<Norms64>& vectors) {
  Norms64 most{0, 0, 0};
  for (const auto& norms : vectors)
    most = {std::max(most.sum, norms.sum), std::max(most.squares, norms.squares), std::max(most.max, norms.max)};
  return most;
}

/// The smallest N that holds an entry with the plan's bits; 0 if no N does.
int moduli_enough(const Norms64& x, const Norms64& y, const ResiduePlan& plan) {
  for (int n = plan.moduli; n <= max_moduli; ++n)
    if (held(x, y, guard_limit({n, plan.bits_a, plan.bits_b}))) return n;
  return 0;
}

}  // namespace

void ResiduePlan::validate() const {
  if (moduli < 2 || moduli > max_moduli)
    refuse_plan("moduli must be 2 … " + std::to_string(max_moduli), std::to_string(moduli));
  for (const int bits : {bits_a, bits_b})
    if (bits < 1 || bits > most_residue_bits)
      refuse_plan("bits must be 1 … " + std::to_string(most_residue_bits), std::to_string(bits));
}

std::uint64_t guard_limit(const ResiduePlan& plan) {
  return guard_limit(residue_halves.of[plan.moduli], plan.bits_a + plan.bits_b);
}

bool first_digits_held(const ResiduePlan& plan, std::uint64_t largest_units) {
  return largest_units <= first_digits_limit(residue_halves.of[plan.moduli], plan.bits_a + plan.bits_b);
}

std::optional<NotHeld> find_not_held(const ResiduePlan& plan, std::span<const IntegerNorms> rows,
                                     std::span<const IntegerNorms> columns, Index k) {
  const auto limit = guard_limit(plan);
  const auto x = rounded_norms(rows, plan.bits_a, k), y = rounded_norms(columns, plan.bits_b, k);
  if (held(largest(x), largest(y), limit)) return std::nullopt;
  std::optional<NotHeld> worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    poll_cancelled();
    for (std::size_t j = 0; j < y.size(); ++j) {
      // An entry that the moduli of the worst entry so far also hold needs no more moduli.
      const ResiduePlan enough_so_far{worst ? worst->moduli : plan.moduli, plan.bits_a, plan.bits_b};
      if (held(x[i], y[j], guard_limit(enough_so_far))) continue;
      worst = {static_cast<Index>(i), static_cast<Index>(j), moduli_enough(x[i], y[j], plan)};
      if (worst->moduli == 0) return worst;
    }
  }
  return worst;
}

std::string spelling_of(const ResiduePlan& plan) {
  return "residues:" + std::to_string(plan.moduli) + ":" + std::to_string(plan.bits_a) + "x" + std::to_string(plan.bits_b);
}

bool spells_residues(std::string_view text) { return text.starts_with("residues:"); }

ResiduePlan spelled_residue_plan(std::string_view text) {
  const auto rest = text.substr(9);
  const auto colon = rest.find(':'), x = rest.find('x');
  if (colon == std::string_view::npos || x == std::string_view::npos || x < colon || colon == 0 || x == colon + 1 ||
      x + 1 == rest.size())
    refuse_plan("must read residues:N:AxB", text);
  const ResiduePlan plan{plain_int(rest.substr(0, colon), "N"), plain_int(rest.substr(colon + 1, x - colon - 1), "bits of A"),
                         plain_int(rest.substr(x + 1), "bits of B")};
  plan.validate();
  return plan;
}

SumLayout residue_layout(const ResiduePlan& plan) {
  SumLayout layout{Accumulation::exact, residue_groups(plan.moduli), residue_radix(plan.moduli), {}};
  for (int g = 0; g < layout.count; ++g)
    layout.weight_exponent[g] =
        static_cast<std::int16_t>(layout.radix_bits * (layout.count - 1 - g) - plan.bits_a - plan.bits_b);
  return layout;
}

std::int64_t residue_head_upper(int moduli) {
  const int low = residue_radix(moduli) * (residue_groups(moduli) - 1);
  return static_cast<std::int64_t>(ResidueBase::of(moduli).half.word_at(low)) + 2;
}

namespace {

ResidueConstants constants_of(int count, Recovered what) {
  const auto base = residue_base(count, what);
  ResidueConstants c{};
  c.count = count, c.limbs = residue_limbs_of(count), c.limb_bits = residue_limb_bits(count), c.groups = residue_groups(count);
  const auto limb = [&c](const WideInteger<residue_limbs>& x, int g) {
    return static_cast<double>(x.word_at(c.limb_bits * (c.limbs - 1 - g)) & ((std::uint64_t{1} << c.limb_bits) - 1));
  };
  double product = 0;
  for (int g = 0; g < c.limbs; ++g) {
    c.product[g] = limb(base.product, g);
    product += c.product[g] * power_of_two(-c.limb_bits * g);
  }
  c.reciprocal_product = 1 / product;
  for (int t = 0; t < count; ++t) {
    c.modulus[t] = residue_moduli[t];
    c.reciprocal[t] = 1.0 / residue_moduli[t];
    for (int w = 0; w < 3; ++w) c.word_power[t][w] = balanced(power_mod(32 * (w + 1), residue_moduli[t]), residue_moduli[t]);
    for (int i = 0; i < 8; ++i)
      c.byte_weights[t][2 + i / 4] |=
          static_cast<std::uint32_t>(balanced(power_mod(56 + 8 * i, residue_moduli[t]), residue_moduli[t]) & 0xff)
          << (8 * (i % 4));
    c.wide_init[t] = balanced(-power_mod(63, residue_moduli[t]) - power_mod(119, residue_moduli[t]), residue_moduli[t]);
    c.inverse[t] = balanced(base.inverse[t], residue_moduli[t]);
    std::int64_t power = 1;  // 2^(8 i) mod p
    for (int i = 0; i < 8; ++i, power = power * 256 % residue_moduli[t]) {
      const auto byte = [i](int value) { return static_cast<std::uint32_t>(value & 0xff) << (8 * (i % 4)); };
      c.byte_weights[t][i / 4] |= byte(balanced(power, residue_moduli[t]));
      if (i < 4) c.sum_weights[t] |= byte(balanced(power * base.inverse[t], residue_moduli[t]));
      if (i == 3) c.sum_init[t] = balanced(-128 * power * base.inverse[t], residue_moduli[t]);
      if (i == 7) c.byte_init[t] = balanced(-128 * power, residue_moduli[t]);
    }
    for (int g = 0; g < c.limbs; ++g) c.weight[t][g] = limb(base.cofactor[t], g);
  }
  return c;
}

}  // namespace

ResidueBase residue_base(int count, Recovered what) {
  return what == Recovered::real_product ? ResidueBase::of(count) : complex_base(count, what == Recovered::imaginary_part);
}

const ResidueConstants& residue_constants(int count, Recovered what) {
  static const auto all = [] {
    std::array<std::array<ResidueConstants, max_moduli + 1>, 3> made{};
    for (const auto of : {Recovered::real_product, Recovered::real_part, Recovered::imaginary_part})
      for (int n = 2; n <= max_moduli; ++n)
        made[static_cast<std::size_t>(of)][static_cast<std::size_t>(n)] = constants_of(n, of);
    return made;
  }();
  return all[static_cast<std::size_t>(what)][static_cast<std::size_t>(count)];
}

}  // namespace ozbound
