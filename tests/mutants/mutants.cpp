// SPDX-License-Identifier: BSD-3-Clause
// The registry of seeded faults: checks it, makes a mutated copy of the sources, finds their compile commands, and writes the
// table of docs/mutants.md.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutant.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t least_count = 30;

/// One fault: `original`, which occurs once in `file`, becomes `mutated`. A text that ends with a semicolon is a statement, any
/// other text an expression.
struct Mutant {
  std::string name, file, what, original, mutated;
};

[[noreturn]] void fail(const std::string& message) { throw std::invalid_argument(message); }

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Mutant mutant_from(const nlohmann::json& entry, const std::string& where) {
  const auto member = [&](const char* name) {
    if (!entry.is_object() || !entry.contains(name) || !entry.at(name).is_string() || entry.at(name).get<std::string>().empty())
      fail(where + ": '" + name + "' must be a text");
    return entry.at(name).get<std::string>();
  };
  Mutant mutant{member("name"), member("file"), member("what"), member("original"), member("mutated")};
  if (entry.size() != 5) fail(where + ": has a member that is not known");
  return mutant;
}

std::vector<Mutant> read_registry(const fs::path& path) {
  const auto json = nlohmann::json::parse(read(path), nullptr, false);
  if (!json.is_array()) fail(path.string() + " is not a JSON array");
  std::vector<Mutant> mutants;
  for (const auto& entry : json) mutants.push_back(mutant_from(entry, "mutant " + std::to_string(mutants.size() + 1)));
  return mutants;
}

void check_text(const Mutant& mutant) {
  const bool named = mutant.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!named) fail(mutant.name + ": a name has lower-case letters, digits and hyphens");
  for (const auto& text : {mutant.what, mutant.original, mutant.mutated})
    if (text.find('\n') != std::string::npos) fail(mutant.name + ": its texts must have one line each");
  if (mutant.what.find('|') != std::string::npos) fail(mutant.name + ": 'what' stands in a table and has no |");
  if (mutant.original == mutant.mutated) fail(mutant.name + ": changes nothing");
  if (mutant.original.ends_with(';') != mutant.mutated.ends_with(';'))
    fail(mutant.name + ": a statement stands for a statement");
}

void check_names(const std::vector<Mutant>& mutants) {
  std::set<std::string> names;
  std::set<std::uint64_t> numbers;
  for (const auto& mutant : mutants) {
    check_text(mutant);
    if (!names.insert(mutant.name).second) fail(mutant.name + ": the name is given twice");
    if (!numbers.insert(ozbound_mutants::number_of(mutant.name.c_str())).second)
      fail(mutant.name + ": take another name, its number is taken");
  }
}

/// The position of `original` in the text of its file, where it must occur exactly once.
std::size_t place_of(const Mutant& mutant, const std::string& text) {
  const auto place = text.find(mutant.original);
  if (place == std::string::npos) fail(mutant.name + ": the original is not in " + mutant.file);
  if (text.find(mutant.original, place + 1) != std::string::npos)
    fail(mutant.name + ": the original is more than once in " + mutant.file);
  return place;
}

/// The text that replaces an original that one or more mutants change.
std::string hook(const std::vector<Mutant>& mutants) {
  const auto& original = mutants.front().original;
  const bool statement = original.ends_with(';');
  std::string text = statement ? "{ " : "(";
  for (const auto& mutant : mutants)
    text += statement ? "if (OZB_MUTANT(\"" + mutant.name + "\")) { " + mutant.mutated + " } else "
                      : "OZB_MUTANT(\"" + mutant.name + "\") ? (" + mutant.mutated + ") : ";
  return text + (statement ? "{ " + original + " } }" : "(" + original + "))");
}

