// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exact_double.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::files {
namespace {

enum class Field { real, integer, pattern, complex };
enum class Symmetry { general, symmetric, skew, hermitian };

struct Banner {
  bool coordinate = false;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

/// The words of a line. Words beyond the capacity are counted, but not stored.
struct Words {
  explicit Words(std::string_view line) {
    constexpr std::string_view space = " \t";
    for (auto at = line.find_first_not_of(space); at != std::string_view::npos; at = line.find_first_not_of(space, at)) {
      const auto end = std::min(line.find_first_of(space, at), line.size());
      if (count < word.size()) word[count] = line.substr(at, end - at);
      ++count;
      at = end;
    }
  }

  std::array<std::string_view, 5> word;
  std::size_t count = 0;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A text without the byte order mark of UTF-8 before it, which some editors write.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

class Reader {
 public:
  Reader(const InputFile& file, std::uint64_t max_bytes) : lines_(file), max_bytes_(max_bytes) {}

  MatrixFile read() {
    read_banner();
    read_sizes();
    if (banner_.field == Field::complex) return {read_entries<std::complex<double>>()};
    return {read_entries<double>()};
  }

 private:
  template <class T>
  Matrix<T> read_entries() {
    check_memory(sizeof(T));
    Matrix<T> matrix(rows_, cols_);
    if (banner_.coordinate)
      read_coordinates(matrix);
    else
      read_array(matrix);
    check_diagonal();
    if (next_line()) lines_.fail(fmt::format("text after the last of {} entries", entries_));
    return matrix;
  }

  /// Moves to the next line that is neither blank nor a comment, and splits it into words.
  bool next_line() {
    while (lines_.next()) {
      words_ = Words(lines_.line());
      if (words_.count > 0 && !words_.word[0].starts_with('%')) return true;
    }
    return false;
  }

  void need_words(std::size_t count, std::string_view meaning) const {
    if (words_.count != count) lines_.fail(fmt::format("{} here, and the line has {}", meaning, words_.count));
  }

  void read_banner() {
    lines_.next();
    words_ = Words(without_mark(lines_.line()));
    if (!same_word(words_.word[0], "%%MatrixMarket")) lines_.fail("the first word is not %%MatrixMarket");
    need_words(5, "five words, such as %%MatrixMarket matrix array real general, belong");
    if (!same_word(words_.word[1], "matrix")) lines_.fail(quote(words_.word[1]) + " cannot be read; only a matrix can");
    banner_.coordinate = choose<bool>({{"array", false}, {"coordinate", true}}, words_.word[2]);
    banner_.field = choose<Field>({{"real", Field::real},
                                   {"double", Field::real},
                                   {"integer", Field::integer},
                                   {"unsigned-integer", Field::integer},
                                   {"pattern", Field::pattern},
                                   {"complex", Field::complex}},
                                  words_.word[3]);
    banner_.symmetry = symmetry(words_.word[4]);
    if (banner_.field != Field::pattern) return;
    if (!banner_.coordinate) lines_.fail("an array cannot be a pattern");
    if (banner_.symmetry == Symmetry::skew) lines_.fail("a pattern cannot be skew-symmetric");
  }

  Symmetry symmetry(std::string_view word) const {
    constexpr std::pair<std::string_view, Symmetry> general{"general", Symmetry::general},
        symmetric{"symmetric", Symmetry::symmetric}, skew{"skew-symmetric", Symmetry::skew},
        hermitian{"hermitian", Symmetry::hermitian};
    if (banner_.field == Field::complex) return choose<Symmetry>({general, symmetric, skew, hermitian}, word);
    return choose<Symmetry>({general, symmetric, skew}, word);
  }

  [[nodiscard]] std::string_view symmetry_name() const {
    if (banner_.symmetry == Symmetry::hermitian) return "hermitian";
    return banner_.symmetry == Symmetry::skew ? "skew-symmetric" : "symmetric";
  }

  template <class T>
  T choose(std::initializer_list<std::pair<std::string_view, T>> choices, std::string_view word) const {
    std::string names;
    for (const auto& [name, value] : choices) {
      if (same_word(word, name)) return value;
      names += names.empty() ? std::string(name) : ", " + std::string(name);
    }
    lines_.fail(fmt::format("{} is not one of: {}", quote(word), names));
  }

