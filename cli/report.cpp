// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ozbound/core/float_environment.hpp"

namespace ozbound::cli {
namespace {

// Names of files come from outside and need not be UTF-8; dump() would throw.
std::string text_of(const nlohmann::ordered_json& object) {
  const FloatEnvironment environment;
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void print_table(const Table& table) {
  std::size_t width = 0;
  for (const auto& row : table) width = std::max(width, row.first.size());
  for (const auto& [name, value] : table) fmt::print(stdout, "{:<{}}  {}\n", name, width, value);
}

void print_text(std::string_view text) { fmt::print(stdout, "{}", text); }

nlohmann::ordered_json json_number(double x) {
  const FloatEnvironment environment;
  if (std::isfinite(x)) return x;
  return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
}

nlohmann::ordered_json json_number(const std::complex<double>& x) {
  const FloatEnvironment environment;
  if (x.imag() == 0) return json_number(x.real());
  return {json_number(x.real()), json_number(x.imag())};
}

void print_json(const nlohmann::ordered_json& object) { fmt::print(stdout, "{}", text_of(object)); }

void write_json(AtomicFile& file, const nlohmann::ordered_json& object) { file.write(text_of(object)); }

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& object) {
  AtomicFile file(path);
  write_json(file, object);
  file.commit();
}

}  // namespace ozbound::cli
