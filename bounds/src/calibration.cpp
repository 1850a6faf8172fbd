// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "shipped_calibration.hpp"

namespace ozbound {
namespace {

constexpr const char* schema = "ozbound-calibration-3";
constexpr const char* schema_without_residues = "ozbound-calibration-2";
constexpr std::uintmax_t largest_file = 1 << 20;

double real(Index x) { return static_cast<double>(x); }

double rounded_up(Index x, Index tile) { return real((x + tile - 1) / tile) * real(tile); }

/// Number of INT32 sums per entry of C. The engine cuts the inner dimension into blocks, and cuts a group within a block if
/// INT32 could overflow.
double int32_sums(const SplitPlan& plan, Index k) {
  const Index block = std::clamp<Index>(k, 1, PanelLayout{}.block);
  const double terms = real(plan.int32_terms());
  const auto sums_of = [&](int pairs) { return std::ceil(pairs * real(block) / terms); };
  double sums = 0;
  if (plan.accumulation == Accumulation::exact)  // avoids the list of groups: thousands of plans are compared
    for (int g = 2; g <= plan.cut; ++g) sums += sums_of(std::min(g - 1, plan.a.slices) - std::max(1, g - plan.b.slices) + 1);
  else
    for (const auto& group : plan.groups(k)) sums += sums_of(group.pairs());
  return sums * std::max(1.0, std::ceil(real(k) / real(block)));
}

template <std::size_t n>
double seconds(const std::array<double, n>& rates, const std::array<double, n>& counts) {
  return std::inner_product(rates.begin(), rates.end(), counts.begin(), 0.0);
}

template <std::size_t n>
std::array<double, n> between(const std::array<double, n>& x, const std::array<double, n>& y, double share) {
  std::array<double, n> result{};
  for (std::size_t t = 0; t < n; ++t) result[t] = (1 - share) * x[t] + share * y[t];
  return result;
}

std::invalid_argument wrong(const std::string& what) { return std::invalid_argument("calibration: " + what); }

const nlohmann::json& member(const nlohmann::json& json, std::string_view name) {
  if (!json.is_object() || !json.contains(name)) throw wrong("member '" + std::string(name) + "' is missing");
  return json.at(std::string(name));
}

std::string text_member(const nlohmann::json& json, const char* name);

void check_schema(const nlohmann::json& json) {
  const auto found = text_member(json, "schema");
  if (found != schema && found != schema_without_residues) throw wrong(std::string("schema must be ") + schema);
}

std::string text_member(const nlohmann::json& json, const char* name) {
  const auto& text = member(json, name);
  if (!text.is_string()) throw wrong(std::string("member '") + name + "' must be text");
  return text;
}

const nlohmann::json& list_member(const nlohmann::json& json, const char* name) {
  const auto& list = member(json, name);
  if (!list.is_array()) throw wrong(std::string("member '") + name + "' must be a list");
  return list;
}

Index count_of(const nlohmann::json& json, const std::string& name) {
  if (!json.is_number_integer() || json.get<double>() < 1 || json.get<double>() > 1e6)
    throw wrong("member '" + name + "' must be an integer in [1, 1000000]");
  return json.get<Index>();
}

double seconds_of(const nlohmann::json& json, std::string_view name) {
  const auto& value = member(json, name);
  if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>()))
    throw wrong("member '" + std::string(name) + "' must be seconds >= 0");
  return value;
}

template <std::size_t n>
nlohmann::json terms_json(const std::array<std::string_view, n>& names, const std::array<double, n>& values) {
  auto json = nlohmann::json::object();
  for (std::size_t t = 0; t < n; ++t) json[std::string(names[t])] = values[t];
  return json;
}

template <std::size_t n>
std::array<double, n> terms_from(const std::array<std::string_view, n>& names, const nlohmann::json& json, const char* way) {
  std::array<double, n> values{};
  for (std::size_t t = 0; t < n; ++t) values[t] = seconds_of(json, names[t]);
  if (std::ranges::max(values) == 0) throw wrong(std::string("member '") + way + "' must not be 0 throughout");
  return values;
}

