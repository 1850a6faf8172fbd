// SPDX-License-Identifier: BSD-3-Clause
#include "grade_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "ozbound/files/text.hpp"

namespace ozbound::cli {
namespace {

constexpr std::array all_outcomes{Outcome::pass,    Outcome::fail,     Outcome::crashed, Outcome::hung,
                                  Outcome::differs, Outcome::measured, Outcome::skipped};
constexpr std::size_t outcome_width = 8;

std::string indented(std::size_t by, const std::string& text) {
  return text.empty() ? "" : std::string(by, ' ') + one_line(text) + "\n";
}

std::string library_lines(const Grade& grade) {
  const auto& identity = grade.identity;
  if (identity.file.empty()) return one_line(grade.library) + "\n";
  return fmt::format("{}\n  {}: {}, {} bytes, CRC-32 {:08x}\n", one_line(grade.library), one_line(identity.file),
                     one_line(identity.symbol), identity.bytes, identity.crc32);
}

std::string printed_lines(const std::string& printed) {
  if (printed.empty()) return "";
  std::string out = indented(outcome_width + 2, "the last that the library printed:");
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) out += indented(outcome_width + 2, "| " + line);
  return out;
}

std::string explained(const Finding& finding) {
  return fmt::format("{:<{}}  {}\n", to_string(finding.outcome), outcome_width, one_line(finding.test)) +
         indented(outcome_width + 2, "asked: " + finding.statement) + indented(outcome_width + 2, "by:    " + finding.source) +
         indented(outcome_width + 2, finding.detail.empty() ? "" : "found: " + finding.detail);
}

std::string faults(const Grade& grade) {
  std::string out;
  for (const auto& part : grade.parts) {
    for (const auto& finding : part.findings.findings)
      if (is_fault(finding.outcome)) out += explained(finding);
    out += printed_lines(part.printed);
  }
  return out.empty() ? "" : "\nFaults\n" + out;
}

std::string measured(const Finding& finding) {
  std::string out;
  for (const auto& [name, value] : finding.values)
    out += fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", one_line(name), value);
  return out;
}

/// Its outcome, its name and what was measured; below, what is neither a fault, explained already, nor a matter of course.
std::string line(const Finding& finding, std::size_t width) {
  auto out = fmt::format("{:<{}}  {:<{}}  {}", to_string(finding.outcome), outcome_width, one_line(finding.test), width,
                         measured(finding));
  out.erase(out.find_last_not_of(' ') + 1);
  const bool below = finding.outcome == Outcome::differs || finding.outcome == Outcome::skipped;
  return out + "\n" + indented(outcome_width + 2, below ? finding.detail : "");
}

std::string part_lines(const GradedPart& part) {
  std::size_t width = 0;
  for (const auto& finding : part.findings.findings) width = std::max(width, finding.test.size());
  std::string out = fmt::format("\n{} ({})\n", part.title, part.name);
  for (const auto& finding : part.findings.findings) out += line(finding, width);
  return out;
}

std::string summary(const Grade& grade) {
  auto counts = grade.counts();
  std::string out;
  for (const auto outcome : all_outcomes)
    if (counts[outcome] > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[outcome], to_string(outcome));
  return fmt::format("\n{}: {}\n", grade.holds() ? "No fault found" : "FAULTS FOUND", out);
}

}  // namespace

std::string grade_text(const Grade& grade) {
  std::string out = library_lines(grade) + faults(grade);
  for (const auto& part : grade.parts) out += part_lines(part);
  return out + summary(grade);
}

}  // namespace ozbound::cli
