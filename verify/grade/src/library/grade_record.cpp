// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/grade/grade_library.hpp"

namespace ozbound {
namespace {

using nlohmann::ordered_json;

ordered_json library_record(const Grade& grade) {
  ordered_json record{{"named", grade.library}};
  if (grade.identity.file.empty()) return record;
  record["file"] = grade.identity.file;
  record["symbol"] = grade.identity.symbol;
  record["bytes"] = grade.identity.bytes;
  record["crc32"] = fmt::format("{:08x}", grade.identity.crc32);
  if (!grade.identity.version.empty()) record["version"] = grade.identity.version;
  if (!grade.identity.kernel.empty()) record["kernel"] = grade.identity.kernel;
  return record;
}

ordered_json part_record(const GradedPart& part) {
  const auto findings = to_json(part.findings);
  ordered_json record{
      {"name", part.name}, {"title", part.title}, {"findings", findings.at("findings")}, {"series", findings.at("series")}};
  if (!part.printed.empty()) record["printed"] = part.printed;
  return record;
}

ordered_json summary_record(const Grade& grade) {
  auto counts = grade.counts();
  ordered_json record{{"holds", grade.holds()}};
  for (const auto outcome :
       {Outcome::pass, Outcome::fail, Outcome::crashed, Outcome::hung, Outcome::differs, Outcome::measured, Outcome::skipped})
    record[std::string(to_string(outcome))] = counts[outcome];
  return record;
}

}  // namespace

ordered_json to_json(const Grade& grade) {
  const FloatEnvironment environment;
  ordered_json record{{"library", library_record(grade)}, {"processor", grade.processor}, {"threads", grade.threads},
                      {"seed", grade.options.seed},       {"quick", grade.options.quick}, {"summary", summary_record(grade)},
                      {"parts", ordered_json::array()}};
  for (const auto& part : grade.parts) record["parts"].push_back(part_record(part));
  return record;
}

}  // namespace ozbound