template <std::size_t n>
nlohmann::json terms_json(const std::array<std::string_view, n>& names, const std::optional<std::array<double, n>>& values) {
  return values ? terms_json(names, *values) : nlohmann::json(nullptr);
}

nlohmann::json rates_json(const Rates& rates) {
  return {{"threads", rates.threads},
          {"slices", terms_json(slice_terms, rates.slices)},
          {"residues", terms_json(residue_terms, rates.residues)},
          {"exact", terms_json(exact_terms, rates.exact)},
          {"native", terms_json(native_terms, rates.native)}};
}

Rates rates_from(const nlohmann::json& json) {
  Rates rates;
  rates.threads = static_cast<int>(count_of(member(json, "threads"), "threads"));
  rates.slices = terms_from(slice_terms, member(json, "slices"), "slices");
  rates.exact = terms_from(exact_terms, member(json, "exact"), "exact");
  if (rates.slices[slice_product_term] == 0) throw wrong("member 'product' of 'slices' must not be 0");
  const auto& native = member(json, "native");
  if (!native.is_null()) rates.native = terms_from(native_terms, native, "native");
  const bool knows_residues = json.contains("residues") && !json.at("residues").is_null();
  if (knows_residues) rates.residues = terms_from(residue_terms, json.at("residues"), "residues");
  if (rates.residues && (*rates.residues)[residue_product_term] == 0)
    throw wrong("member 'product' of 'residues' must not be 0");
  return rates;
}

Calibration calibration_from(const nlohmann::json& json) {
  Calibration calibration{text_member(json, "processor"), text_member(json, "kernel"), text_member(json, "version"), {}, {}};
  if (json.contains("engine")) calibration.engine = text_member(json, "engine");
  calibration.blas = text_member(json, "blas");
  const auto& tile = list_member(json, "tile");
  if (tile.size() != 2) throw wrong("member 'tile' must be two integers");
  calibration.tile = {count_of(tile[0], "tile"), count_of(tile[1], "tile")};
  for (const auto& rates : list_member(json, "rates")) calibration.rates.push_back(rates_from(rates));
  const auto& rates = calibration.rates;
  const auto not_ascending = [](const Rates& x, const Rates& y) { return x.threads >= y.threads; };
  if (rates.empty() || std::ranges::adjacent_find(rates, not_ascending) != rates.end())
    throw wrong("member 'rates' must have threads that ascend");
  return calibration;
}

bool says(const nlohmann::json& entry, const char* name, const std::string& text) {
  return entry.is_object() && entry.contains(name) && entry.at(name) == text;
}

/// True if a file entry is for this engine, processor, kernel and version. Entries without an engine date from the time of a
/// single engine.
bool same_machine(const nlohmann::json& entry, const Calibration& here) {
  const bool of_cpu = entry.is_object() && !entry.contains("engine") && here.engine == "cpu";
  return (of_cpu || says(entry, "engine", here.engine)) && says(entry, "processor", here.processor) &&
         says(entry, "kernel", here.kernel) && says(entry, "version", here.version);
}

bool same_key(const nlohmann::json& entry, const Calibration& here) {
  return same_machine(entry, here) && says(entry, "blas", here.blas);
}

/// True if the entry's rates apply here. If no native DGEMM is considered, the entry may be for any native DGEMM.
bool is_of(const nlohmann::json& entry, const Calibration& here) {
  return here.blas.empty() ? same_machine(entry, here) : same_key(entry, here);
}

