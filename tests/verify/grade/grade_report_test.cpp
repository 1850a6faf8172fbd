// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "ozbound/verify/grade/grade_library.hpp"
#include "support/xml.hpp"

// A grade written as JSON and as a page.

namespace ozbound::grade_report_test {
namespace {

using test::attribute;
using test::elements;
using test::parse;
using test::text;
using test::texts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();

Finding finding(const std::string& test, Outcome outcome, const std::string& detail = "") {
  return {.test = test,
          .statement = "x <= y",
          .source = "A & B",
          .outcome = outcome,
          .detail = detail,
          .values = {{"worst", infinity}, {"slope", 0.5}}};
}

Grade sample() {
  Grade grade;
  grade.library = R"(we<ird&"name".so)";
  grade.identity = {
      .file = "/lib/x.so", .symbol = "dgemm_", .bytes = 12, .crc32 = 0xbeef, .version = "BLAS 9 & more", .kernel = "Zen"};
  grade.processor = "A processor";
  grade.threads = {1, 2, 6};
  grade.options.seed = 7;
  grade.parts.resize(2);
  grade.parts[0] = {.name = "first", .title = "First <part>", .findings = {}, .printed = ""};
  grade.parts[0].findings.findings = {finding("first.good", Outcome::pass), finding("first.bad", Outcome::fail, "</p> 0x1p-3"),
                                      finding("first.open", Outcome::differs)};
  grade.parts[0].findings.findings[1].snippet = "int main(void) { return 1 < 2 && 3; }";
  grade.parts[0].findings.series = {{.plot = "errors", .label = "f", .x_axis = "n", .y_axis = "f", .points = {{1, 2}}}};
  grade.parts[1] = {.name = "second", .title = "Second", .findings = {}, .printed = "<last> words\x01"};
  grade.parts[1].findings.findings = {finding("second.completes", Outcome::crashed)};
  return grade;
}

const GradeOrigin origin{"1.2.3", "ozbound", "2026-03-01 12:00 UTC"};

TEST(GradeRecord, HasEverything) {
  const auto record = to_json(sample());
  EXPECT_EQ(record["library"].dump(),
            R"({"named":"we<ird&\"name\".so","file":"/lib/x.so","symbol":"dgemm_","bytes":12,"crc32":"0000beef",)"
            R"("version":"BLAS 9 & more","kernel":"Zen"})");
  EXPECT_EQ(record["processor"], "A processor");
  EXPECT_EQ(record["threads"].dump(), "[1,2,6]");
  EXPECT_EQ(record["seed"], 7);
  EXPECT_EQ(record["quick"], false);
  EXPECT_EQ(record["summary"].dump(),
            R"({"holds":false,"pass":1,"fail":1,"crashed":1,"hung":0,"differs":1,"measured":0,"skipped":0})");
  ASSERT_EQ(record["parts"].size(), 2U);
  EXPECT_EQ(record["parts"][0]["name"], "first");
  EXPECT_EQ(record["parts"][0]["title"], "First <part>");
  EXPECT_FALSE(record["parts"][0].contains("printed"));
  EXPECT_EQ(record["parts"][1]["printed"], "<last> words\x01");
  const auto back = findings_from_json(nlohmann::json(record["parts"][0]));
  EXPECT_EQ(back.findings[1].detail, "</p> 0x1p-3");
  EXPECT_EQ(back.findings[1].snippet, sample().parts[0].findings.findings[1].snippet);
  EXPECT_EQ(back.findings[0].snippet, "");
  EXPECT_EQ(back.findings[1].values, sample().parts[0].findings.findings[1].values);
  EXPECT_EQ(back.series[0].points, sample().parts[0].findings.series[0].points);
}

TEST(Grade, HoldsWithoutFaults) {
  Grade grade = sample();
  EXPECT_FALSE(grade.holds());
  grade.parts.pop_back();
  EXPECT_FALSE(grade.holds());
  grade.parts[0].findings.findings.erase(grade.parts[0].findings.findings.begin() + 1);
  EXPECT_TRUE(grade.holds());
  for (const auto fault : {Outcome::fail, Outcome::crashed, Outcome::hung}) EXPECT_TRUE(is_fault(fault));
  for (const auto other : {Outcome::pass, Outcome::differs, Outcome::measured, Outcome::skipped}) EXPECT_FALSE(is_fault(other));
}

TEST(GradePage, IsWellFormedAndSaysEverything) {
  const auto html = to_html(sample(), {"1.2.3", R"(ozbound grade 'we<ird&"name".so')", "2026-03-01 12:00 UTC"});
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>\n<html "));
  const auto page = parse(html);
  const auto said = text(page.get_child("html.body"));
  for (const auto* part : {R"(Grade of we<ird&"name".so)",
                           "2 faults",
                           "/lib/x.so",
                           "dgemm_",
                           "12 bytes, 0000beef",
                           "7, full",
                           "1.2.3",
                           R"(ozbound grade 'we<ird&"name".so')",
                           "First <part>",
                           "first.good",
                           "first.open",
                           "</p> 0x1p-3",
                           "x <= y",
                           "A & B",
                           "BLAS 9 & more",
                           "Zen",
                           "A processor",
                           "1; in the last part 1, 2, 6",
                           "2026-03-01 12:00 UTC",
                           "int main(void) { return 1 < 2 && 3; }",
                           "worst inf",
                           "slope 0.5",
                           "second.completes",
                           "<last> words\xef\xbf\xbd"})
    EXPECT_THAT(said, HasSubstr(part));
  EXPECT_THAT(texts(page, "h2"), ElementsAre("Faults", "Summary", "First <part>", "Second"));
  EXPECT_EQ(elements(page, "figure").size(), 1U);
}

TEST(GradePage, FaultsAreExplainedFirst) {
  const auto html = to_html(sample(), origin);
  EXPECT_LT(html.find("first.bad"), html.find("first.good"));
  EXPECT_LT(html.find("second.completes"), html.find("first.good"));
}

TEST(GradePage, NeedsNothingElse) {
  const auto html = to_html(sample(), origin);
  for (const auto* outside : {"<script", "<link", "<img", "<iframe", "@import", "url(", "src="})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  for (std::size_t at = 0; (at = html.find("href=\"", at)) != std::string::npos; ++at) EXPECT_EQ(html[at + 6], '#');
}

TEST(GradePage, LinksLeadToTheParts) {
  const auto page = parse(to_html(sample(), origin));
  std::set<std::string> places, links;
  for (const auto* heading : elements(page, "h2"))
    if (const auto id = heading->get_optional<std::string>("<xmlattr>.id")) places.insert("#" + *id);
  for (const auto* link : elements(page, "a")) links.insert(attribute(*link, "href"));
  EXPECT_EQ(places, links);
  EXPECT_EQ(places.size(), 2U);
}

TEST(GradePage, OfALibraryWithoutFaultsOrIdentity) {
  Grade grade;
  grade.library = "x.so";
  const auto page = parse(to_html(grade, origin));
  EXPECT_THAT(text(page.get_child("html.body")), HasSubstr("No fault found"));
  EXPECT_THAT(texts(page, "dt"), ElementsAre("library", "processor", "threads", "seed, sizes", "date", "Ozbound", "command"));
}

}  // namespace
}  // namespace ozbound::grade_report_test