/// A file with all its mutants. Every hook stays on its line, so line numbers of compiler messages fit the original.
std::string mutated_text(const std::vector<Mutant>& mutants, const std::string& text) {
  std::map<std::size_t, std::vector<Mutant>> places;
  for (const auto& mutant : mutants) {
    auto& at_place = places[place_of(mutant, text)];
    if (!at_place.empty() && at_place.front().original != mutant.original)
      fail(mutant.name + ": overlaps " + at_place.front().name);
    at_place.push_back(mutant);
  }
  std::string result;
  std::size_t done = 0;
  for (const auto& [place, at_place] : places) {
    if (place < done) fail(at_place.front().name + ": overlaps another mutant");
    result += text.substr(done, place - done) + hook(at_place);
    done = place + at_place.front().original.size();
  }
  return result + text.substr(done);
}

std::map<std::string, std::string> mutated_files(const std::vector<Mutant>& mutants, const fs::path& source) {
  std::map<std::string, std::vector<Mutant>> by_file;
  for (const auto& mutant : mutants) by_file[mutant.file].push_back(mutant);
  std::map<std::string, std::string> texts;
  for (const auto& [file, of_file] : by_file) texts[file] = mutated_text(of_file, read(source / file));
  return texts;
}

/// Writes a file only if its text changes, so its time stamp stays and no rebuild follows.
void write_if_different(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read(path) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  if (!(out << text).flush()) fail("cannot write " + path.string());
}

bool is_left_out(const fs::path& name) { return name == "build" || name.string().starts_with('.'); }

/// Copies the tree except build/ and hidden files, and removes from the copy files that the tree no longer has.
void write_tree(const std::vector<Mutant>& mutants, const fs::path& source, const fs::path& destination) {
  const auto mutated = mutated_files(mutants, source);
  std::set<fs::path> kept;
  for (fs::recursive_directory_iterator it(source), end; it != end; ++it) {
    const auto path = fs::relative(it->path(), source);
    if (is_left_out(path.filename())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file()) {
      const auto found = mutated.find(path.generic_string());
      write_if_different(destination / path, found == mutated.end() ? read(it->path()) : found->second);
      fs::permissions(destination / path, it->status().permissions());
      kept.insert(path);
    }
  }
  std::vector<fs::path> stale;
  for (const auto& entry : fs::recursive_directory_iterator(destination))
    if (entry.is_regular_file() && !kept.contains(fs::relative(entry.path(), destination))) stale.push_back(entry.path());
  for (const auto& path : stale) fs::remove(path);
}

constexpr const char* table_head =
    R"(# Mutants: the tests are tested

`./dev mutants` seeds one fault after the other into a build of its own and runs the tests until one fails. Every mutant must
die: one that survives means a test that is missing. The faults are in `tests/mutants/registry.json` alone, never in the
sources: the build is made from a copy of them in which each place that a fault changes asks, while the program runs, which
mutant lives. All of it takes about a quarter of an hour on 2 cores, half of them for the build, which later runs keep.

To add a fault, add an entry there: the file, the text that it changes (an expression, or a statement with its semicolon, once
in the file and on one line), what becomes of it, and the fault in words. Then `./dev mutants --write NAME` adds the test that
kills it to this table, which is generated. The test suite checks that every entry matches its source and compiles (a template
that nothing instantiates is only parsed), and that this table lists the registry; `./dev test --long` runs all of it. A mutant
under which the tests crash or hang is dead too; the table says which did.

| mutant | file | fault | killed by |
|---|---|---|---|
)";

std::string row_start(const Mutant& mutant) {
  return "| `" + mutant.name + "` | `" + mutant.file + "` | " + mutant.what + " | ";
}

/// The table's entry for a mutant's end: `core: Suite.Test` or `core: Suite.Test (crashes)`; empty if the table lacks the
/// mutant.
std::string recorded_killer(const std::vector<std::string>& table, const Mutant& mutant) {
  const auto begin = "| `" + mutant.name + "` |";
  for (const auto& line : table) {
    if (!line.starts_with(begin) || !line.ends_with("` |")) continue;
    const auto open = line.rfind("| `");
    return line.substr(open + 3, line.size() - open - 6);
  }
  return {};
}

