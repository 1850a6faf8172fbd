// SPDX-License-Identifier: BSD-3-Clause
#include "operand_record.hpp"

#include <nlohmann/json.hpp>

#include "report.hpp"

namespace ozbound::cli {
namespace {

using nlohmann::ordered_json;

ordered_json record(const std::string& file, const files::OperandFiles::Stored& stored, char op) {
  return {{"file", file}, {"rows", stored.rows}, {"cols", stored.cols}, {"type", stored.type}, {"op", std::string(1, op)}};
}

}  // namespace

ordered_json operand_record(const files::OperandArguments& arguments, const files::OperandFiles& files) {
  // Conjugation does not change real numbers.
  const auto op = [&files](char given) { return given == 'C' && !files.is_complex() ? 'T' : given; };
  const auto& stored = files.stored();
  ordered_json all{{"a", record(arguments.a, stored[0], op(arguments.op_a))},
                   {"b", record(arguments.b, stored[1], op(arguments.op_b))},
                   {"alpha", json_number(arguments.alpha)},
                   {"beta", json_number(arguments.beta)}};
  all["c0"] = arguments.beta == 0.0 ? ordered_json(nullptr) : record(arguments.c0, stored[2], 'N');
  return all;
}

}  // namespace ozbound::cli
