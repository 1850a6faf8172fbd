// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_products.hpp"

#include <fmt/format.h>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"

namespace ozbound::grading {

void expect_conventional(const ForeignGemm& gemm, const Operands& in, const std::string& what, Tally& tally,
                         const Storage& storage, const EntrySelection& selection) {
  const ExactOracle oracle(in);
  for (const auto& made : products(gemm, in, storage)) {
    const auto judged = judge_conventional(made.c, oracle, selection);
    tally.expect(
        judged.holds(),
        [&] {
          return fmt::format("{}, alpha = {}, beta = {}, {}: {}", what, hex_text(in.alpha), hex_text(in.beta),
                             to_string(made.storage), explain(judged));
        },
        [&](const std::string& test) { return entry_snippet(gemm, test, in, made.storage); });
  }
}

}  // namespace ozbound::grading
