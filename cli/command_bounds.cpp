// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <variant>

#include "judged.hpp"

#include "commands.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/recorded_bound.hpp"
#include "ozbound/core/fingerprint.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/input_file.hpp"
#include "ozbound/files/json_file.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_bounds {
namespace {

struct Arguments {
  std::string report, output;
  std::string c;  // empty: taken from the report
  bool json = false;
};

/// The file of C that a report names.
std::string result_file(const files::InputFile& file, const nlohmann::json& json) {
  if (files::is_report(json) && json.contains("result") && json["result"].is_object() && json["result"].contains("file") &&
      json["result"]["file"].is_string() && json["result"]["file"] != "-")
    return json["result"]["file"].get<std::string>();
  throw files::InputError(file.name(), "it does not say which file C is in; --of does");
}

RecordedBound recorded_bound(const files::InputFile& file, const nlohmann::json& json) {
  try {
    return bound_from_json(files::member_of_report(file, json, "certificate"));
  } catch (const std::invalid_argument& error) {
    throw files::InputError(file.name(), error.what());
  }
}

/// The elements of C in the certificate's form: for a complex C its parts, one row above the other.
Matrix<double> parts_of(const files::MatrixFile& file) {
  const JudgedResult result(file);
  const auto view = result.view();
  Matrix<double> parts(view.rows(), view.cols());
  for (Index i = 0; i < view.rows(); ++i)
    for (Index j = 0; j < view.cols(); ++j) parts(i, j) = view(i, j);
  return parts;
}

/// Refuses a C other than the certificate's.
void check_subject(const std::string& path, const files::MatrixFile& file, const RecordedBound& recorded) {
  const auto c = parts_of(file);
  const auto m = static_cast<Index>(recorded.bound.row_exponents.size());
  const auto n = static_cast<Index>(recorded.bound.column_exponents.size());
  if (file.is_complex() == recorded.complex && c.rows() == m && c.cols() == n && fingerprint(c) == recorded.c) return;
  throw files::InputError(path, "this is not the C that the certificate is about");
}

/// Refuses to overwrite the files that the bounds are about.
void check_output(const std::string& output, const std::string& report, const std::string& c) {
  for (const auto& input : {report, c})
    if (!files::is_stream(output) && files::same_file(output, input))
      throw std::invalid_argument("--output: " + output + " would be written over");
}

/// Writes the bounds of the elements of C, and returns the largest.
double write_bounds(const std::string& output, const ErrorBound& bound, const files::MatrixFile& c) {
  double largest = 0;
  const auto look_at = [&largest](double x) {
    if (!std::isnan(x)) largest = std::max(largest, x);
  };
  const auto of = [&](const auto& elements) {
    const auto bounds = bound.of_entries(elements);
    for (Index t = 0; t < bounds.rows() * bounds.cols(); ++t)
      look_at(std::real(bounds.data()[t])), look_at(std::imag(bounds.data()[t]));
    files::write_matrix(output, bounds.view());
  };
  std::visit(of, c.values);
  return largest;
}

ExitCode run(const Arguments& arguments) {
  const FloatEnvironment environment;      // subnormal numbers of binary32 become doubles
  files::output_format(arguments.output);  // throws for a wrong name before anything is read
  const files::InputFile file(arguments.report);
  const auto json = files::read_json(file);
  const auto recorded = recorded_bound(file, json);
  const auto path = arguments.c.empty() ? result_file(file, json) : arguments.c;
  check_output(arguments.output, arguments.report, path);
  const auto c = files::read_matrix(path);
  check_subject(path, c, recorded);
  const double largest = write_bounds(arguments.output, recorded.bound, c);
  if (arguments.json)
    print_json({{"schema", "ozbound-bounds-1"},
                {"c", path},
                {"file", arguments.output},
                {"largest", json_number(largest)},
                {"assumptions", recorded.bound.assumptions}});
  else
    print_table(
        {{"bounds", fmt::format("{}{} x {} in {}", c.is_complex() ? "complex " : "", c.rows(), c.cols(), arguments.output)},
         {"of", path},
         {"largest", files::format_upper(largest) + (c.is_complex() ? " of any part of an entry" : " of any entry")}});
  return ExitCode::success;
}

}  // namespace
}  // namespace command_bounds

void add_bounds(CLI::App& app, Action& action) {
  using namespace command_bounds;
  auto* command = app.add_subcommand("bounds", "Write the bound of every entry's error, from the record of a product and C");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("REPORT", arguments->report, "Report of gemm, or a certificate")->required()->type_name("");
  command->add_option("-o,--output", arguments->output, "File of the bounds, .npy or .mtx")->required()->type_name("FILE");
  command->add_option("--of", arguments->c, "File of C; the one that the report names, if not given")->type_name("FILE");
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
