// SPDX-License-Identifier: BSD-3-Clause
#include "audit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "ozbound/files/input_file.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "ozbound-drop-in-1";
constexpr std::size_t most_kinds = 12;  ///< in the output for people

bool was_examined(const std::string& way) { return way != "not examined" && way != "overlap"; }

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// The name of a library or program in a table: without its folder and without the part from the first full stop on.
std::string short_name(const std::string& path) {
  const auto name = file_name(path);
  return name.substr(0, name.find('.', 1));
}

std::string seconds(double x) { return fmt::format("{:.3f}", x); }

std::string percent(double part, double whole) { return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-"; }

/// A ratio of a log, in which infinity is the text `inf`.
std::optional<double> ratio_of(const nlohmann::json& member) {
  if (member.is_null()) return {};
  if (member == "inf") return std::numeric_limits<double>::infinity();
  return member.get<double>();
}

Json ratio_json(const std::optional<double>& ratio) { return ratio ? json_number(*ratio) : Json(nullptr); }

}  // namespace

std::string AuditReport::Kind::sizes() const { return fmt::format("2^{} 2^{} 2^{}", log2_m, log2_n, log2_k); }

void AuditReport::Count::add(const Count& other) {
  calls += other.calls;
  work += other.work;
  native_seconds += other.native_seconds, own_seconds += other.own_seconds, other_seconds += other.other_seconds;
  if (other.worst) worst = std::max(worst.value_or(0), *other.worst);
}

double AuditReport::Total::predicted_seconds() const {
  return examined.native_seconds > 0 ? all.native_seconds * (examined.other_seconds / examined.native_seconds)
                                     : all.native_seconds;
}

void AuditReport::add(const std::filesystem::path& path) {
  const files::InputFile file(path);
  files::LineReader lines(file);
  std::optional<std::uint64_t> cut_short;
  while (lines.next()) {
    if (cut_short) lines.fail_at(*cut_short, "is not JSON");
    if (lines.line().empty()) continue;
    const auto record = nlohmann::json::parse(lines.line(), nullptr, false);
    if (record.is_discarded()) {
      cut_short = lines.number();
      continue;
    }
    try {
      add_record(record);
    } catch (const nlohmann::json::exception&) {
      lines.fail(fmt::format("a member of a record of {} is missing or of another type", schema));
    } catch (const std::invalid_argument& error) {
      lines.fail(error.what());
    }
  }
}

AuditReport::Process& AuditReport::process_of(const nlohmann::json& record) {
  const auto known = current_.find(record.at("process").get<long>());
  if (known == current_.end()) throw std::invalid_argument("no record `process` comes before this one");
  return processes_[known->second];
}

void AuditReport::add_record(const nlohmann::json& record) {
  const auto kind = record.at("record").get<std::string>();
  if (kind == "process") {
    if (record.at("schema") != schema) throw std::invalid_argument(fmt::format("schema must be {}", schema));
    current_[record.at("process").get<long>()] = processes_.size();
    processes_.emplace_back();
    for (const auto* member : {"process", "program", "mode", "target", "min_work", "share", "version"})
      processes_.back().facts[member] = record.at(member);
    return;
  }
  auto& process = process_of(record);
  if (kind == "count") {
    const auto size = [&](const char* member) {
      const int log2 = record.at(member).get<int>();
      if (log2 < 0 || log2 > 62) throw std::invalid_argument(fmt::format("{} must be 0 to 62", member));
      return log2;
    };
    const Kind of{record.at("routine"), record.at("object"), record.at("ops"), size("log2_m"), size("log2_n"), size("log2_k")};
    auto& count = process.counts[{of, record.at("way").get<std::string>()}];
    count = {record.at("calls"),       record.at("work"),          record.at("native_seconds"),
             record.at("own_seconds"), record.at("other_seconds"), {}};
    count.worst = ratio_of(record.at("worst"));
  } else if (kind == "calls") {
    process.calls = record.at("calls"), process.small = record.at("small"), process.empty = record.at("empty");
    process.bad_arguments = record.at("bad_arguments");
    process.unknown_width = record.value("unknown_width", 0L), process.other_mode = record.value("other_mode", 0L);
  } else if (kind == "library") {
    auto& name = libraries_[record.at("file").get<std::string>()];
    if (!record.at("name").is_null()) name = record.at("name").get<std::string>();
  } else if (kind == "end") {
    process.ended = true;
  } else if (kind == "call") {
    const auto ratio = ratio_of(record.at("native_ratio"));
    if (ratio && (!worst_ || *ratio > *ratio_of(worst_->at("native_ratio")))) worst_ = record;
  } else {
    throw std::invalid_argument(fmt::format("{} is no record of {}", files::quote(kind), schema));
  }
}