std::vector<std::string> table_lines(const fs::path& path) {
  return fs::exists(path) ? lines_of(read(path)) : std::vector<std::string>{};
}

/// True if a source of the tests has TEST(Suite, Test) or a similar macro for a killer `folder: Suite.Test`, perhaps followed
/// by ` (hangs)`. Suites with parameters are called Instance/Suite, those with types Suite/0.
bool is_test(const std::string& killer, const std::string& all_tests) {
  const auto colon = killer.find(": ");
  if (colon == std::string::npos) return false;
  const auto name = killer.substr(colon + 2, killer.find(' ', colon + 2) - colon - 2);
  const auto dot = name.find('.');
  if (dot == std::string::npos) return false;
  const auto test = name.substr(dot + 1, name.find('/', dot) - dot - 1);
  std::istringstream suite(name.substr(0, dot));
  for (std::string part; std::getline(suite, part, '/');)
    for (const auto* end : {")", ","})
      if (all_tests.find("(" + part + ", " + test + end) != std::string::npos) return true;
  return false;
}

std::string all_tests(const fs::path& source) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(source / "tests"))
    if (entry.path().extension() == ".cpp") text += read(entry.path());
  return text;
}

void check_table(const std::vector<Mutant>& mutants, const std::string& table, const fs::path& source) {
  const auto lines = lines_of(table);
  if (!table.starts_with(table_head)) fail("docs/mutants.md: was not written by ./dev mutants --write");
  const auto head = lines_of(table_head).size();
  if (lines.size() != head + mutants.size()) fail("docs/mutants.md: has another number of mutants than the registry");
  const auto tests = all_tests(source);
  for (std::size_t t = 0; t < mutants.size(); ++t) {
    if (!lines[head + t].starts_with(row_start(mutants[t])))
      fail("docs/mutants.md: has no row for " + mutants[t].name + " as the registry has it");
    if (!is_test(recorded_killer(lines, mutants[t]), tests))
      fail("docs/mutants.md: the test that killed " + mutants[t].name + " is gone");
  }
}

void check(const std::vector<Mutant>& mutants, const fs::path& source, const fs::path& table) {
  check_names(mutants);
  mutated_files(mutants, source);
  if (mutants.size() < least_count) fail("the registry must have at least " + std::to_string(least_count) + " mutants");
  check_table(mutants, read(table), source);
  std::cout << mutants.size() << " mutants match their sources\n";
}

/// The folder of a file's tests: grade for verify/grade/src/..., verify for verify/src/....
std::string folder_of(const std::string& file) {
  const auto room = file.substr(0, std::min(file.find("/src/"), file.find("/include/")));
  if (room == file) return file.substr(0, file.find('/'));
  return room.substr(room.rfind('/') + 1);
}

/// Prints name, folder of the file, and the recorded killer, for tests/mutants/run.
void list(const std::vector<Mutant>& mutants, const fs::path& table) {
  const auto lines = table_lines(table);
  for (const auto& mutant : mutants)
    std::cout << mutant.name << '\t' << folder_of(mutant.file) << '\t' << recorded_killer(lines, mutant) << '\n';
}

/// Writes the table from a run's lines NAME<TAB>KILLER, and from the old table for mutants that were not run.
void write_table(const std::vector<Mutant>& mutants, const fs::path& table, const fs::path& killers) {
  std::map<std::string, std::string> found;
  for (const auto& line : lines_of(read(killers))) found[line.substr(0, line.find('\t'))] = line.substr(line.find('\t') + 1);
  const auto old = table_lines(table);
  std::string text = table_head;
  for (const auto& mutant : mutants) {
    const auto killer = found.contains(mutant.name) ? found[mutant.name] : recorded_killer(old, mutant);
    if (killer.empty()) fail(mutant.name + ": no test is known to kill it; run ./dev mutants --write " + mutant.name);
    text += row_start(mutant) + "`" + killer + "` |\n";
  }
  write_if_different(table, text);
}

