// SPDX-License-Identifier: BSD-3-Clause
#include "tally.hpp"

#include <fmt/format.h>

namespace ozbound::grading {

void Tally::contradicts(std::string words) {
  constexpr int told = 3;
  ++cases_;
  if (contradictions_++ < told) first_.push_back(std::move(words));
}

Finding Tally::finding(const std::string& note) const {
  auto detail =
      clean() ? fmt::format("{} cases", cases_) : fmt::format("{} of {} cases contradict it", contradictions_, cases_);
  if (!note.empty()) detail += "; " + note;
  for (const auto& words : first_) detail += "; " + words;
  return {.test = claim_.test,
          .statement = claim_.statement,
          .source = claim_.source,
          .outcome = clean() ? Outcome::pass : otherwise_,
          .detail = detail,
          .values = {{"cases", cases_}, {"contradictions", contradictions_}},
          .snippet = snippet_};
}

Finding skipped(Claim claim, std::string why) {
  return {.test = std::move(claim.test),
          .statement = std::move(claim.statement),
          .source = std::move(claim.source),
          .outcome = Outcome::skipped,
          .detail = std::move(why),
          .values = {}};
}

}  // namespace ozbound::grading