std::map<AuditReport::Kind, AuditReport::Total> AuditReport::kinds() const {
  std::map<Kind, Total> result;
  for (const auto& process : processes_)
    for (const auto& [of, count] : process.counts) {
      auto& total = result[of.first];
      total.all.add(count);
      if (was_examined(of.second)) total.examined.add(count);
    }
  return result;
}

std::map<std::string, AuditReport::Count> AuditReport::ways() const {
  std::map<std::string, Count> result;
  for (const auto& process : processes_)
    for (const auto& [of, count] : process.counts) result[of.second].add(count);
  return result;
}

std::vector<std::pair<AuditReport::Kind, AuditReport::Total>> AuditReport::by_time() const {
  const auto all = kinds();
  std::vector<std::pair<Kind, Total>> sorted(all.begin(), all.end());
  std::ranges::stable_sort(
      sorted, [](const auto& x, const auto& y) { return x.second.all.native_seconds > y.second.all.native_seconds; });
  return sorted;
}

void AuditReport::print_for_people() const {
  long calls = 0, small = 0, empty = 0, bad_arguments = 0, unknown_width = 0, other_mode = 0, killed = 0;
  std::set<std::string> programs, targets;
  for (const auto& process : processes_) {
    calls += process.calls, small += process.small, empty += process.empty, bad_arguments += process.bad_arguments;
    unknown_width += process.unknown_width, other_mode += process.other_mode;
    killed += process.ended ? 0 : 1;
    programs.insert(file_name(process.facts.at("program")));
    targets.insert(process.facts.at("target"));
  }
  Count all, examined;
  double predicted = 0;
  const auto sorted = by_time();
  for (const auto& [kind, total] : sorted) {
    all.add(total.all), examined.add(total.examined);
    predicted += total.predicted_seconds();
  }
  const auto by_way = ways();
  const auto calls_of = [&by_way](const char* way) { return by_way.contains(way) ? by_way.at(way).calls : 0; };
  Table table{
      {"processes", fmt::format("{} of {}{}", processes_.size(), fmt::join(programs, ", "),
                                killed > 0 ? fmt::format("; {} did not end, so their last counts are missing", killed) : "")},
      {"target", fmt::format("{}", fmt::join(targets, ", "))},
      {"products", fmt::format("{}", calls)},
      {"examined", fmt::format("{}", examined.calls)},
      {"not examined", fmt::format("{} small, {} empty, {} beyond the share of time, {} overlapping, {} refused by the library",
                                   small, empty, calls_of("not examined"), calls_of("overlap"), bad_arguments)},
      {"time", fmt::format("{} s in products that are not small, {} s of examining", seconds(all.native_seconds),
                           seconds(all.own_seconds))}};
  for (const auto& [file, name] : libraries_)
    table.emplace_back("native",
                       name ? fmt::format("{}, {}", *name, file) : fmt::format("unproven: {} is not recognised", file));
  if (unknown_width > 0)
    table.emplace_back("no verdict", fmt::format("{} calls: the library's integers may have 32 or 64 bits", unknown_width));
  if (other_mode > 0)
    table.emplace_back("native",
                       fmt::format("unproven for {} calls in another floating-point mode than the default", other_mode));
  if (worst_)
    table.emplace_back("worst sampled error",
                       fmt::format("{} of what the target allows: {} of {}, {} x {} x {}",
                                   files::format_upper(*ratio_of(worst_->at("native_ratio"))),
                                   worst_->at("routine").get<std::string>(), file_name(worst_->at("object")),
                                   worst_->at("m").get<long>(), worst_->at("n").get<long>(), worst_->at("k").get<long>()));
  print_table(table);
  print_text("\n");
  std::vector<files::Cells> callers{{"caller", "routine", "m n k up to", "calls", "seconds", "share", "GFLOP/s", "worst"}};
  for (const auto& [kind, total] : sorted) {
    if (callers.size() > most_kinds) break;
    callers.push_back(
        {short_name(kind.object), kind.routine + " " + kind.ops, kind.sizes(), std::to_string(total.all.calls),
         seconds(total.all.native_seconds), percent(total.all.native_seconds, all.native_seconds),
         total.all.native_seconds > 0 ? fmt::format("{:.1f}", 2e-9 * total.all.work / total.all.native_seconds) : "-",
         total.examined.worst ? fmt::format("{:.1e}", *total.examined.worst) : "-"});
  }
  print_columns(callers);
  if (sorted.size() > most_kinds) print_text(fmt::format("and {} kinds of calls more\n", sorted.size() - most_kinds));
  print_text("\n");
  std::vector<files::Cells> ways_table{{"at the target", "calls", "native seconds", "predicted seconds"}};
  for (const auto& [way, count] : by_way)
    if (was_examined(way))
      ways_table.push_back({way, std::to_string(count.calls), seconds(count.native_seconds), seconds(count.other_seconds)});
  print_columns(ways_table);
  print_text("\n");
  print_paragraph(
      predicted < all.native_seconds
          ? fmt::format("On this CPU, products that go the way that is predicted to be faster would take {} s for {} s.",
                        seconds(predicted), seconds(all.native_seconds))
          : "On this CPU no product is predicted to be faster another way.");
  print_paragraph("Products that a library makes inside itself, as OpenBLAS's LAPACK does, are not seen.");
}