/// An entry of compile_commands.json.
struct Unit {
  std::string file, directory, command;
};

std::vector<Unit> read_units(const fs::path& path) {
  std::vector<Unit> units;
  for (const auto& entry : nlohmann::json::parse(read(path)))
    units.push_back({entry.at("file"), entry.at("directory"), entry.at("command")});
  return units;
}

/// The number of leading folders that two paths share.
std::ptrdiff_t folders_shared(const fs::path& x, const fs::path& y) {
  return std::distance(x.begin(), std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first);
}

/// The unit of a source. For a header, the nearest unit, whose include roots and macros are assumed to suffice.
const Unit& unit_of(const std::string& file, const fs::path& source, const std::vector<Unit>& units) {
  const auto path = source / file;
  const bool header = path.extension() == ".hpp";
  const Unit* nearest = nullptr;
  for (const auto& unit : units) {
    if (unit.file == path) return unit;
    if (header && (nearest == nullptr || folders_shared(path, unit.file) > folders_shared(path, nearest->file)))
      nearest = &unit;
  }
  if (nearest == nullptr) fail(file + ": has mutants, and no unit compiles it");
  return *nearest;
}

/// A command's flags with `copy` in place of `source`, except for paths in `build`.
std::string flags_for(const std::string& copy, std::string flags, const std::string& source, const std::string& build) {
  flags.resize(flags.find(" -o "));
  for (std::size_t at = 0; (at = flags.find(source, at)) != std::string::npos;) {
    const bool built = flags.compare(at, build.size(), build) == 0;
    if (!built) flags.replace(at, source.size(), copy);
    at += built ? build.size() : copy.size();
  }
  return flags;
}

/// FILE<TAB>COMMAND for every mutated file, sources first. COMMAND checks the syntax of the file appended to it.
void units(const std::vector<Mutant>& mutants, const fs::path& source, const fs::path& copy, const fs::path& build) {
  const auto all = read_units(build / "compile_commands.json");
  std::set<std::pair<bool, std::string>> files;
  for (const auto& mutant : mutants) files.emplace(fs::path(mutant.file).extension() == ".hpp", mutant.file);
  for (const auto& [header, file] : files) {
    const auto& unit = unit_of(file, source, all);
    std::cout << file << "\tcd " << unit.directory << " && "
              << flags_for(copy.string(), unit.command, source.string(), build.string()) << " -fsyntax-only\n";
  }
}

int run(const std::vector<std::string>& args) {
  const auto command = args.empty() ? std::string() : args[0];
  const auto takes = [&](const char* name, std::size_t count) { return command == name && args.size() == count + 1; };
  if (takes("check", 3)) return check(read_registry(args[2]), args[1], args[3]), 0;
  if (takes("copy", 3)) return write_tree(read_registry(args[2]), args[1], args[3]), 0;
  if (takes("list", 2)) return list(read_registry(args[1]), args[2]), 0;
  if (takes("table", 3)) return write_table(read_registry(args[1]), args[2], args[3]), 0;
  if (takes("units", 4)) return units(read_registry(args[2]), args[1], args[3], args[4]), 0;
  std::cerr << "usage: ozbound_mutants check SOURCE REGISTRY TABLE | copy SOURCE REGISTRY DESTINATION | list REGISTRY TABLE |\n"
               "                       table REGISTRY TABLE KILLERS | units SOURCE REGISTRY DESTINATION BUILD\n";
  return 2;
}

}  // namespace

int main(int count, char** args) {
  try {
    return run({args + 1, args + count});
  } catch (const std::exception& error) {
    std::cerr << "ozbound_mutants: " << error.what() << '\n';
    return 2;
  }
}
