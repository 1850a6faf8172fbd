// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/gemm_case.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "parsed_json.hpp"

namespace ozbound {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr Index most_elements = Index{1} << 28;

[[noreturn]] void fail(const std::string& member, const std::string& wrong) {
  throw std::invalid_argument(member + ": " + wrong);
}

// Numbers.

std::string hexadecimal(double x) {
  const auto bits = bits_of(x);
  if (is_nan(bits, binary64)) return bits == binary64.nan ? "nan" : fmt::format("nan:0x{:016x}", bits);
  return hex_text(x);
}

/// The hexadecimal digits of `text` as a number of type T. The digits must be the whole text.
template <class T, class Format>
std::optional<T> parsed(std::string_view text, Format format) {
  T value{};
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<double> parsed_magnitude(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  const bool digits = text.starts_with("0x") && text.size() > 2 && std::isxdigit(static_cast<unsigned char>(text[2])) != 0;
  if (!digits) return std::nullopt;
  return parsed<double>(text.substr(2), std::chars_format::hex);
}

std::optional<double> parsed_number(std::string_view text) {
  if (text == "nan") return double_from_bits(binary64.nan);
  if (text.starts_with("nan:0x")) {
    const auto bits = parsed<std::uint64_t>(text.substr(6), 16);
    return bits && is_nan(*bits, binary64) ? std::optional(double_from_bits(*bits)) : std::nullopt;
  }
  const bool negative = text.starts_with('-');
  const auto magnitude = parsed_magnitude(negative ? text.substr(1) : text);
  return magnitude ? std::optional(negative ? -*magnitude : *magnitude) : std::nullopt;
}

double number_from(const json& value, const std::string& member) {
  const auto number = value.is_string() ? parsed_number(value.get_ref<const std::string&>()) : std::nullopt;
  if (!number) fail(member, value.dump() + " is no hexadecimal number such as \"0x1.8p-3\", \"inf\" or \"nan\"");
  return *number;
}

Index integer_from(const json& value, const std::string& member, Index least, Index largest) {
  const bool fits = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  if (!fits || value.get<Index>() < least || value.get<Index>() > largest)
    fail(member, fmt::format("{} is no integer from {} to {}", value.dump(), least, largest));
  return value.get<Index>();
}

// Objects.

/// The members of an object, with full names for messages. Refuses unknown members.
class Members {
 public:
  Members(const json& object, std::string name, std::initializer_list<std::string_view> known)
      : object_(object), name_(std::move(name)) {
    if (!object.is_object()) fail(name_.empty() ? "case" : name_, "is no object");
    for (const auto& item : object.items())
      if (std::find(known.begin(), known.end(), item.key()) == known.end()) fail(member(item.key()), "is unknown");
  }

  [[nodiscard]] std::string member(const std::string& key) const { return name_.empty() ? key : name_ + "." + key; }
  [[nodiscard]] bool has(const std::string& key) const { return object_.contains(key); }
  [[nodiscard]] const json& at(const std::string& key) const {
    if (!has(key)) fail(member(key), "is missing");
    return object_.at(key);
  }
  [[nodiscard]] std::string text(const std::string& key) const {
    if (!at(key).is_string()) fail(member(key), "is no string");
    return at(key).get<std::string>();
  }
  [[nodiscard]] Index integer(const std::string& key, Index least, Index largest) const {
    return integer_from(at(key), member(key), least, largest);
  }
  [[nodiscard]] double number(const std::string& key) const { return number_from(at(key), member(key)); }

  /// One of two words. Returns true for the second.
  [[nodiscard]] bool choice(const std::string& key, std::string_view first, std::string_view second) const {
    const auto word = text(key);
    if (word != first && word != second) fail(member(key), fmt::format("'{}' is neither {} nor {}", word, first, second));
    return word == second;
  }

  /// The result of `parse` for a string. Its complaints get the member's name.
  template <class Parse>
  [[nodiscard]] auto parse(const std::string& key, Parse parse) const {
    const auto word = text(key);
    try {
      return parse(word);
    } catch (const std::invalid_argument& error) {
      fail(member(key), error.what());
    }
  }

 private:
  const json& object_;
  std::string name_;
};

ordered_json to_json(const Storage& storage) {
  return {{"type", storage.single ? "f32" : "f64"},
          {"order", storage.column_major ? "columns" : "rows"},
          {"padding", storage.padding}};
}

ordered_json to_json(const CaseMatrix& matrix) {
  auto rows = ordered_json::array();
  for (Index i = 0; i < matrix.values.rows(); ++i) {
    auto row = ordered_json::array();
    for (Index j = 0; j < matrix.values.cols(); ++j) row.push_back(hexadecimal(matrix.values(i, j)));
    rows.push_back(std::move(row));
  }
  auto result = to_json(matrix.storage);
  result["rows"] = matrix.values.rows();
  result["columns"] = matrix.values.cols();
  result["elements"] = std::move(rows);
  return result;
}

Storage storage_from(const Members& members) {
  return {members.choice("type", "f64", "f32"), members.choice("order", "rows", "columns"),
          members.integer("padding", 0, 1024)};
}

/// Checks the claimed size before memory is taken for it.
void check_elements(const json& elements, const std::string& name, Index rows, Index columns) {
  const auto holds = [](const json& value, Index count) {
    return value.is_array() && static_cast<Index>(value.size()) == count;
  };
  if (!holds(elements, rows)) fail(name, fmt::format("is no array of {} rows", rows));
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (!holds(elements[i], columns)) fail(fmt::format("{}[{}]", name, i), fmt::format("is no array of {} numbers", columns));
}

CaseMatrix matrix_from(const Members& parent, const std::string& key) {
  const Members members(parent.at(key), key, {"type", "order", "padding", "rows", "columns", "elements"});
  const Index rows = members.integer("rows", 0, most_elements), columns = members.integer("columns", 0, most_elements);
  const auto& elements = members.at("elements");
  const auto name = members.member("elements");
  check_elements(elements, name, rows, columns);
  CaseMatrix matrix{Matrix<double>(rows, columns), storage_from(members)};
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      matrix.values(i, j) = number_from(elements[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)],
                                        fmt::format("{}[{}][{}]", name, i, j));
  return matrix;
}

ordered_json to_json(const CpuEngine::Options& working) {
  return {{"threads", working.threads},
          {"inner_block", working.inner_block},
          {"row_tile", working.row_tile},
          {"column_tile", working.column_tile}};
}

CpuEngine::Options working_from(const Members& parent) {
  const Members members(parent.at("working"), "working", {"threads", "inner_block", "row_tile", "column_tile"});
  constexpr Index any = std::numeric_limits<Index>::max();
  CpuEngine::Options working;
  working.threads = static_cast<int>(members.integer("threads", 0, 1024));
  working.inner_block = members.integer("inner_block", 0, any);
  working.row_tile = members.integer("row_tile", 0, any);
  working.column_tile = members.integer("column_tile", 0, any);
  return working;
}

std::vector<std::string> properties_from(const json& names) {
  if (!names.is_array()) fail("properties", "is no array of names");
  std::vector<std::string> properties;
  for (const auto& name : names) {
    if (!name.is_string()) fail("properties", name.dump() + " is no name");
    properties.push_back(name.get<std::string>());
  }
  return properties;
}

std::uint64_t seed_from(const json& value) {
  if (!value.is_number_unsigned()) fail("seed", value.dump() + " is no integer from 0 to 2^64 - 1");
  return value.get<std::uint64_t>();
}

GemmCase gemm_case_from(const Members& members) {
  GemmCase result;
  result.a = matrix_from(members, "a");
  result.b = matrix_from(members, "b");
  result.c0 = matrix_from(members, "c0");
  result.c = storage_from(Members(members.at("c"), "c", {"type", "order", "padding"}));
  result.alpha = members.number("alpha");
  result.beta = members.number("beta");
  result.plan = members.parse("plan", [](const std::string& text) { return parse_plan(text); });
  if (members.has("target"))
    result.target = members.parse("target", [](const std::string& text) { return parse_target(text); });
  result.working = working_from(members);
  result.seed = seed_from(members.at("seed"));
  result.inner_repeat = members.integer("inner_repeat", 1, most_elements);
  result.validate();
  return result;
}

// Requirements on a case.

bool same_bits(const Matrix<double>& x, const Matrix<double>& y) {
  if (x.rows() != y.rows() || x.cols() != y.cols()) return false;
  return std::equal(x.data(), x.data() + x.rows() * x.cols(), y.data(),
                    [](double s, double t) { return bits_of(s) == bits_of(t); });
}

bool same(const CaseMatrix& x, const CaseMatrix& y) { return x.storage == y.storage && same_bits(x.values, y.values); }

bool fits_float(double x) { return std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x; }

void validate_matrix(const CaseMatrix& matrix, const char* name, Index rows, Index cols) {
  const auto& values = matrix.values;
  if (values.rows() != rows || values.cols() != cols)
    fail(name, fmt::format("is {} x {}, not {} x {}", values.rows(), values.cols(), rows, cols));
  const bool fits = !matrix.storage.single || std::all_of(values.data(), values.data() + rows * cols, fits_float);
  if (!fits) fail(std::string(name) + ".elements", "one is no f32");
}

/// Checks the size of a matrix in memory.
void validate_size(const std::string& name, Index rows, Index cols, const Storage& storage) {
  if (storage.padding < 0) fail(name + ".padding", "must not be negative");
  const Index lines = storage.column_major ? cols : rows, length = storage.column_major ? rows : cols;
  const bool fits = storage.padding <= most_elements && length <= most_elements &&
                    lines <= most_elements / std::max<Index>(1, length + storage.padding);
  if (!fits) fail(name, "has more than 2^28 elements, padding included");
}

Matrix<double> repeated(const Matrix<double>& x, Index down, Index across) {
  Matrix<double> result(x.rows() * down, x.cols() * across);
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = x(i % x.rows(), j % x.cols());
  return result;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::error_code unreachable;
  if (std::filesystem::is_directory(file, unreachable)) throw std::invalid_argument("is a directory");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  if (in.peek() != std::ifstream::traits_type::eof()) bytes << in.rdbuf();
  if (!in.is_open() || in.bad() || !bytes) throw std::invalid_argument("cannot be read");
  return bytes.str();
}

/// True if a file may be created in a directory.
bool is_writable(const std::filesystem::path& directory) {
  return ::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

/// FNV-1a, the same on every platform.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

Matrix<double> GemmCase::full_a() const { return repeated(a.values, 1, inner_repeat); }
Matrix<double> GemmCase::full_b() const { return repeated(b.values, inner_repeat, 1); }

void GemmCase::validate() const {
  const FloatEnvironment environment;
  if (inner_repeat < 1) fail("inner_repeat", "must be at least 1");
  validate_matrix(a, "a", m(), a.values.cols());
  validate_matrix(b, "b", a.values.cols(), n());
  validate_matrix(c0, "c0", m(), n());
  if (inner_repeat > most_elements / std::max<Index>(1, a.values.cols()))
    fail("inner_repeat", "makes an inner dimension of more than 2^28");
  validate_size("a", m(), k(), a.storage);
  validate_size("b", k(), n(), b.storage);
  validate_size("c0", m(), n(), c0.storage);
  validate_size("c", m(), n(), c);
  plan.validate();
  if (target && parse_target(to_string(*target)) != *target) fail("target", "is none");
  const CpuEngine tried(working);  // throws, naming the option
}

bool GemmCase::operator==(const GemmCase& other) const {
  const FloatEnvironment environment;
  const auto options = [](const CpuEngine::Options& o) {
    return std::tuple(o.threads, o.inner_block, o.row_tile, o.column_tile);
  };
  return same(a, other.a) && same(b, other.b) && same(c0, other.c0) && c == other.c && bits_of(alpha) == bits_of(other.alpha) &&
         bits_of(beta) == bits_of(other.beta) && plan == other.plan && target == other.target &&
         options(working) == options(other.working) && seed == other.seed && inner_repeat == other.inner_repeat;
}

bool StoredCase::is_for(const std::string& property) const {
  return properties.empty() || std::find(properties.begin(), properties.end(), property) != properties.end();
}

ordered_json to_json(const StoredCase& stored) {
  const FloatEnvironment environment;
  const auto& gemm_case = stored.gemm_case;
  ordered_json result{{"schema", "ozbound-case-1"}, {"properties", stored.properties}, {"note", stored.note}};
  result["plan"] = to_string(gemm_case.plan);
  if (gemm_case.target) result["target"] = to_string(*gemm_case.target);
  result["alpha"] = hexadecimal(gemm_case.alpha);
  result["beta"] = hexadecimal(gemm_case.beta);
  result["inner_repeat"] = gemm_case.inner_repeat;
  result["a"] = to_json(gemm_case.a);
  result["b"] = to_json(gemm_case.b);
  result["c0"] = to_json(gemm_case.c0);
  result["c"] = to_json(gemm_case.c);
  result["working"] = to_json(gemm_case.working);
  result["seed"] = gemm_case.seed;
  return result;
}

std::string to_text(const StoredCase& stored) {
  const FloatEnvironment environment;
  const auto object = to_json(stored);
  std::string text = "{";
  for (const auto& item : object.items())
    text += fmt::format("{}\n  \"{}\": {}", text.size() > 1 ? "," : "", item.key(), item.value().dump());
  return text + "\n}\n";
}

StoredCase case_from_json(const json& object) {
  const FloatEnvironment environment;
  const Members members(object, "",
                        {"schema", "properties", "note", "plan", "target", "alpha", "beta", "inner_repeat", "a", "b", "c0", "c",
                         "working", "seed"});
  if (members.text("schema") != "ozbound-case-1") fail("schema", "is not ozbound-case-1");
  return {properties_from(members.at("properties")), members.text("note"), gemm_case_from(members)};
}

StoredCase read_case(const std::filesystem::path& file) {
  const FloatEnvironment environment;
  try {
    return case_from_json(parse_json(bytes_of(file)));
  } catch (const std::invalid_argument& error) {
    fail(file.string(), error.what());
  }
}

std::filesystem::path store_case(const StoredCase& stored, const std::filesystem::path& directory) {
  const FloatEnvironment environment;
  const auto text = to_text(stored);
  const auto name =
      fmt::format("{}-{:08x}.json", stored.properties.empty() ? "case" : stored.properties.front(), hash_of(text) >> 32);
  const auto file = directory / name;
  const auto temporary = directory / fmt::format(".{}.{}", name, ::getpid());
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  if (out) std::filesystem::rename(temporary, file, error);
  if (!out || error) {
    std::filesystem::remove(temporary, error);
    throw std::runtime_error(file.string() + ": cannot be written");
  }
  return file;
}

void require_storable(const std::filesystem::path& directory) {
  std::error_code error;  // of a path through something that is no directory
  auto there = std::filesystem::absolute(directory, error);
  while (std::filesystem::symlink_status(there, error).type() == std::filesystem::file_type::not_found &&
         there.has_relative_path())
    there = there.parent_path();
  if (!std::filesystem::is_directory(there, error)) fail(directory.string(), "is no directory, and none can be made there");
  if (!is_writable(there)) fail(directory.string(), "cannot be written: no counterexample could be stored");
}

std::vector<std::filesystem::path> case_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(directory)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto& file = entry.path();
    if (file.extension() == ".json" && !file.filename().string().starts_with('.')) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace ozbound
