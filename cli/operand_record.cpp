#include "operand_record.hpp"

#include <nlohmann/json.hpp>

#include "report.hpp"

namespace ozbound::cli {
namespace {

nlohmann::ordered_json record(const std::string& file, const InputView& stored, bool transposed) {
  return {{"file", file},
          {"rows", stored.rows()},
          {"cols", stored.cols()},
          {"type", stored.is_double() ? "f8" : "f4"},
          {"op", transposed ? "T" : "N"}};
}

InputView as_stored(const InputView& view, bool transposed) { return transposed ? view.transposed() : view; }

}  // namespace

nlohmann::ordered_json operand_record(const OperandArguments& arguments, const OperandFiles& files) {
  nlohmann::ordered_json all{{"a", record(arguments.a, as_stored(files.a(), arguments.transpose_a), arguments.transpose_a)},
                             {"b", record(arguments.b, as_stored(files.b(), arguments.transpose_b), arguments.transpose_b)},
                             {"alpha", json_number(arguments.alpha)},
                             {"beta", json_number(arguments.beta)}};
  all["c0"] = arguments.beta == 0 ? nlohmann::ordered_json(nullptr) : record(arguments.c0, files.c0(), false);
  return all;
}

}  // namespace ozbound::cli
