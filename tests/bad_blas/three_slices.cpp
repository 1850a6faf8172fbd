// Each row of A and column of B as three slices of 7 bits: what integer units are too few of, for FP64. NaNs and infinities go
// the plain way.

#include <algorithm>
#include <cmath>

#include "blas.hpp"

namespace {

/// x to three slices of 7 bits below 2^exponent.
double sliced(double x, int exponent) { return std::ldexp(std::trunc(std::ldexp(x, 21 - exponent)), exponent - 21); }

/// The smallest e with |x| < 2^e for every element(l).
template <class Element>
int scale(int count, Element element) {
  double largest = 0;
  for (int l = 0; l < count; ++l) largest = std::max(largest, std::abs(element(l)));
  return largest == 0 ? 0 : std::ilogb(largest) + 1;
}

double sliced_product(const Call& call, int i, int j) {
  const int row = scale(call.k, [&](int l) { return call.a_at(i, l); });
  const int column = scale(call.k, [&](int l) { return call.b_at(l, j); });
  double sum = 0;
  for (int l = 0; l < call.k; ++l) sum += sliced(call.a_at(i, l), row) * sliced(call.b_at(l, j), column);
  return sum;
}

bool is_finite(const Call& call, int i, int j) {
  for (int l = 0; l < call.k; ++l)
    if (!std::isfinite(call.a_at(i, l)) || !std::isfinite(call.b_at(l, j))) return false;
  return true;
}

}  // namespace

void multiply(const Call& call) {
  for_each_entry(call,
                 [&](int i, int j) { return is_finite(call, i, j) ? sliced_product(call, i, j) : inner_product(call, i, j); });
}
