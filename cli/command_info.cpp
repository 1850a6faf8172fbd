// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "cuda.hpp"
#include "literature.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/bounds/published/selector.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/residues.hpp"
#include "ozbound/core/scheme.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_info {
namespace {

/// A registry as names and sources: [{"name": ..., "source": ...}].
nlohmann::ordered_json listed(const auto& registry) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& entry : registry) list.push_back({{"name", entry.name}, {"source", entry.source}});
  return list;
}

/// The bounds, each with the quantity that it bounds, and whether it is a bound.
nlohmann::ordered_json listed_bounds() {
  auto list = listed(all_bounds());
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i]["bounds"] = to_string(all_bounds()[i].bounded);
    list[i]["rigorous"] = all_bounds()[i].rigorous;
  }
  return list;
}

std::string statement(Encoding::Kind kind) {
  switch (kind) {
    case Encoding::Kind::truncated: return "N bits of the magnitude, with the sign of the number";
    case Encoding::Kind::ozimmu: return "the same with one bit less in the first digit";
    case Encoding::Kind::nearest: return "the rest rounded to nearest even, digit after digit";
    case Encoding::Kind::balanced: return "radix 2^8 with carries, digits from -128 to 127";
    case Encoding::Kind::unsigned8: return "radix 2^8 rounded down, digits from 0 to 255 behind the first";
    case Encoding::Kind::nearest_adaptive: return "as nearest, with a scale found anew for every slice";
  }
  return {};
}

/// The encodings of slices. N stands for a number of bits.
nlohmann::ordered_json listed_encodings() {
  std::vector<Encoding::Kind> listed;
  auto list = nlohmann::ordered_json::array();
  for (const auto& encoding : all_encodings()) {
    if (std::find(listed.begin(), listed.end(), encoding.kind) != listed.end()) continue;
    listed.push_back(encoding.kind);
    auto name = to_string(encoding);
    const bool of_bits = encoding.beta < 8;  // the first encoding of each kind has one bit, the others 8
    if (of_bits) name.back() = 'N';
    list.push_back({{"name", name}, {"statement", statement(encoding.kind) + (of_bits ? "; N = 1 to 7" : "")}});
  }
  return list;
}

std::vector<std::string> names_of_kernels() {
  std::vector<std::string> names;
  for (const auto* kernel : kernels()) names.emplace_back(kernel->name);
  return names;
}

nlohmann::ordered_json facts() {
  return {{"version", OZBOUND_VERSION},
          {"compiler", OZBOUND_COMPILER},
          {"processor", processor_name()},
          {"kernels", names_of_kernels()},
          {"threads", CpuEngine().threads()},
          {"processors", std::thread::hardware_concurrency()},
          {"memory_bytes", files::physical_memory()},
          {"devices", cuda_devices()},
          {"encodings", listed_encodings()},
          {"moduli", residue_moduli},
          {"schemes", listed(all_schemes())},
          {"bounds", listed_bounds()},
          {"selectors", listed(all_selectors())},
          {"models", listed(listed_models())}};
}

/// Appends a registry as lines of a table, `title NAME: SOURCE`, with the title only on the first line.
void append_listed(Table& table, std::string title, const nlohmann::ordered_json& list, const char* said = "source") {
  for (const auto& entry : list) {
    table.emplace_back(title, fmt::format("{}: {}", entry["name"].get<std::string>(), entry[said].get<std::string>()));
    title.clear();
  }
}

/// Appends a line for every device, or the reason why there is none.
void append_devices(Table& table, const nlohmann::ordered_json& devices) {
  if (devices.empty()) table.emplace_back("CUDA device", "none: " + cuda_obstacle());
  for (const auto& device : devices)
    table.emplace_back("CUDA device", fmt::format("{}, compute capability {}, {}", device["name"].get<std::string>(),
                                                  device["compute_capability"].get<std::string>(),
                                                  files::format_bytes(device["memory_bytes"].get<std::uint64_t>())));
}

void print_for_people(const nlohmann::ordered_json& facts) {
  Table table{{"version", facts["version"]},
              {"compiler", facts["compiler"]},
              {"processor", facts["processor"]},
              {"kernels", fmt::format("{}", fmt::join(facts["kernels"].get<std::vector<std::string>>(), " "))},
              {"threads", fmt::format("{} used, of {} processors", facts["threads"].dump(), facts["processors"].dump())},
              {"memory", files::format_bytes(facts["memory_bytes"].get<std::uint64_t>())}};
  append_devices(table, facts["devices"]);
  append_listed(table, "encodings", facts["encodings"], "statement");
  table.emplace_back("moduli", fmt::format("{}", fmt::join(residue_moduli, " ")));
  append_listed(table, "schemes", facts["schemes"]);
  append_listed(table, "bounds", facts["bounds"]);
  append_listed(table, "selectors", facts["selectors"]);
  append_listed(table, "models", facts["models"]);
  print_table(table);
}

}  // namespace
}  // namespace command_info

void add_info(CLI::App& app, Action& action) {
  using namespace command_info;
  auto* command = app.add_subcommand("info", "Show this build and this machine");
  auto json = std::make_shared<bool>(false);
  add_output_options(*command, *json, "a table");
  command->callback([&action, json] {
    action = [json](const std::string&) {
      *json ? print_json(facts()) : print_for_people(facts());
      return ExitCode::success;
    };
  });
}

}  // namespace ozbound::cli
