#include "claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "input_file.hpp"
#include "text.hpp"

namespace ozbound::cli {
namespace {

constexpr std::uint64_t largest_report = std::uint64_t{1} << 30;

nlohmann::json parse_json(const InputFile& file) {
  if (file.size() > largest_report) throw InputError(file.name(), "the file is too large for a report");
  const auto text = file.head(static_cast<std::size_t>(file.size()));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto read = std::string_view(text).substr(0, error.byte == 0 ? 0 : error.byte - 1);
    throw InputError(fmt::format("{}:{}", file.name(), std::count(read.begin(), read.end(), '\n') + 1), "this is not JSON");
  }
}

class CertificateReader {
 public:
  explicit CertificateReader(const InputFile& file) : file_(file), json_(parse_json(file)) {
    if (json_.is_object() && json_.contains("certificate")) json_ = nlohmann::json(json_["certificate"]);
    if (!json_.is_object() || !json_.contains("schema") || json_["schema"] != "ozbound-certificate-1")
      throw InputError(file.name(), "the report has no certificate of schema ozbound-certificate-1");
  }

  [[nodiscard]] Claims claims() const {
    Claims claims;
    claims.m = size("m");
    claims.n = size("n");
    claims.k = size("k");
    claims.source = file_.name();
    if (holds()) claims.targets.push_back(target());
    claims.largest_bounds.push_back(largest_bound());
    return claims;
  }

 private:
  [[nodiscard]] const nlohmann::json& member(const char* name) const {
    if (!json_.contains(name)) throw InputError(file_.name(), fmt::format("the certificate has no '{}'", name));
    return json_[name];
  }

  [[noreturn]] void fail(const char* name, const char* wanted) const {
    throw InputError(file_.name(), fmt::format("'{}' of the certificate is not {}", name, wanted));
  }

  [[nodiscard]] Index size(const char* name) const {
    const auto& value = member(name);
    if (!value.is_number_integer() || value.get<Index>() < 0) fail(name, "a size");
    return value.get<Index>();
  }

  [[nodiscard]] bool holds() const {
    const auto& value = member("holds");
    if (!value.is_boolean()) fail("holds", "true or false");
    return value.get<bool>();
  }

  [[nodiscard]] Target target() const {
    const auto& value = member("target");
    if (!value.is_string()) fail("target", "a target");
    try {
      return parse_target(value.get<std::string>());
    } catch (const std::invalid_argument&) {
      fail("target", "a target");
    }
  }

  [[nodiscard]] double largest_bound() const {
    const auto& value = member("largest_bound");
    const double bound = value == "inf"      ? std::numeric_limits<double>::infinity()
                         : value.is_number() ? value.get<double>()
                                             : -1;
    if (!(bound >= 0)) fail("largest_bound", "a bound");
    return bound;
  }

  const InputFile& file_;
  nlohmann::json json_;
};

}  // namespace

void Claims::check_sizes(Index product_m, Index product_n, Index product_k) const {
  if (m < 0 || (m == product_m && n == product_n && k == product_k)) return;
  throw InputError(source, fmt::format("the report is about m = {}, n = {}, k = {}, and the matrices have {}, {}, {}", m, n, k,
                                       product_m, product_n, product_k));
}

Claims read_claims(const std::filesystem::path& path) {
  const InputFile file(path);
  return CertificateReader(file).claims();
}

}  // namespace ozbound::cli
