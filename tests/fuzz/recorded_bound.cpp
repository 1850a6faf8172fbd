// SPDX-License-Identifier: BSD-3-Clause
// A certificate read as by `bounds` is refused by the name of a member, or gives a valid bound for every entry.

#include "ozbound/bounds/recorded_bound.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fuzz/fuzz.hpp"
#include "verify/altered_certificates.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  const auto json = nlohmann::json::parse(fuzz::text_of(data, size), nullptr, false);
  if (!json.is_object()) return 0;
  try {
    const auto bound = bound_from_json(test::resealed(json)).bound;
    const auto m = static_cast<Index>(bound.row_exponents.size()), n = static_cast<Index>(bound.column_exponents.size());
    if (m * n > 100 || std::isnan(bound.alpha)) return 0;
    const Matrix<double> c(m, n);
    const auto bounds = bound.of_entries(c);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        fuzz::require(bounds(i, j) >= 0, "what is no bound was read as one");
        fuzz::require(bounds(i, j) == bound.upper(i, j, 0), "a bound depends on how it is asked for");
      }
  } catch (const std::invalid_argument& refusal) {
    fuzz::require(std::string_view(refusal.what()).starts_with("certificate: "), "a refusal does not say of what");
  }
  return 0;
}
