// SPDX-License-Identifier: BSD-3-Clause
#include "demo_problems.hpp"

#include <system_error>
#include <utility>

#include "ozbound/files/matrix_file.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::cli {
namespace {

DemoProblem from_files(std::string name, const std::filesystem::path& data, const std::string& a, const std::string& b) {
  return {std::move(name), a == b ? a + ", squared" : a + ", " + b, files::read_matrix(data / a).to_double(),
          files::read_matrix(data / b).to_double()};
}

DemoProblem from_recipe(std::string name, const Recipe& recipe) {
  auto problem = ozbound::generate(recipe);
  return {std::move(name), generate_command(recipe), std::move(problem.a), std::move(problem.b)};
}

}  // namespace

std::filesystem::path data_directory() {
  std::error_code unknown;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const auto installed = command.parent_path().parent_path() / OZBOUND_INSTALLED_DATA;
  return !unknown && std::filesystem::is_directory(installed) ? installed : std::filesystem::path(OZBOUND_SOURCE_DATA);
}

std::vector<DemoProblem> demo_problems(const std::filesystem::path& data) {
  std::vector<DemoProblem> problems;
  problems.push_back(from_files("beam and its inverse", data, "beam-stiffness.mtx", "beam-inverse.npy"));
  problems.push_back(from_files("grid Laplacian", data, "grid-laplacian.mtx", "grid-laplacian.mtx"));
  problems.push_back(from_recipe("long beam", {.family = Family::fem, .m = 512, .n = 512, .k = 512, .phi = 0, .seed = 1}));
  problems.push_back(from_recipe("integers", {.family = Family::integers, .m = 256, .n = 256, .k = 256, .phi = 0, .seed = 1}));
  problems.push_back(
      from_recipe("graded", {.family = Family::graded_inner, .m = 256, .n = 256, .k = 256, .phi = 1, .seed = 1}));
  problems.push_back(
      from_recipe("wide exponents", {.family = Family::wide_exponents, .m = 512, .n = 512, .k = 512, .phi = 3, .seed = 1}));
  return problems;
}

}  // namespace ozbound::cli