  void read_sizes() {
    if (!next_line()) lines_.fail("the file ends before its line of sizes");
    if (banner_.coordinate)
      need_words(3, "rows, columns and the number of entries belong");
    else
      need_words(2, "rows and columns belong");
    rows_ = size(words_.word[0]);
    cols_ = size(words_.word[1]);
    if (banner_.symmetry != Symmetry::general && rows_ != cols_)
      lines_.fail(fmt::format("a {} matrix is square, and {} x {} is not", symmetry_name(), rows_, cols_));
    entries_ = banner_.coordinate ? size(words_.word[2]) : array_entries();
    check_entries();
  }

  Index size(std::string_view word) const {
    Index value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::invalid_argument || end != word.data() + word.size() || word.starts_with('-'))
      lines_.fail(quote(word) + " is not a size");
    if (error != std::errc()) lines_.fail(quote(word) + " is too large");
    return value;
  }

  /// Number of entries that an array stores: the lower triangle of a symmetric or hermitian one, without the diagonal for a
  /// skew-symmetric one.
  Index array_entries() const {
    Index count = 0;
    if (__builtin_mul_overflow(rows_, cols_, &count)) fail_too_large();
    if (banner_.symmetry == Symmetry::general) return count;
    const Index diagonal = banner_.symmetry == Symmetry::skew ? -rows_ : rows_;
    return (count + diagonal) / 2;  // a square below 2^63 leaves room for its diagonal
  }

  /// Refuses, before any memory is allocated, a count of entries that cannot fit the bytes of the file.
  void check_entries() {
    const std::uint64_t shortest_line = 2 * ((banner_.coordinate ? 2 : 0) + numbers());  // each a digit and a separator
    const std::uint64_t bytes = lines_.bytes_left();
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an array is no pattern
    if (static_cast<std::uint64_t>(entries_) <= (bytes + 1) / shortest_line) return;
    for (Index done = 0;; ++done) {  // ends by an error: fewer entries are there, or one is wrong
      next_entry(done);
      const std::size_t first = banner_.coordinate ? 2 : 0;
      if (banner_.coordinate) index(words_.word[0], rows_, "row"), index(words_.word[1], cols_, "column");
      if (banner_.field == Field::complex)
        static_cast<void>(value(first, std::complex<double>()));
      else
        static_cast<void>(value(first, 0.0));
    }
  }

  [[noreturn]] void fail_too_large() const { lines_.fail(fmt::format("a matrix of {} x {} is too large", rows_, cols_)); }

  /// Number of words of an entry beside its indices.
  [[nodiscard]] std::uint64_t numbers() const {
    return banner_.field == Field::pattern ? 0 : banner_.field == Field::complex ? 2 : 1;
  }

  void check_memory(std::size_t element_size) const {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(rows_, cols_, &bytes) || __builtin_mul_overflow(bytes, element_size, &bytes)) fail_too_large();
    if (static_cast<std::uint64_t>(bytes) > max_bytes_)
      lines_.fail(fmt::format("a dense matrix of {} x {} takes {}, more than the memory of {}", rows_, cols_,
                              format_bytes(static_cast<std::uint64_t>(bytes)), format_bytes(max_bytes_)));
  }

  /// Moves to the line of the next entry, and refuses one with too many words or too few. @param done entries before it
  void next_entry(Index done) {
    if (!next_line()) lines_.fail(fmt::format("the file ends after {} of {} entries", done, entries_));
    constexpr std::array in_a_list{"a row and a column belong", "a row, a column and a number belong",
                                   "a row, a column, a real and an imaginary part belong"};
    if (banner_.coordinate)
      need_words(2 + numbers(), in_a_list[numbers()]);
    else
      need_words(numbers(), numbers() == 1 ? "an array has one number on a line, column by column: one belongs"
                                           : "a real and an imaginary part belong");
  }

  template <class T>
  void read_array(Matrix<T>& matrix) {
    if (entries_ == 0) return;  // there may be 2^63 - 1 rows or columns
    Index done = 0;
    for (Index j = 0; j < cols_; ++j)
      for (Index i = first_stored_row(j); i < rows_; ++i) {
        next_entry(done++);
        store(matrix, i, j, value(0, T{}));
      }
  }

  Index first_stored_row(Index j) const {
    return banner_.symmetry == Symmetry::general ? 0 : banner_.symmetry == Symmetry::skew ? j + 1 : j;
  }

