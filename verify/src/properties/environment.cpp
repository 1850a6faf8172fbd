// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "properties/case_product.hpp"
#include "properties/disturbed.hpp"
#include "properties/integers.hpp"
#include "properties/judge.hpp"
#include "properties/properties.hpp"

// The caller's rounding mode and flush-to-zero setting must not affect computed, written or read values.

namespace ozbound::properties {
namespace {

/// Records about a case, as text, written and read.
struct Records {
  std::string decision;     ///< for the target of the case
  std::string replayed;     ///< the decision, read and written again
  std::string certificate;  ///< of the C by that decision
  std::string check;        ///< the checker's findings about that certificate
  std::string file;         ///< the case file, read and written again
};

std::string findings_of(const std::string& certificate, const Operands& operands, const StoredMatrix& c) {
  std::string wrong;
  const auto checked = with_view(c, [&](const ResultView& view) { return check_certificate(certificate, operands, view); });
  for (const auto& claim : checked.claims)
    if (!claim.holds) wrong += claim.claim + ": " + claim.finding + "; ";
  return wrong;
}

/// The records of a case. C is memory.c. `truth` has the operands as doubles.
Records records_of(const StoredCase& stored, CaseMemory& memory, const Oracle& truth, const Engine& engine) {
  Records records;
  const auto call = memory.product();
  records.file = to_text(case_from_json(nlohmann::json::parse(to_text(stored))));
  try {
    records.decision = json_text(to_json(decide(call, stored.gemm_case.target.value_or(Target::dgemm()), engine)));
  } catch (const CannotCertify& error) {
    records.decision = error.what();
    return records;
  }
  const auto decision = parse_decision(records.decision);
  records.replayed = json_text(to_json(decision));
  records.certificate = json_text(to_json(multiply(call, decision, engine)));
  records.check = findings_of(records.certificate, truth.operands(), memory.c);
  return records;
}

/// The text around the place where two texts differ.
std::string around(const std::string& text, std::size_t place) { return text.substr(place < 30 ? 0 : place - 30, 60); }

Finding other_text(const std::string& what, const std::string& text, const std::string& expected) {
  if (text == expected) return {};
  const auto same = std::mismatch(text.begin(), text.end(), expected.begin(), expected.end()).first - text.begin();
  const auto place = static_cast<std::size_t>(same);
  return fmt::format("{} has '{}'; rounding to nearest '{}'", what, around(text, place), around(expected, place));
}

Finding other_records(const Records& x, const Records& y) {
  if (auto wrong = other_text("the decision", x.decision, y.decision)) return wrong;
  if (auto wrong = other_text("the decision that was read", x.replayed, y.replayed)) return wrong;
  if (auto wrong = other_text("the certificate", x.certificate, y.certificate)) return wrong;
  if (auto wrong = other_text("the checker", x.check, y.check)) return wrong;
  return other_text("the case file", x.file, y.file);
}

Finding judge_records(const GemmCase& gemm_case, const Engine& engine, const Setting& setting, const Oracle& truth,
                      const Records& expected) {
  CaseMemory memory(gemm_case);
  Records records;
  {
    const Disturbed caller(setting);
    records = records_of({{}, {}, gemm_case}, memory, truth, engine);
  }
  return other_records(records, expected);
}

Finding judge_setting(const GemmCase& gemm_case, const Engine& engine, const Setting& setting) {
  CaseMemory memory(gemm_case);
  const auto call = memory.product();
  std::optional<Integers> integers;
  bool kept = false;
  {
    const Disturbed caller(setting);
    integers.emplace(memory, gemm_case.plan, engine);
    multiply_unproven(call, gemm_case.plan, engine);
    kept = Disturbed::in_force(setting);
  }
  if (!kept) return "the caller's setting is lost";
  const char* what = "rounding to nearest it is";
  if (auto wrong = other_integers(*integers, Integers(memory, gemm_case.plan, engine), what)) return wrong;
  return differing(memory.c, multiplied(gemm_case, engine), what);
}

Finding judge_environment(const GemmCase& gemm_case, const Engine& engine) {
  const Judge<ExactOracle> truth(gemm_case);
  CaseMemory memory(gemm_case);
  const auto expected = records_of({{}, {}, gemm_case}, memory, truth.oracle(), engine);
  for (const auto& setting : settings) {
    auto wrong = judge_setting(gemm_case, engine, setting);
    if (!wrong) wrong = judge_records(gemm_case, engine, setting, truth.oracle(), expected);
    if (wrong) return fmt::format("{}: {}", setting.name, *wrong);
  }
  return {};
}

}  // namespace

Property any_environment() {
  return {"any-environment",
          "facts, residues, sums of groups, C, decision, certificate, what its checker finds and the case file have the same "
          "bits, and are read back the same, in every rounding mode of the caller, where subnormal results are flushed and "
          "where subnormal "
          "operands are read as zero; the caller's mode stays",
          "design: semantics; the caller's rounding mode and flush-to-zero setting change nothing",
          {.largest = 5, .specials = true, .targets = true, .plans = PlanKinds::any},
          judge_environment};
}

}  // namespace ozbound::properties
