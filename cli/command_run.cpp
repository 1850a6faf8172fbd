// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "drop_in/engine/settings.hpp"
#include "drop_in/engine/unseen.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::cli {
namespace command_run {
namespace {

/// An option and its environment variable.
struct Setting {
  const char* option;
  const char* variable;
  const char* value;  ///< for the help text
  const char* help;
};
constexpr Setting settings[] = {
    {"--mode", drop_in::variable_mode, "off|shadow", "What is done with the program's products; shadow if not given"},
    {"--target", drop_in::variable_target, "TARGET", "The accuracy that products are examined for; dgemm if not given"},
    {"--log", drop_in::variable_log, "FILE", "JSON lines for ozbound audit; %p in the name is the process"},
    {"--summary", drop_in::variable_summary, "0|1", "Whether a summary goes to standard error at exit"},
    {"--min-work", drop_in::variable_min_work, "NUMBER", "Products of fewer multiplications m n k are not examined"},
    {"--share", drop_in::variable_share, "NUMBER", "Of the program's time in products, what examining may take; 0.05"},
    {"--blas", drop_in::variable_blas, "FILE", "The BLAS that multiplies; the program's own if not given"}};

struct Arguments {
  std::vector<std::pair<const Setting*, std::string>> given;
  std::vector<std::string> program;  ///< as parsed by CLI11, which splits words in brackets
};

/// The words after the first `--`, unchanged.
std::vector<std::string> words_of_program() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  bool after = false;
  for (std::string word; std::getline(file, word, '\0');) {
    if (after) words.push_back(word);
    after = after || word == "--";
  }
  if (words.empty()) throw std::invalid_argument("--: the program to run comes after it");
  return words;
}

/// The file of the hook: beside the command in a build, in the folder of libraries in an installation.
std::string hook() {
  const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  for (const auto& place : {folder, folder.parent_path() / OZBOUND_INSTALLED_LIBRARIES})
    if (const auto file = place / "libozbound_blas.so"; std::filesystem::exists(file)) return file;
  throw std::runtime_error("libozbound_blas.so is not beside the command, in " + folder.string());
}

/// Checks a value by the engine's own rules, before anything runs.
void check(const Setting& setting, const std::string& value) {
  try {
    if (setting.variable == drop_in::variable_mode) drop_in::check_mode(value);
    static_cast<void>(drop_in::Settings::read(
        [&](const char* variable) { return std::strcmp(variable, setting.variable) == 0 ? value.c_str() : nullptr; }));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(setting.option + std::string(error.what()).substr(std::strlen(setting.variable)));
  }
}

void set(const char* variable, const std::string& value) {
  if (setenv(variable, value.c_str(), 1) != 0) throw std::runtime_error(std::string(variable) + " cannot be set");
}

void preload(const std::string& library) {
  if (library.find_first_of(" :") != std::string::npos)
    throw std::runtime_error("the dynamic linker preloads no file in a folder with a space or a colon in its name: " + library);
  const char* const others = std::getenv("LD_PRELOAD");
  // A sanitizer must come first, and an allocator may; a BLAS must not hide the hook.
  std::string before, after;
  std::istringstream words(others == nullptr ? "" : others);
  for (std::string word; words >> word;)
    for (std::istringstream parts(word); std::getline(parts, word, ':');)
      if (!word.empty()) (drop_in::blas_routine_in(word).empty() ? before += word + ":" : after += ":" + word);
  set("LD_PRELOAD", before + library + after);
}

/// Refuses a log that cannot be written, before the program runs. The file is made, as its name says for this process, which
/// the program becomes.
void check_log() {
  const char* const variable = std::getenv(drop_in::variable_log);
  if (variable == nullptr || *variable == 0) return;
  std::string name = variable;
  const auto process = std::to_string(getpid());
  for (auto at = name.find("%p"); at != std::string::npos; at = name.find("%p", at + process.size()))
    name.replace(at, 2, process);
  const auto refuse = [&] {
    throw std::invalid_argument(fmt::format("--log: {} cannot be written: {}", name, std::strerror(errno)));
  };
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) refuse();
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && fallocate(file, FALLOC_FL_KEEP_SIZE, status.st_size, 4096) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
    refuse();
  close(file);
}

/// Replaces this process by the program.
ExitCode run(const Arguments& arguments) {
  set(drop_in::variable_mode, "shadow");
  for (const auto& [setting, value] : arguments.given) set(setting->variable, value);
  static_cast<void>(drop_in::Settings::read([](const char* variable) -> const char* { return std::getenv(variable); }));
  check_log();
  set(drop_in::variable_root, std::to_string(getpid()));
  preload(hook());
  auto words = words_of_program();
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  throw std::runtime_error(fmt::format("{} cannot be run: {}", files::quote(words.front()), std::strerror(errno)));
}

}  // namespace
}  // namespace command_run

void add_run(CLI::App& app, Action& action) {
  using namespace command_run;
  auto* command = app.add_subcommand("run", "Run a program and examine the products that it has its BLAS make");
  auto arguments = std::make_shared<Arguments>();
  for (const auto& setting : settings)
    command
        ->add_option_function<std::string>(
            setting.option,
            [arguments, &setting](const std::string& value) {
              check(setting, value);
              arguments->given.emplace_back(&setting, value);
            },
            setting.help)
        ->type_name(setting.value);
  command->add_option("program", arguments->program, "The program and its arguments, after --")->required()->type_name("WORD");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