  template <class T>
  void read_coordinates(Matrix<T>& matrix) {
    std::vector<bool> seen(static_cast<std::size_t>(rows_ * cols_));
    for (Index done = 0; done < entries_; ++done) {
      next_entry(done);
      const Index i = index(words_.word[0], rows_, "row");
      const Index j = index(words_.word[1], cols_, "column");
      if (i < j && banner_.symmetry != Symmetry::general) fail_not_stored(i, j);
      const auto place = static_cast<std::size_t>(i * cols_ + j);
      store(matrix, i, j, seen[place] ? sum(i, j, matrix(i, j), value(2, T{})) : value(2, T{}));
      seen[place] = true;
    }
  }

  [[noreturn]] void fail_not_stored(Index i, Index j) const {
    lines_.fail(fmt::format("entry ({}, {}) lies above the diagonal of a {} matrix", i + 1, j + 1, symmetry_name()));
  }

  /// Reads an index. Indices count from 1 in the file, and from 0 in the result.
  Index index(std::string_view word, Index size, std::string_view what) const {
    Index value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::invalid_argument || end != word.data() + word.size())
      lines_.fail(fmt::format("{} is not the index of a {}", quote(word), what));
    if (error != std::errc() || value < 1 || value > size)
      lines_.fail(fmt::format("{} {} lies outside 1 to {}", what, quote(word), size));
    return value - 1;
  }

  template <class T>
  void store(Matrix<T>& matrix, Index i, Index j, const T& value) {
    if (i == j) note_diagonal(i, wrong_on_diagonal(value));
    matrix(i, j) = value;
    if (i != j && banner_.symmetry != Symmetry::general) matrix(j, i) = mirrored(value);
  }

  /// A repeated entry is the sum of its values in file order, each step rounded to a double; sums of integers are exact.
  [[nodiscard]] double sum(Index i, Index j, double before, double more) const {
    const double all = before + more;
    if (std::isinf(all) && std::isfinite(before) && std::isfinite(more))
      lines_.fail(fmt::format("the sum of entries ({}, {}) lies outside the range of a double", i + 1, j + 1));
    if (banner_.field == Field::integer && (all - before != more || all - more != before))
      lines_.fail(fmt::format("the sum of entries ({}, {}) is not exactly a double", i + 1, j + 1));
    return all;
  }
  [[nodiscard]] std::complex<double> sum(Index i, Index j, std::complex<double> before, std::complex<double> more) const {
    return {sum(i, j, before.real(), more.real()), sum(i, j, before.imag(), more.imag())};
  }

  /// Stores or clears the error of a diagonal entry so far: a later value for the same entry may correct it.
  void note_diagonal(Index i, const std::string& wrong) {
    if (wrong.empty())
      wrong_diagonal_.erase(i);
    else
      wrong_diagonal_[i] = {lines_.number(), wrong};
  }

  /// Refuses the first wrong diagonal entry after all entries are read.
  void check_diagonal() const {
    if (wrong_diagonal_.empty()) return;
    const auto& [i, found] = *wrong_diagonal_.begin();
    lines_.fail_at(found.line, fmt::format("entry ({}, {}) lies on the diagonal of a {} matrix, and {}", i + 1, i + 1,
                                           symmetry_name(), found.wrong));
  }

  [[nodiscard]] std::string wrong_on_diagonal(double value) const {
    return banner_.symmetry == Symmetry::skew && !(value == 0) ? "is not 0" : "";
  }
  [[nodiscard]] std::string wrong_on_diagonal(const std::complex<double>& value) const {
    if (banner_.symmetry == Symmetry::skew && !(value.real() == 0 && value.imag() == 0)) return "is not 0";
    const bool hermitian = banner_.symmetry == Symmetry::hermitian;
    return hermitian && !(value.imag() == 0) ? fmt::format("its imaginary part {} is not 0", value.imag()) : "";
  }

  // The negative of a zero becomes +0.
  [[nodiscard]] double mirrored(double value) const { return banner_.symmetry == Symmetry::skew ? 0.0 - value : value; }
  [[nodiscard]] std::complex<double> mirrored(const std::complex<double>& value) const {
    if (banner_.symmetry == Symmetry::hermitian) return {value.real(), 0.0 - value.imag()};
    return {mirrored(value.real()), mirrored(value.imag())};
  }

  /// The element whose numbers begin at word `first` of the line.
  [[nodiscard]] double value(std::size_t first, double) const {
    if (banner_.field == Field::pattern) return 1;
    return banner_.field == Field::integer ? integer(words_.word[first]) : real(words_.word[first]);
  }
  [[nodiscard]] std::complex<double> value(std::size_t first, const std::complex<double>&) const {
    return {real(words_.word[first]), real(words_.word[first + 1])};
  }

