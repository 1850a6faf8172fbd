// SPDX-License-Identifier: BSD-3-Clause
// Damaged files are read or refused, and a claimed size alone never makes the reader allocate memory for it.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <random>

#include "files/support.hpp"
#include "ozbound/verify/gemm_case.hpp"
#include "support/replaces_new.hpp"

namespace {

std::atomic<std::size_t> largest_allocation = 0;

}  // namespace

#if OZBOUND_REPLACES_NEW
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (size > largest_allocation) largest_allocation = size;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (size > largest_allocation) largest_allocation = size;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
#endif

namespace ozbound::cli::test::fuzz_test {
using namespace files::test;
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }  // the same on every platform

std::vector<std::string> valid_files() {
  const std::string six = bytes_of<double>({1, 2, 3, 4, 5, 6});
  return {npy_file(npy_header("<f8", "False", "(2, 3)"), six),
          npy_file(npy_header(">f8", "True", "(2, 3)"), six, 2),
          npy_file(npy_header("<f4", "False", "(3, 4)"), six, 3),
          "%%MatrixMarket matrix array real general\n% c\n2 2\n1.5\n-2e10\n0\nnan\n",
          "%%MatrixMarket matrix coordinate real general\r\n3 4 3\r\n1 2 0.25\r\n3 4 -1\r\n2 2 1e-300\r\n",
          "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 1 12345\n3 2 -7\n",
          "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n",
          "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
          npy_file(npy_header("<c16", "True", "(3, 1)"), six),
          npy_file(npy_header(">c8", "False", "(2, 3)"), six, 2),
          "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2.5 -3\n4 0\n",
          "%%MatrixMarket matrix coordinate complex general\n3 3 2\n1 2 0.5 -1e3\n3 3 nan 7\n"};
}

/// Replaces the first digit from `at` on by another one; most files stay readable after such damage.
void replace_digit(std::string& bytes, std::size_t at, Random& random) {
  const auto digit = bytes.find_first_of("0123456789", at);
  if (digit != std::string::npos) bytes[digit] = static_cast<char>('0' + below(random, 10));
}

/// Flips a bit, overwrites a byte (often by a meaningful one), removes, inserts, repeats, cuts, or changes a digit.
void damage(std::string& bytes, Random& random) {
  constexpr std::string_view meaningful = "0123456789 \n\r%.-+eE,()'{}:\xff";
  const auto at = below(random, bytes.size() + 1);
  const auto byte = meaningful[below(random, meaningful.size())];
  switch (below(random, 12)) {
    case 0: return bytes.insert(at, 1 + below(random, 20), byte), void();
    case 1: return bytes.insert(at, bytes.substr(below(random, bytes.size() + 1), below(random, 30))), void();
    case 2: return bytes.erase(at, 1 + below(random, 8)), void();
    case 3: return bytes.resize(at);
    case 4:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(random, 8));
      return;
    case 5:
      if (at < bytes.size()) bytes[at] = byte;
      return;
    default: replace_digit(bytes, at, random);
  }
}

/// True if the file was read. The only other outcome is an InputError with one line that names the file.
bool read_or_refuse(const std::filesystem::path& path, std::uint64_t max_bytes) {
  try {
    files::read_matrix(path, max_bytes);
    return true;
  } catch (const files::InputError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with(path.string() + ":")) << error.what();
    EXPECT_EQ(std::string_view(error.what()).find_first_of("\r\n"), std::string_view::npos) << error.what();
    return false;
  }
}

TEST(Fuzz, DamagedFilesAreReadOrRefused) {
  constexpr std::uint64_t max_bytes = 1 << 18;
  const TemporaryDirectory directory;
  const auto path = directory / "damaged";
  int read = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    auto bytes = valid_files()[seed % valid_files().size()];
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) damage(bytes, random);
    write_bytes(path, bytes);
    largest_allocation = 0;
    read += read_or_refuse(path, max_bytes) ? 1 : 0;
    ASSERT_LE(largest_allocation, max_bytes);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(read, 1000) << "harmless damage, such as to a digit, belongs to the test";
  EXPECT_LT(read, 10000);
}

TEST(Fuzz, UndamagedFilesAreRead) {
  const TemporaryDirectory directory;
  for (const auto& bytes : valid_files()) {
    write_bytes(directory / "valid", bytes);
    EXPECT_TRUE(read_or_refuse(directory / "valid", 1 << 18)) << bytes;
  }
}

TEST(Fuzz, ClaimsAloneTakeNoMemory) {
  const TemporaryDirectory directory;
  const std::string filler(1000, '\n');
  for (const auto& bytes : {npy_file(npy_header("<f8", "False", "(30000, 30000)"), filler),
                            npy_file(npy_header("<f4", "True", "(1, 9000000000)"), filler),
                            npy_file(npy_header("<c16", "True", "(30000, 30000)"), filler),
                            "%%MatrixMarket matrix array complex hermitian\n30000 30000\n1 0\n" + filler,
                            "%%MatrixMarket matrix coordinate complex general\n90000000 90000000 1\n1 1 1 1\n" + filler,
                            std::string("\x93NUMPY\x02\0\xff\xff\xff\x7f", 12) + filler,
                            "%%MatrixMarket matrix array real general\n30000 30000\n1\n" + filler,
                            "%%MatrixMarket matrix array real symmetric\n30000 30000\n1\n" + filler,
                            "%%MatrixMarket matrix coordinate real general\n30000 30000 800000000\n1 1 1\n" + filler,
                            "%%MatrixMarket matrix coordinate pattern general\n90000000 90000000 1\n1 1\n" + filler}) {
    write_bytes(directory / "claim", bytes);
    largest_allocation = 0;
    EXPECT_FALSE(read_or_refuse(directory / "claim", files::physical_memory())) << bytes;
    EXPECT_LE(largest_allocation, 1U << 17) << bytes;
  }
}

TEST(Fuzz, ACaseTakesNoMemoryOnAClaim) {
  const TemporaryDirectory directory;
  const auto file = directory / "case.json";
  std::string rows = "[]";
  for (int i = 1; i < 1000; ++i) rows += ",[]";
  write_bytes(
      file, R"({"schema": "ozbound-case-1", "properties": [], "note": "", "a": {"type": "f64", "order": "rows", "padding": 0,)"
            R"("rows": 1000, "columns": 16384, "elements": [)" +
                rows + "]}}");
  largest_allocation = 0;
  EXPECT_EQ(error_of<std::invalid_argument>([&] { read_case(file); }),
            file.string() + ": a.elements[0]: is no array of 16384 numbers");
  EXPECT_LE(largest_allocation, 1U << 17);
}

}  // namespace
}  // namespace ozbound::cli::test::fuzz_test
