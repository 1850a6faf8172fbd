// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>

#include "html_style.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/grade/grade_library.hpp"
#include "ozbound/verify/plot/markup.hpp"

namespace ozbound {
namespace {

using markup::escape;
using markup::number;

constexpr std::array all_outcomes{Outcome::pass,    Outcome::fail,     Outcome::crashed, Outcome::hung,
                                  Outcome::differs, Outcome::measured, Outcome::skipped};

std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
  return fmt::format("<{}{}{}>{}</{}>", name, attributes.empty() ? "" : " ", attributes, content, name);
}

std::string outcome_element(Outcome outcome) {
  return element("span", fmt::format(R"(class="outcome {}")", to_string(outcome)), to_string(outcome));
}

std::string paragraph(std::string_view style, const std::string& text) {
  if (text.empty()) return "";
  return element("p", style.empty() ? "" : fmt::format(R"(class="{}")", style), escape(text)) + "\n";
}

std::string values_list(const Finding& finding) {
  std::string items;
  for (const auto& [name, value] : finding.values)
    items += element("li", "", escape(name) + " " + element("b", "", number(value))) + "\n";
  return items.empty() ? "" : "<ul class=\"values\">\n" + items + "</ul>\n";
}

/// The program that shows a fault, folded up.
std::string snippet_block(const Finding& finding) {
  if (finding.snippet.empty()) return "";
  return element("details", "",
                 element("summary", "", "A program in C that shows it") + element("pre", "", escape(finding.snippet))) +
         "\n";
}

std::string finding_item(const Finding& finding, const std::string& more) {
  return fmt::format("<li>{}<div>\n{}{}{}{}{}{}</div></li>\n", outcome_element(finding.outcome),
                     element("p", "", element("code", "", escape(finding.test))) + "\n", paragraph("", finding.statement),
                     values_list(finding), paragraph("", finding.detail), paragraph("faint", finding.source), more);
}

/// The findings that `wanted` picks, or nothing if it picks none. @param snippets true if the programs that show them are
/// included
template <class Wanted>
std::string findings_list(const std::vector<Finding>& findings, Wanted wanted, bool snippets = false) {
  std::string items;
  for (const auto& finding : findings)
    if (wanted(finding)) items += finding_item(finding, snippets ? snippet_block(finding) : "");
  return items.empty() ? "" : "<ul class=\"findings\">\n" + items + "</ul>\n";
}

std::string printed_block(const GradedPart& part) {
  if (part.printed.empty()) return "";
  return paragraph("faint", "The last that the library printed:") + element("pre", "", escape(part.printed)) + "\n";
}

std::string faults_section(const Grade& grade) {
  std::string faults;
  for (const auto& part : grade.parts) {
    const auto list = findings_list(part.findings.findings, [](const auto& one) { return is_fault(one.outcome); }, true);
    if (!list.empty()) faults += list + printed_block(part);
  }
  return faults.empty() ? "" : "<h2>Faults</h2>\n" + faults;
}

std::map<Outcome, int> counts_of(const GradedPart& part) {
  std::map<Outcome, int> counts;
  for (const auto& finding : part.findings.findings) ++counts[finding.outcome];
  return counts;
}

std::string summary_row(const GradedPart& part) {
  auto counts = counts_of(part);
  std::string cells = element("td", "", element("a", fmt::format(R"(href="#{}")", escape(part.name)), escape(part.title)));
  for (const auto outcome : all_outcomes) {
    const int count = counts[outcome];
    const auto attributes = count == 0 ? R"(class="faint")" : fmt::format(R"(class="{}")", to_string(outcome));
    cells += element("td", attributes, count == 0 ? "·" : std::to_string(count));
  }
  return element("tr", "", cells) + "\n";
}

std::string summary_table(const Grade& grade) {
  std::string head = element("th", "", "Part");
  for (const auto outcome : all_outcomes) head += element("th", "", to_string(outcome));
  std::string rows = element("tr", "", head) + "\n";
  for (const auto& part : grade.parts) rows += summary_row(part);
  return "<h2>Summary</h2>\n<div class=\"scroll\"><table class=\"summary\">\n" + rows + "</table></div>\n";
}

std::string part_section(const GradedPart& part) {
  std::string out = fmt::format("<h2 id=\"{}\">{}</h2>\n", escape(part.name), escape(part.title));
  std::string plots;
  for (const auto& plot : group_by_plot(part.findings.series)) plots += plot_figure(plot);
  if (!plots.empty()) out += "<div class=\"plots\">\n" + plots + "</div>\n";
  return out + findings_list(part.findings.findings, [](const auto&) { return true; });
}

std::string threads_text(const Grade& grade) {
  if (grade.threads.empty()) return "1";
  std::string counts;
  for (const auto count : grade.threads) counts += (counts.empty() ? "" : ", ") + std::to_string(count);
  return "1; in the last part " + counts;
}

std::string facts(const Grade& grade, const GradeOrigin& origin) {
  const auto& identity = grade.identity;
  std::string out;
  const auto add = [&](const char* name, const std::string& value) {
    out += element("dt", "", name) + element("dd", "", element("code", "", escape(value))) + "\n";
  };
  add("library", grade.library);
  if (!identity.file.empty()) {
    add("file", identity.file);
    add("symbol", identity.symbol);
    add("size, CRC-32", fmt::format("{} bytes, {:08x}", identity.bytes, identity.crc32));
    add("version", identity.version.empty() ? "it does not say" : identity.version);
    add("kernel", identity.kernel.empty() ? "it does not say" : identity.kernel);
  }
  add("processor", grade.processor);
  add("threads", threads_text(grade));
  add("seed, sizes", fmt::format("{}, {}", grade.options.seed, grade.options.quick ? "quick" : "full"));
  add("date", origin.date);
  add("Ozbound", origin.version);
  add("command", origin.command);
  return "<dl class=\"facts\">\n" + out + "</dl>\n";
}

std::string verdict(const Grade& grade) {
  int faults = 0;
  for (const auto& [outcome, count] : grade.counts())
    if (is_fault(outcome)) faults += count;
  if (faults == 0) return "<p class=\"verdict pass\">No fault found</p>\n";
  return fmt::format("<p class=\"verdict fail\">{} fault{}</p>\n", faults, faults == 1 ? "" : "s");
}

}  // namespace

std::string to_html(const Grade& grade, const GradeOrigin& origin) {
  const FloatEnvironment environment;
  const auto title = "Grade of " + escape(grade.library);
  std::string body =
      element("h1", "", title) + "\n" + verdict(grade) + facts(grade, origin) + faults_section(grade) + summary_table(grade);
  for (const auto& part : grade.parts) body += part_section(part);
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{}</title>
<style>{}{}</style>
</head>
<body>
{}</body>
</html>
)",
                     title, markup::style, plot_style(), body);
}

}  // namespace ozbound