/// Adds the rates of `old` for numbers of threads that `calibration` lacks.
Calibration merged(Calibration calibration, const Calibration& old) {
  const auto has = [&calibration](const Rates& rates) {
    return std::ranges::find(calibration.rates, rates.threads, &Rates::threads) != calibration.rates.end();
  };
  if (old.tile != calibration.tile) return calibration;
  std::ranges::copy_if(old.rates, std::back_inserter(calibration.rates), std::not_fn(has));
  std::ranges::sort(calibration.rates, {}, &Rates::threads);
  return calibration;
}

nlohmann::json entry_json(const Calibration& calibration) { return to_json(std::vector{calibration}).at("calibrations")[0]; }

/// Returns nothing if the entry is wrong; `note` gives the error.
std::optional<Calibration> readable(const nlohmann::json& entry, std::string& note) {
  try {
    return calibration_from(entry);
  } catch (const std::invalid_argument& wrong_entry) {
    note = wrong_entry.what();
    return std::nullopt;
  }
}

CalibratedCosts shipped_costs(const Calibration& shipped, int threads, std::string note) {
  return {shipped, threads, {"shipped", "seconds", shipped.processor, shipped.kernel, threads, std::move(note)}};
}

/// The shipped calibration of a CPU kernel, or the first shipped one; `note` mentions the latter.
const Calibration& shipped_for(const std::string& kernel, std::string& note) {
  const auto& all = shipped_calibrations();
  const auto same = [&kernel](const Calibration& shipped) { return shipped.engine == "cpu" && shipped.kernel == kernel; };
  if (const auto found = std::ranges::find_if(all, same); found != all.end()) return *found;
  note += (note.empty() ? "calibration: none" : "; none") + (" came with Ozbound for the kernel " + kernel);
  return all.front();
}

void check_threads(int threads) {
  if (threads < 1) throw std::invalid_argument("threads must be positive: " + std::to_string(threads));
}

/// The reason why an entry for this machine, measured with another BLAS or other kernels of it, is not used.
std::string measured_beside(const nlohmann::json& entry, const Calibration& here) {
  const auto blas = entry.contains("blas") && entry.at("blas").is_string() ? entry.at("blas").get<std::string>() : "";
  return "calibration: measured with " + (blas.empty() ? "an unknown BLAS" : blas) + ", and here is " + here.blas;
}

/// Costs by the calibration on file, if there is one. Otherwise, if the file exists, `note` gives the reason.
std::optional<CalibratedCosts> costs_on_file(const Calibration& here, int threads, const std::filesystem::path& path,
                                             std::string& note) {
  std::error_code error;
  if (path.empty() || (!std::filesystem::exists(path, error) && !error)) return std::nullopt;
  try {
    note = "calibration: none of this processor, kernel, version and BLAS";
    const auto file = read_calibration_file(path);
    for (const auto& entry : file.at("calibrations")) {
      if (const auto mine = is_of(entry, here) ? readable(entry, note) : std::nullopt)
        return CalibratedCosts(*mine, threads, {"calibrated", "seconds", here.processor, here.kernel, threads, ""});
      if (same_machine(entry, here) && !is_of(entry, here)) note = measured_beside(entry, here);
    }
  } catch (const std::exception& wrong_file) {
    note = wrong_file.what();
  }
  return std::nullopt;
}

}  // namespace

TermSeconds<slice_terms> slice_counts(const SplitPlan& plan, Index m, Index n, Index k, KernelTile tile) {
  const FloatEnvironment environment;
  const double entries = real(m) * real(n);
  const double padded = rounded_up(m, tile.rows) * rounded_up(n, tile.columns);
  const double a = real(m) * real(k);
  const double b = real(k) * real(n);
  return {1,
          a + b,
          plan.a.slices * a + plan.b.slices * b,
          padded * real(k) * plan.products(),
          padded * int32_sums(plan, k),
          entries,
          entries * real(k)};
}

