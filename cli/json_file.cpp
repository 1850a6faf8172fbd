#include "json_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

#include "ozbound/core/float_environment.hpp"

namespace ozbound::cli {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

}  // namespace

nlohmann::json read_json(const InputFile& file) {
  const FloatEnvironment environment;
  if (file.size() > largest_file) throw InputError(file.name(), "the file is too large for a report");
  const auto text = file.head(static_cast<std::size_t>(file.size()));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto read = std::string_view(text).substr(0, error.byte == 0 ? 0 : error.byte - 1);
    throw InputError(fmt::format("{}:{}", file.name(), std::count(read.begin(), read.end(), '\n') + 1), "this is not JSON");
  } catch (const nlohmann::json::out_of_range&) {
    throw InputError(file.name(), "a number in it lies outside the range of a double");
  }
}

}  // namespace ozbound::cli
