// SPDX-License-Identifier: BSD-3-Clause
#include "grade_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "ozbound/files/columns.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::cli {
namespace {

constexpr std::array all_outcomes{Outcome::pass,    Outcome::fail,     Outcome::crashed, Outcome::hung,
                                  Outcome::differs, Outcome::measured, Outcome::skipped};

/// Writes a grade in lines of a width.
class GradeText {
 public:
  GradeText(const Grade& grade, std::size_t width) : grade_(grade), width_(width) {}

  [[nodiscard]] std::string heading(const GradeOrigin& origin) const {
    const auto& identity = grade_.identity;
    auto out = files::one_line(grade_.library) + "\n";
    if (!identity.file.empty())
      out += indented(
          2, fmt::format("{}: {}, {} bytes, CRC-32 {:08x}", identity.file, identity.symbol, identity.bytes, identity.crc32));
    if (!identity.version.empty()) out += indented(2, "version: " + identity.version);
    if (!identity.kernel.empty()) out += indented(2, "kernel: " + identity.kernel);
    return out + indented(2, fmt::format("on {}, seed {}, {} sizes, by Ozbound {}", grade_.processor, grade_.options.seed,
                                         grade_.options.quick ? "quick" : "full", origin.version));
  }

  [[nodiscard]] std::string faults() const {
    std::string out;
    for (const auto& part : grade_.parts) {
      for (const auto& finding : part.findings.findings)
        if (is_fault(finding.outcome)) out += explained(finding);
      out += printed_lines(part.printed);
    }
    return out.empty() ? "" : "\nFaults\n" + out + "\nPrograms in C that show faults: --html, --json\n";
  }

  [[nodiscard]] std::string part(const GradedPart& part) const {
    std::size_t width = 0;
    for (const auto& finding : part.findings.findings) width = std::max(width, finding.test.size());
    std::string out = fmt::format("\n{} ({})\n", part.title, part.name);
    for (const auto& finding : part.findings.findings) out += line(finding, width);
    return out;
  }

 private:
  [[nodiscard]] std::string indented(std::size_t by, const std::string& text) const {
    return text.empty() ? "" : std::string(by, ' ') + files::hanging(files::one_line(text), by, width_) + "\n";
  }

  [[nodiscard]] std::string printed_lines(const std::string& printed) const {
    if (printed.empty()) return "";
    std::string out = indented(below, "the last that the library printed:");
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);) out += indented(below, "| " + line);
    return out;
  }

  [[nodiscard]] std::string explained(const Finding& finding) const {
    return fmt::format("{:<{}}  {}\n", to_string(finding.outcome), outcome_width, files::one_line(finding.test)) +
           indented(below, "asked: " + finding.statement) + indented(below, "by:    " + finding.source) +
           indented(below, finding.detail.empty() ? "" : "found: " + finding.detail);
  }

  /// The measured values, without the number of cases, which is in the note.
  static std::string measured(const Finding& finding) {
    std::string out;
    for (const auto& [name, value] : finding.values)
      if (name != "cases" && name != "contradictions")
        out += fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", files::one_line(name), value);
    return out;
  }

  /// The outcome, the name and the measured values, and the note. Faults have no note, since they are explained elsewhere.
  [[nodiscard]] std::string line(const Finding& finding, std::size_t width) const {
    auto out = fmt::format("{:<{}}  {:<{}}  ", to_string(finding.outcome), outcome_width, files::one_line(finding.test), width);
    auto beside = measured(finding), note = is_fault(finding.outcome) ? "" : finding.detail;
    if (beside.empty() && out.size() + files::width_of(note) <= width_) std::swap(beside, note);
    out += files::hanging(files::one_line(beside), out.size(), std::max(width_, out.size() + narrowest));
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n" + indented(below, note);
  }

  static constexpr std::size_t outcome_width = 8, below = outcome_width + 2, narrowest = 20;

  const Grade& grade_;
  std::size_t width_;
};

std::string summary(const Grade& grade) {
  auto counts = grade.counts();
  std::string out;
  for (const auto outcome : all_outcomes)
    if (counts[outcome] > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[outcome], to_string(outcome));
  return fmt::format("\n{}: {}\n", grade.holds() ? "No fault found" : "FAULTS FOUND", out);
}

}  // namespace

std::string grade_text(const Grade& grade, const GradeOrigin& origin, std::size_t width) {
  const GradeText text(grade, width);
  auto out = text.heading(origin) + text.faults();
  for (const auto& part : grade.parts) out += text.part(part);
  return out + summary(grade);
}

}  // namespace ozbound::cli
