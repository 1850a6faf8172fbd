// SPDX-License-Identifier: BSD-3-Clause
#include "literature.hpp"

#include <memory>
#include <stdexcept>

#include "ozbound/files/text.hpp"
#include "ozbound/verify/literature/models/cublas_emulation.hpp"
#include "ozbound/verify/literature/models/model.hpp"

namespace ozbound::cli {

std::vector<ListedModel> listed_models() {
  std::vector<ListedModel> models;
  for (const auto& model : all_models()) models.push_back({model.name, model.source});
  return models;
}

Formula parse_formula(const std::string& text) {
  constexpr std::string_view prefix = "cublas:";
  if (!text.starts_with(prefix))
    throw std::invalid_argument("--claims must be cublas:M, M mantissa bits from 8 to 64, and is '" + text + "'");
  const models::CublasEmulation method{
      .mantissa_bits = static_cast<int>(files::parse_integer(text.substr(prefix.size()), "--claims cublas:M", 8, 64))};
  return [method](const Operands& operands) {
    const auto product = std::make_shared<const models::CublasProduct>(method, operands);
    return FormulaProduct{[product](Index i, Index j) { return to_double_upper(product->bound_upper(i, j)); },
                          [product](const ResultView& c, const EntrySelection& selection) {
                            const auto bits = compare(*product, c, selection);
                            return FormulaBits{bits.entries, bits.differing, bits.row, bits.col, bits.computed, bits.expected};
                          }};
  };
}

}  // namespace ozbound::cli
