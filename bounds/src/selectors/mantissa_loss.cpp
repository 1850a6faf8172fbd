#include <algorithm>

#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

// The slice counts that ozIMMU offers.
constexpr int least_slices = 3, most_slices = 18;

/// Bits of all significands, 53 each, that lie below what `bits` bits under the top of a vector hold; as the program counts,
/// trailing zeros of a significand are bits too.
std::uint64_t lost_bits(InputView operand, Side side, int bits) {
  std::uint64_t lost = 0;
  for_each_element(operand, side, [&](Dyadic x, int top) {
    lost += static_cast<std::uint64_t>(std::clamp(top - x.top_exponent() + binary64.precision - bits, 0, binary64.precision));
  });
  return lost;
}

/// The average over all elements, zeros included, is at most `threshold`.
bool within(InputView operand, Side side, int bits, std::uint64_t threshold) {
  return lost_bits(operand, side, bits) <= threshold * static_cast<std::uint64_t>(operand.rows() * operand.cols());
}

Selection select(InputView a, InputView b, std::uint64_t threshold) {
  for (int s = least_slices; s <= most_slices; ++s) {
    const auto plan = find_scheme("ozimmu").plan(s, s, a.cols());
    const int bits = -plan.a.encoding.weight_exponent(s);  // held below rho = 2 ufp(top): the first slice has one bit less
    if (within(a, Side::rows_of_a, bits, threshold) && within(b, Side::columns_of_b, bits, threshold)) return {plan, false};
  }
  return {};
}

}  // namespace

Selection select_without_mantissa_loss(InputView a, InputView b, const Target&, const Engine&) { return select(a, b, 0); }

Selection select_by_one_bit_of_loss(InputView a, InputView b, const Target&, const Engine&) { return select(a, b, 1); }

}  // namespace ozbound