TermSeconds<residue_terms> residue_counts(const ResiduePlan& plan, Index m, Index n, Index k, KernelTile tile) {
  const FloatEnvironment environment;
  const double entries = real(m) * real(n), elements = real(m) * real(k) + real(k) * real(n);
  const double padded = rounded_up(m, tile.rows) * rounded_up(n, tile.columns);
  return {1,       elements,         plan.moduli * elements, padded * real(k) * plan.moduli, padded * plan.moduli,
          entries, entries * real(k)};
}

TermSeconds<native_terms> native_counts(Index m, Index n, Index k) {
  const FloatEnvironment environment;
  return {1, real(m) * real(k), real(k) * real(n), real(m) * real(n), real(m) * real(n) * real(k)};
}

TermSeconds<exact_terms> exact_counts(Index m, Index n, Index k) {
  const FloatEnvironment environment;
  return {1, (real(m) + real(n)) * real(k), real(m) * real(n), real(m) * real(n) * real(k)};
}

Rates Calibration::with_threads(int threads) const {
  const FloatEnvironment environment;
  const auto above = std::ranges::lower_bound(rates, threads, {}, &Rates::threads);
  if (above == rates.end()) return rates.back();
  if (above == rates.begin() || above->threads == threads) return *above;
  const auto& below = *(above - 1);
  const auto inverse = [](int t) { return 1 / static_cast<double>(t); };
  const double share = (inverse(below.threads) - inverse(threads)) / (inverse(below.threads) - inverse(above->threads));
  Rates result{threads, between(below.slices, above->slices, share), between(below.exact, above->exact, share), {}};
  if (below.native && above->native) result.native = between(*below.native, *above->native, share);
  if (below.residues && above->residues) result.residues = between(*below.residues, *above->residues, share);
  return result;
}

CalibratedCosts::CalibratedCosts(const Calibration& calibration, int threads, CostOrigin origin)
    : origin_(std::move(origin)), calibration_(calibration) {
  check_threads(threads);
  if (calibration.rates.empty()) throw std::invalid_argument("calibration must have rates");
  calibration_.rates = {calibration.with_threads(threads)};
}

double CalibratedCosts::planned(const Plan& plan, Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return plan.visit(
      [&](const SplitPlan& slices) { return seconds(rates().slices, slice_counts(slices, m, n, k, calibration_.tile)); },
      [&](const ResiduePlan& residues) {
        return rates().residues ? seconds(*rates().residues, residue_counts(residues, m, n, k, calibration_.tile))
                                : std::numeric_limits<double>::infinity();
      });
}

double CalibratedCosts::native(Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  if (!rates().native) return std::numeric_limits<double>::infinity();
  return seconds(*rates().native, native_counts(m, n, k));
}

double CalibratedCosts::exact(Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return seconds(rates().exact, exact_counts(m, n, k));
}

nlohmann::json to_json(const std::vector<Calibration>& calibrations) {
  const FloatEnvironment environment;
  auto entries = nlohmann::json::array();
  for (const auto& calibration : calibrations) {
    auto rates = nlohmann::json::array();
    for (const auto& some : calibration.rates) rates.push_back(rates_json(some));
    entries.push_back({{"engine", calibration.engine},
                       {"processor", calibration.processor},
                       {"kernel", calibration.kernel},
                       {"version", calibration.version},
                       {"blas", calibration.blas},
                       {"tile", {calibration.tile.rows, calibration.tile.columns}},
                       {"rates", rates}});
  }
  return {{"schema", schema}, {"calibrations", entries}};
}

std::vector<Calibration> calibrations_from_json(const nlohmann::json& json) {
  const FloatEnvironment environment;
  check_schema(json);
  std::vector<Calibration> calibrations;
  for (const auto& entry : list_member(json, "calibrations")) calibrations.push_back(calibration_from(entry));
  return calibrations;
}

nlohmann::json read_calibration_file(const std::filesystem::path& path) {
  const FloatEnvironment environment;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw wrong("there is no such file");
  if (const auto size = std::filesystem::file_size(path, error); error || size > largest_file)
    throw wrong("the file is too large");
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw wrong("the file cannot be read");
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw wrong("the file is no JSON");
  check_schema(json);
  list_member(json, "calibrations");
  return json;
}