  double integer(std::string_view word) const {
    const auto digits = without_plus(word);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
      lines_.fail(quote(word) + " is not an integer");
    if (error != std::errc() || !is_exactly_double(value)) lines_.fail(quote(word) + " is not exactly a double");
    return static_cast<double>(value);
  }

  double real(std::string_view word) const {
    double value = 0;
    auto error = parse(word, value);
    if (error == std::errc::invalid_argument) error = parse(with_exponent_of_c(word), value);
    if (error == std::errc::invalid_argument) lines_.fail(quote(word) + " is not a decimal number");
    if (error != std::errc()) lines_.fail(quote(word) + " lies outside the range of a double");
    return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
  }

  /// Parses a whole word as a number. Rejects nan(...), which from_chars accepts but Matrix Market does not have.
  static std::errc parse(std::string_view word, double& value) {
    const auto digits = without_plus(word);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return end != digits.data() + digits.size() || digits.ends_with(')') ? std::errc::invalid_argument : error;
  }

  /// Converts Fortran's exponents: 1.5D+00 means 1.5e+00, and 1.5-101 means 1.5e-101, since three digits leave no room for the
  /// letter.
  static std::string with_exponent_of_c(std::string_view word) {
    std::string text(word);
    const auto end = text.find_first_not_of("0123456789.", text.starts_with('+') || text.starts_with('-') ? 1 : 0);
    if (end == 0 || end == std::string::npos || text[end - 1] == '+' || text[end - 1] == '-') return text;
    if (lower(text[end]) == 'd')
      text[end] = 'e';
    else if ((text[end] == '+' || text[end] == '-') && text.size() == end + 4)
      text.insert(end, "e");
    return text;
  }

  static std::string_view without_plus(std::string_view word) {
    return word.starts_with('+') && !word.starts_with("+-") ? word.substr(1) : word;
  }

  LineReader lines_;
  std::uint64_t max_bytes_;
  Words words_{""};
  Banner banner_;
  Index rows_ = 0, cols_ = 0, entries_ = 0;
  struct WrongEntry {
    std::uint64_t line;
    std::string wrong;
  };
  std::map<Index, WrongEntry> wrong_diagonal_;  ///< by row
};

void write_number(AtomicFile& file, double value, char end) {
  std::array<char, 32> text{};  // room for -2.2250738585072014e-308 and `end`: 25
  auto* last = std::to_chars(text.data(), text.data() + text.size() - 1, std::isnan(value) ? std::abs(value) : value).ptr;
  *last++ = end;
  file.write({text.data(), last});
}

void write_element(AtomicFile& file, double value) { write_number(file, value, '\n'); }

template <class T>
void write_element(AtomicFile& file, const std::complex<T>& value) {
  write_number(file, value.real(), ' ');
  write_number(file, value.imag(), '\n');
}

template <class T>
void write_array(AtomicFile& file, std::string_view field, MatrixView<const T> matrix) {
  const FloatEnvironment environment;
  file.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field, matrix.rows(), matrix.cols()));
  if (matrix.empty()) return;
  for (Index j = 0; j < matrix.cols(); ++j)
    for (Index i = 0; i < matrix.rows(); ++i) write_element(file, matrix(i, j));
}

}  // namespace

bool is_matrix_market(std::string_view head) {
  constexpr std::string_view banner = "%%MatrixMarket";
  head = without_mark(head);
  head.remove_prefix(std::min(head.find_first_not_of(" \t"), head.size()));
  return same_word(head.substr(0, banner.size()), banner);
}

MatrixFile read_matrix_market(const InputFile& file, std::uint64_t max_bytes) {
  const FloatEnvironment environment;
  return Reader(file, max_bytes).read();
}

void write_matrix_market(AtomicFile& file, MatrixView<const double> matrix) { write_array(file, "real", matrix); }
void write_matrix_market(AtomicFile& file, MatrixView<const float> matrix) { write_array(file, "real", matrix); }
void write_matrix_market(AtomicFile& file, MatrixView<const std::complex<double>> matrix) {
  write_array(file, "complex", matrix);
}
void write_matrix_market(AtomicFile& file, MatrixView<const std::complex<float>> matrix) {
  write_array(file, "complex", matrix);
}

}  // namespace ozbound::files