Json AuditReport::json() const {
  Json processes = Json::array(), listed = Json::array(), by_way = Json::array();
  for (const auto& process : processes_) {
    auto facts = process.facts;
    facts["calls"] = process.calls, facts["small"] = process.small, facts["empty"] = process.empty;
    facts["bad_arguments"] = process.bad_arguments, facts["unknown_width"] = process.unknown_width;
    facts["other_mode"] = process.other_mode, facts["ended"] = process.ended;
    processes.push_back(std::move(facts));
  }
  Json libraries = Json::array();
  for (const auto& [file, name] : libraries_)
    libraries.push_back({{"file", file}, {"name", name ? Json(*name) : Json(nullptr)}});
  double native = 0, predicted = 0;
  for (const auto& [kind, total] : by_time()) {
    native += total.all.native_seconds, predicted += total.predicted_seconds();
    listed.push_back({{"object", kind.object},
                      {"routine", kind.routine},
                      {"ops", kind.ops},
                      {"log2_m", kind.log2_m},
                      {"log2_n", kind.log2_n},
                      {"log2_k", kind.log2_k},
                      {"calls", total.all.calls},
                      {"examined", total.examined.calls},
                      {"work", total.all.work},
                      {"native_seconds", total.all.native_seconds},
                      {"predicted_seconds", total.predicted_seconds()},
                      {"worst", ratio_json(total.examined.worst)}});
  }
  for (const auto& [way, count] : ways())
    by_way.push_back({{"way", way},
                      {"calls", count.calls},
                      {"native_seconds", count.native_seconds},
                      {"other_seconds", count.other_seconds},
                      {"own_seconds", count.own_seconds},
                      {"worst", ratio_json(count.worst)}});
  return {{"schema", "ozbound-audit-1"},       {"processes", std::move(processes)},
          {"libraries", std::move(libraries)}, {"kinds", std::move(listed)},
          {"ways", std::move(by_way)},         {"worst_call", worst_ ? Json(*worst_) : Json(nullptr)},
          {"native_seconds", native},          {"predicted_seconds", predicted}};
}

}  // namespace ozbound::cli