nlohmann::json with_calibration(nlohmann::json file, const Calibration& calibration) {
  const FloatEnvironment environment;
  auto entries = nlohmann::json::array();
  auto whole = calibration;
  std::string unread;
  for (auto& entry : file.at("calibrations"))
    if (!same_key(entry, calibration))
      entries.push_back(std::move(entry));
    else if (const auto old = readable(entry, unread))
      whole = merged(whole, *old);
  entries.push_back(entry_json(whole));
  file["schema"] = schema;
  file["calibrations"] = std::move(entries);
  return file;
}

const std::vector<Calibration>& shipped_calibrations() {
  const FloatEnvironment environment;
  // Never destroyed, like `processor` below: programs may multiply during their exit.
  static const auto& shipped = *new auto([] {
    auto all = calibrations_from_json(nlohmann::json::parse(shipped_calibration_json));
    const auto devices = calibrations_from_json(nlohmann::json::parse(shipped_device_calibration_json));
    all.insert(all.end(), devices.begin(), devices.end());
    return all;
  }());
  return shipped;
}

std::filesystem::path calibration_path() {
  const auto folder = [](const char* variable) -> std::filesystem::path {
    const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
    return value == nullptr || value[0] != '/' ? "" : value;
  };
  if (const auto cache = folder("XDG_CACHE_HOME"); !cache.empty()) return cache / "ozbound/calibration.json";
  if (const auto home = folder("HOME"); !home.empty()) return home / ".cache/ozbound/calibration.json";
  return {};
}

std::string processor_name() {
  std::ifstream facts("/proc/cpuinfo");
  std::string name, family, model;
  for (std::string line; std::getline(facts, line) && !line.empty();) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("model name")) name = line.substr(colon + 2);
    if (line.starts_with("cpu family") || line.starts_with("CPU implementer")) family = line.substr(colon + 2);
    if (line.starts_with("model\t") || line.starts_with("CPU part")) model = line.substr(colon + 2);
  }
  if (name.empty()) name = "unknown";
  return family.empty() ? name : name + " (" + family + ", " + model + ")";
}

Calibration this_machine(const CpuEngine& engine, const NativeGemm* native) {
  static const auto& processor = *new std::string(processor_name());
  const auto& kernel = engine.kernel();
  return {processor, std::string(kernel.name),    OZBOUND_VERSION, {kernel.rows(), kernel.columns()}, {},
          "cpu",     native ? native->name() : ""};
}

CalibratedCosts machine_costs(const CpuEngine& engine, const NativeGemm* native) {
  return machine_costs(engine, native, calibration_path());
}

CalibratedCosts machine_costs(const CpuEngine& engine, const NativeGemm* native, const std::filesystem::path& path) {
  const FloatEnvironment environment;
  const auto here = this_machine(engine, native);
  std::string note;
  if (auto costs = costs_on_file(here, engine.threads(), path, note)) return *std::move(costs);
  const auto& shipped = shipped_for(here.kernel, note);
  return shipped_costs(shipped, engine.threads(), std::move(note));
}

std::optional<CalibratedCosts> known_costs(const Calibration& here, int threads) {
  return known_costs(here, threads, calibration_path());
}

std::optional<CalibratedCosts> known_costs(const Calibration& here, int threads, const std::filesystem::path& path) {
  const FloatEnvironment environment;
  check_threads(threads);
  std::string note;
  if (auto costs = costs_on_file(here, threads, path, note)) return costs;
  for (const auto& shipped : shipped_calibrations())
    if (shipped.engine == here.engine && shipped.processor == here.processor && shipped.kernel == here.kernel)
      return shipped_costs(shipped, threads, std::move(note));
  return std::nullopt;
}

}  // namespace ozbound
