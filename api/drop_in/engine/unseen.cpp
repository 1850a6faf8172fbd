// SPDX-License-Identifier: BSD-3-Clause
#include "unseen.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string_view>

namespace ozbound::drop_in {
namespace {

/// A file as memory that can be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& file) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (descriptor < 0) return;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* const at = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (at != MAP_FAILED) bytes_ = static_cast<const char*>(at);
    }
    close(descriptor);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }

  /// `count` objects at a place of the file; none if they do not lie in it, or not as the processor needs them.
  template <class T>
  [[nodiscard]] std::span<const T> at(std::size_t offset, std::size_t count) const {
    if (bytes_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) return {};
    return {reinterpret_cast<const T*>(bytes_ + offset), count};
  }

 private:
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

bool is_gemm(std::string_view name) {
  for (const std::string_view prefix : {"", "cblas_", "scipy_", "scipy_cblas_"})
    for (const char type : {'d', 's'})
      for (const std::string_view end : {"gemm", "gemm_", "gemm64_", "gemm_64", "gemm_64_"})
        if (name == std::string(prefix) + type + std::string(end)) return true;
  return false;
}

std::string gemm_of(const MappedFile& file, std::span<const ElfW(Shdr)> sections, const ElfW(Shdr) & table) {
  if (table.sh_link >= sections.size()) return {};
  const auto symbols = file.at<ElfW(Sym)>(table.sh_offset, table.sh_size / sizeof(ElfW(Sym)));
  const auto texts = file.at<char>(sections[table.sh_link].sh_offset, sections[table.sh_link].sh_size);
  for (const auto& symbol : symbols) {
    if (symbol.st_shndx == SHN_UNDEF || (symbol.st_info & 0xf) != STT_FUNC || symbol.st_name >= texts.size()) continue;
    const auto rest = texts.subspan(symbol.st_name);
    const std::string_view name(rest.data(), strnlen(rest.data(), rest.size()));
    if (name.size() < 32 && name.find("gemm") != std::string_view::npos && is_gemm(name)) return std::string(name);
  }
  return {};
}

int note(dl_phdr_info* info, std::size_t, void* data) {
  auto& files = *static_cast<std::vector<std::string>*>(data);
  const std::string name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (!name.empty() || files.empty()) files.push_back(name);  // the program, which comes first, has no name
  return 0;
}

std::string program_file() {
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  return length < 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

}  // namespace

std::string blas_routine_in(const std::string& file) {
  const MappedFile mapped(file);
  const auto header = mapped.at<ElfW(Ehdr)>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 || header[0].e_shentsize != sizeof(ElfW(Shdr)))
    return {};
  const auto sections = mapped.at<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
  for (const auto& section : sections)
    if (section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB)
      if (auto name = gemm_of(mapped, sections, section); !name.empty()) return name;
  return {};
}

std::vector<OwnBlas> files_with_blas() {
  std::vector<std::string> files;
  dl_iterate_phdr(note, &files);
  std::vector<OwnBlas> found;
  for (auto& file : files) {
    if (file.empty()) file = program_file();
    const auto name = file.substr(file.rfind('/') + 1);
    if (name == "libozbound_blas.so" || name == "libozbound_drop_in.so") continue;
    if (auto routine = blas_routine_in(file); !routine.empty()) found.push_back({file, std::move(routine)});
  }
  return found;
}

}  // namespace ozbound::drop_in
