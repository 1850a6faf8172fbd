// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/claims.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/input_file.hpp"
#include "ozbound/files/json_file.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::files {
namespace {

/// The inverse of json_number; a NaN if the value is not a number.
double number(const nlohmann::json& value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return value.get<double>();
  return value == "inf" ? infinity : value == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

/// The inverse for a number, or for an array of a real and an imaginary part.
std::complex<double> scalar(const nlohmann::json& value) {
  if (!value.is_array()) return number(value);
  if (value.size() != 2) throw std::invalid_argument("a complex number has two parts");
  return {number(value.at(0)), number(value.at(1))};
}

bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }
bool same(const std::complex<double>& x, const std::complex<double>& y) {
  return same(x.real(), y.real()) && same(x.imag(), y.imag());
}

std::string text_of(const OperandArguments& call) {
  return fmt::format("--op-a {} --op-b {} --alpha {} --beta {}", call.op_a, call.op_b, complex_text(call.alpha),
                     complex_text(call.beta));
}

/// N, T or C. @throws std::invalid_argument for anything else.
char op_of(const nlohmann::json& operand) {
  const auto& op = operand.at("op");
  for (const char known : {'N', 'T', 'C'})
    if (op == std::string(1, known)) return known;
  throw std::invalid_argument("op");
}

/// Reads the scalars and transpositions of a report's member `operands`.
OperandArguments call_of(const InputFile& file, const nlohmann::json& operands) {
  OperandArguments call;
  try {
    call.op_a = op_of(operands.at("a"));
    call.op_b = op_of(operands.at("b"));
    call.alpha = scalar(operands.at("alpha"));
    call.beta = scalar(operands.at("beta"));
    return call;
  } catch (const nlohmann::json::exception&) {
  } catch (const std::invalid_argument&) {
  }
  throw InputError(file.name(), "the operands of the report are incomplete");
}

class CertificateReader {
 public:
  CertificateReader(const InputFile& file, const nlohmann::json& json) : file_(file), json_(json) {
    if (!json_.is_object() || !json_.contains("schema") ||
        (json_["schema"] != certificate_schema && json_["schema"] != former_certificate_schema))
      throw InputError(file.name(), fmt::format("the report has no certificate of schema {}", certificate_schema));
  }

  [[nodiscard]] Claims claims() const {
    Claims claims;
    claims.m = size("m");
    claims.n = size("n");
    claims.k = size("k");
    claims.complex = json_.contains("complex");
    if (claims.complex && !flag("complex"))
      throw InputError(file_.name(), "the certificate's 'complex' must be true, or missing");
    claims.source = file_.name();
    if (flag("holds")) claims.targets.push_back(as_of_schema(target(), claims));
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

  [[nodiscard]] bool flag(const char* name) const {
    const auto& value = member(name);
    if (!value.is_boolean()) fail(name, "true or false");
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

  /// The target with the tau that it had under the certificate's schema. Slices met that tau, and an underflow of eta/2.
  [[nodiscard]] Target as_of_schema(const Target& target, const Claims& claims) const {
    const bool varies = target.kind == Target::Kind::dgemm || target.kind == Target::Kind::dgemm_typical;
    if (json_["schema"] == certificate_schema || !varies) return target;
    if (json_.contains("imaginary") || !has_scalars(number(member("alpha")), number(member("beta")))) return target;
    const auto& format = member("type") == "binary32" ? binary32 : binary64;
    return Target::componentwise(target_tau(target, claims.complex ? 2 * claims.k : claims.k, format, false));
  }

  [[nodiscard]] double largest_bound() const {
    const double bound = number(member("largest_bound"));
    if (!(bound >= 0)) fail("largest_bound", "a bound");
    return bound;
  }

  const InputFile& file_;
  const nlohmann::json& json_;
};

}  // namespace

void Claims::check(const OperandArguments& given, const OperandFiles& files) const {
  const FloatEnvironment environment;
  auto arguments = given;
  if (!files.is_complex())  // conjugation then changes nothing
    for (auto* const op : {&arguments.op_a, &arguments.op_b})
      if (*op == 'C') *op = 'T';
  if (m >= 0 && complex != files.is_complex())
    throw InputError(source, fmt::format("the report is about a {} product, and the one of these matrices is {}",
                                         complex ? "complex" : "real", complex ? "real" : "complex"));
  if (m >= 0 && (m != files.m() || n != files.n() || k != files.k()))
    throw InputError(source, fmt::format("the report is about m = {}, n = {}, k = {}, and the matrices have {}, {}, {}", m, n,
                                         k, files.m(), files.n(), files.k()));
  if (call && !(call->op_a == arguments.op_a && call->op_b == arguments.op_b && same(call->alpha, arguments.alpha) &&
                same(call->beta, arguments.beta)))
    throw InputError(source, "the report is about " + text_of(*call) + ", and the arguments say " + text_of(arguments));
}

Claims read_claims(const std::filesystem::path& path) {
  const FloatEnvironment environment;
  const InputFile file(path);
  const auto json = read_json(file);
  auto claims = CertificateReader(file, member_of_report(file, json, "certificate")).claims();
  if (is_report(json) && json.contains("operands")) claims.call = call_of(file, json["operands"]);
  return claims;
}

}  // namespace ozbound::files
