// SPDX-License-Identifier: BSD-3-Clause
// ozbound-pages FOLDER: writes the man pages of the command and its completions for shells. The build runs it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "command_line.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "pages.hpp"

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  ozbound::files::AtomicFile file(path);
  file.write(text);
  file.commit();
}

void write_all(const std::filesystem::path& folder) {
  CLI::App app;
  ozbound::cli::Action none;
  ozbound::cli::add_commands(app, none);
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : ozbound::cli::man_pages(app)) write(folder / name, text);
  write(folder / "ozbound", ozbound::cli::bash_completion(app));
  write(folder / "_ozbound", ozbound::cli::zsh_completion(app));
  write(folder / "ozbound.fish", ozbound::cli::fish_completion(app));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2) {
      write_all(argv[1]);
      return 0;
    }
    std::fputs("usage: ozbound-pages FOLDER\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ozbound-pages: %s\n", error.what());
  }
  return 2;
}
