// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exact_double.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::files {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 65536;  // a header for two dimensions needs about 80 bytes
constexpr bool little_endian = std::endian::native == std::endian::little;
constexpr char foreign_order = little_endian ? '>' : '<';

struct Preamble {
  std::size_t header_offset, header_length;  // bytes
};

struct Header {
  std::string_view element_type;
  bool column_major = false;
  std::vector<std::int64_t> shape;
};

/// The header: a Python dictionary with exactly the keys descr, fortran_order and shape, as Python 2 or 3 writes it.
class HeaderParser {
 public:
  HeaderParser(const InputFile& file, std::string_view text, std::size_t offset) : file_(file), text_(text), offset_(offset) {}

  Header parse() {
    expect('{');
    while (!take('}')) {
      entry();
      if (take('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ != text_.size()) fail("text after the dictionary of the header");
    return {required(element_type_, "descr"), required(column_major_, "fortran_order"), required(shape_, "shape")};
  }

 private:
  [[noreturn]] void fail(std::string_view wrong) const {
    throw InputError(file_.name(), fmt::format("byte {}: {}", offset_ + at_, wrong));
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("the header is no Python dictionary: '{}' is missing", wanted));
  }

  void entry() {
    const auto key = string();
    expect(':');
    if (key == "descr")
      once(element_type_, key, element_type());
    else if (key == "fortran_order")
      once(column_major_, key, boolean());
    else if (key == "shape")
      once(shape_, key, shape());
    else
      fail("the header has an unknown key " + quote(key));
  }

  template <class T>
  void once(std::optional<T>& field, std::string_view key, T value) {
    if (field) fail(fmt::format("the header gives '{}' twice", key));
    field = std::move(value);
  }

  template <class T>
  T required(const std::optional<T>& field, std::string_view key) const {
    if (!field) fail(fmt::format("the header has no '{}'", key));
    return *field;
  }

  std::string_view string() {
    if (take('u') && at_ < text_.size() && text_[at_] == ' ') fail("the header has no string where one belongs");  // u'descr'
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"' && !take('"')) fail("the header has no string where one belongs");
    const auto end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the header has a string without end");
    const auto value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }

  std::string_view element_type() {
    if (take('[')) fail("structured elements cannot be read; write one matrix of numbers");
    return string();
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(name)) continue;
      at_ += name.size();
      return value;
    }
    fail("'fortran_order' is neither True nor False");
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!take(')')) {
      sizes.push_back(size());
      if (take(')')) break;
      expect(',');
    }
    return sizes;
  }

  std::int64_t size() {
    skip_space();
    std::int64_t value = 0;
    const auto rest = text_.substr(at_);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error == std::errc::result_out_of_range) fail("'shape' has a size beyond 64 bits");
    if (error != std::errc() || value < 0) fail("'shape' is not a tuple of sizes");
    at_ += static_cast<std::size_t>(end - rest.data());
    take('L');  // of Python 2's long integers
    return value;
  }

  const InputFile& file_;
  std::string_view text_;
  std::size_t offset_;
  std::size_t at_ = 0;
  std::optional<std::string_view> element_type_;
  std::optional<bool> column_major_;
  std::optional<std::vector<std::int64_t>> shape_;
};

Preamble read_preamble(const InputFile& file) {
  const auto head = file.head(12);
  const auto byte = [&head](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(head[i])); };
  if (head.size() < 10) throw InputError(file.name(), "the file ends before its NumPy header");
  const auto major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0)
    throw InputError(file.name(), fmt::format("byte 6: NumPy format version {}.{} is not known", major, byte(7)));
  if (major == 1) return {10, byte(8) | byte(9) << 8};
  if (head.size() < 12) throw InputError(file.name(), "the file ends before its NumPy header");
  return {12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

std::string read_header_text(const InputFile& file, Preamble preamble) {
  const auto [offset, length] = preamble;
  if (length > file.size() - offset)
    throw InputError(file.name(),
                     fmt::format("byte 8: a header of {} bytes does not fit into a file of {} bytes", length, file.size()));
  if (length > longest_header)
    throw InputError(file.name(), fmt::format("byte 8: a header of {} bytes is too long for a matrix", length));
  std::string text(length, '\0');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

/// Bytes per element, in the file and in memory.
struct ElementSizes {
  std::uint64_t stored, kept;
};

std::string wrong_dimensions(const std::vector<std::int64_t>& shape) {
  if (shape.size() == 1) return fmt::format("the array has 1 dimension; reshape it to ({}, 1) or (1, {})", shape[0], shape[0]);
  return fmt::format("the array has {} dimensions; a matrix has 2", shape.size());
}

/// Refuses an array that is not a matrix, or whose data are not in the file, before allocating memory. What follows the data is
/// another array, which numpy.save appends to an open file; numpy.load reads the first.
void check_shape(const InputFile& file, const Header& header, ElementSizes element, std::uint64_t data_bytes,
                 std::uint64_t max_bytes) {
  if (header.shape.size() != 2) throw InputError(file.name(), wrong_dimensions(header.shape));
  const auto [rows, cols] = std::pair(header.shape[0], header.shape[1]);
  std::uint64_t elements = 0, kept = 0;
  if (__builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(elements, element.kept, &kept) ||
      kept > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw InputError(file.name(), fmt::format("a matrix of {} x {} is too large", rows, cols));
  const auto bytes = elements * element.stored;
  if (bytes > data_bytes)
    throw InputError(file.name(),
                     fmt::format("the file ends too soon: {} x {} elements take {} bytes, and {} follow the header", rows, cols,
                                 bytes, data_bytes));
  if (kept > max_bytes)
    throw InputError(file.name(), fmt::format("a matrix of {} x {} takes {}, more than the memory of {}", rows, cols,
                                              format_bytes(kept), format_bytes(max_bytes)));
}

/// A number of the IEEE 754 format binary16.
struct Half {
  std::uint16_t bits;
};

/// Its value, exact in binary32; a NaN keeps only its sign.
float value_of(Half half) {
  const auto sign = static_cast<std::uint32_t>(half.bits >> 15) << 31, exponent = (half.bits >> 10) & 31U;
  const auto fraction = half.bits & 1023U;
  if (exponent == 31) return std::bit_cast<float>(sign | (fraction == 0 ? 0x7f800000U : 0x7fc00000U));
  const float magnitude =
      exponent == 0 ? static_cast<float>(fraction) * 0x1p-24F : std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

/// A byte that is 0 or 1.
struct TruthValue {
  std::uint8_t byte;
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

/// The numbers of the elements: real elements themselves, or alternating real and imaginary parts.
template <class T>
std::span<T> numbers_of(std::span<T> elements) {
  return elements;
}
template <class T>
std::span<T> numbers_of(std::span<std::complex<T>> elements) {
  return {reinterpret_cast<T*>(elements.data()), 2 * elements.size()};  // [complex.numbers.general] guarantees this layout
}

template <class T>
void swap_bytes(std::span<T> elements) {
  if constexpr (sizeof(T) > 1) {
    using Bits =
        std::conditional_t<sizeof(T) == 8, std::uint64_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    for (T& element : elements) {
      auto bits = std::bit_cast<Bits>(element);
      if constexpr (sizeof(T) == 8)
        bits = __builtin_bswap64(bits);
      else if constexpr (sizeof(T) == 4)
        bits = __builtin_bswap32(bits);
      else
        bits = __builtin_bswap16(bits);
      element = std::bit_cast<T>(bits);
    }
  }
}

/// The elements of a file, stored as type Stored and returned as T.
template <class T, class Stored>
class Elements {
 public:
  Elements(const InputFile& file, const Header& header, std::uint64_t offset)
      : file_(file), header_(header), offset_(offset), swapped_(header.element_type.starts_with(foreign_order)) {}

  /// Reads elements from number `first` on, in file order.
  void read(Index first, std::span<T> elements) const {
    if constexpr (std::is_same_v<T, Stored>) {
      read_stored(first, elements);
    } else {
      std::vector<Stored> block(std::min<std::size_t>(elements.size(), 1 << 15));
      for (; !elements.empty(); elements = elements.subspan(block.size())) {
        block.resize(std::min(block.size(), elements.size()));
        read_stored(first, std::span(block));
        for (std::size_t t = 0; t < block.size(); ++t) elements[t] = exact(block[t], first + static_cast<Index>(t));
        first += static_cast<Index>(block.size());
      }
    }
  }

 private:
  void read_stored(Index first, std::span<Stored> elements) const {
    file_.read(offset_ + static_cast<std::uint64_t>(first) * sizeof(Stored), std::as_writable_bytes(elements));
    if (swapped_) swap_bytes(numbers_of(elements));
  }

  /// Truth values have their own type, since their bytes may be invalid.
  [[nodiscard]] double exact(TruthValue value, Index place) const {
    if (value.byte > 1) fail(place, fmt::format("the byte {} is no truth value", value.byte));
    return value.byte;
  }

  [[nodiscard]] static float exact(Half value, Index) { return value_of(value); }

  template <class Integer>
  [[nodiscard]] double exact(Integer value, Index place) const {
    if (!is_exactly_double(value)) fail(place, fmt::format("{} is not exactly a double", value));
    return static_cast<double>(value);
  }

  /// Refuses an element, named as in NumPy with indices from 0.
  [[noreturn]] void fail(Index place, const std::string& wrong) const {
    const Index length = header_.column_major ? header_.shape[0] : header_.shape[1];
    const auto [i, j] =
        header_.column_major ? std::pair(place % length, place / length) : std::pair(place / length, place % length);
    throw InputError(file_.name(), fmt::format("element [{}, {}]: {}", i, j, wrong));
  }

  const InputFile& file_;
  const Header& header_;
  std::uint64_t offset_;
  bool swapped_;
};

/// Reads some columns at a time, so that one pass over each row of the matrix serves all of them. There may be 2^63 - 1 columns
/// without elements.
template <class T, class Stored>
void read_columns(const Elements<T, Stored>& elements, Matrix<T>& matrix) {
  if (matrix.rows() == 0) return;
  constexpr Index block = 8;
  std::vector<T> columns(static_cast<std::size_t>(matrix.rows() * std::min(block, matrix.cols())));
  for (Index j0 = 0; j0 < matrix.cols(); j0 += block) {
    const Index width = std::min(block, matrix.cols() - j0);
    elements.read(j0 * matrix.rows(), std::span(columns).first(static_cast<std::size_t>(matrix.rows() * width)));
    for (Index i = 0; i < matrix.rows(); ++i)
      for (Index j = 0; j < width; ++j) matrix(i, j0 + j) = columns[static_cast<std::size_t>(j * matrix.rows() + i)];
  }
}

template <class T, class Stored = T>
MatrixFile read_values(const InputFile& file, const Header& header, std::uint64_t offset, std::uint64_t max_bytes) {
  check_shape(file, header, {sizeof(Stored), sizeof(T)}, file.size() - offset, max_bytes);
  const Elements<T, Stored> elements(file, header, offset);
  Matrix<T> matrix(header.shape[0], header.shape[1]);
  if (header.column_major)
    read_columns(elements, matrix);
  else
    elements.read(0, std::span(matrix.data(), static_cast<std::size_t>(matrix.rows() * matrix.cols())));
  return {std::move(matrix)};
}

using ReadValues = MatrixFile(const InputFile&, const Header&, std::uint64_t, std::uint64_t);

/// The reader for elements of a type as numpy.dtype reads it, its byte order included; null for a type that cannot be read.
/// Letters may follow a byte order, words may not. A `long` has eight bytes, as on all systems but Windows.
ReadValues* reader_of(std::string_view type) {
  struct Type {
    std::string_view name, letters;
    std::string_view words;  ///< between blanks
    ReadValues* reader;
  };
  constexpr Type types[] = {
      {"f8", "d", " float64 double float float_ ", read_values<double>},
      {"f4", "f", " float32 single ", read_values<float>},
      {"f2", "e", " float16 half ", read_values<float, Half>},
      {"c16", "D", " complex128 cdouble cfloat complex complex_ ", read_values<std::complex<double>>},
      {"c8", "F", " complex64 csingle singlecomplex ", read_values<std::complex<float>>},
      {"i8", "lqp", " int64 int int_ int0 intp long longlong ", read_values<double, std::int64_t>},
      {"i4", "i", " int32 intc ", read_values<double, std::int32_t>},
      {"i2", "h", " int16 short ", read_values<double, std::int16_t>},
      {"i1", "b", " int8 byte ", read_values<double, std::int8_t>},
      {"u8", "LQP", " uint64 uint uint0 uintp ulong ulonglong ", read_values<double, std::uint64_t>},
      {"u4", "I", " uint32 uintc ", read_values<double, std::uint32_t>},
      {"u2", "H", " uint16 ushort ", read_values<double, std::uint16_t>},
      {"u1", "B", " uint8 ubyte ", read_values<double, std::uint8_t>},
      {"b1", "?", " bool bool_ bool8 ", read_values<double, TruthValue>},
  };
  const auto is_word = [type](const Type& known) {
    return known.words.find(' ' + std::string(type) + ' ') != std::string_view::npos;
  };
  for (const auto& known : types)
    if (type.size() > 1 && is_word(known)) return known.reader;
  if (type.find_first_of("<>=|") == 0) type.remove_prefix(1);
  for (const auto& known : types)
    if (type == known.name || (type.size() == 1 && known.letters.find(type.front()) != std::string_view::npos))
      return known.reader;
  return nullptr;
}

template <class T>
std::string header_of(MatrixView<const T> matrix) {
  auto header = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}, {}), }}", little_endian ? '<' : '>',
                            is_complex<T> ? 'c' : 'f', sizeof(T), matrix.rows(), matrix.cols());
  constexpr std::size_t preamble = 10, alignment = 64;
  header.append(alignment - 1 - (preamble + header.size()) % alignment, ' ');
  header += '\n';
  std::string out(magic);
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() & 255, header.size() >> 8})
    out += static_cast<char>(byte);
  return out + header;
}

template <class T>
void write_values(AtomicFile& file, MatrixView<const T> matrix) {
  file.write(header_of(matrix));
  if (matrix.empty()) return;
  std::string row(static_cast<std::size_t>(matrix.cols()) * sizeof(T), '\0');
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j)
      std::memcpy(row.data() + static_cast<std::size_t>(j) * sizeof(T), &matrix(i, j), sizeof(T));
    file.write(row);
  }
}

}  // namespace

bool is_npy(std::string_view head) { return head.starts_with(magic); }

MatrixFile read_npy(const InputFile& file, std::uint64_t max_bytes) {
  const auto preamble = read_preamble(file);
  const auto text = read_header_text(file, preamble);
  const auto header = HeaderParser(file, text, preamble.header_offset).parse();
  const auto data = preamble.header_offset + preamble.header_length;
  if (auto* const read = reader_of(header.element_type)) return read(file, header, data, max_bytes);
  throw InputError(file.name(), fmt::format("elements of type {} cannot be read; only f8, f4, f2, c16, c8, integers and b1 can",
                                            quote(header.element_type)));
}

void write_npy(AtomicFile& file, MatrixView<const double> matrix) { write_values(file, matrix); }
void write_npy(AtomicFile& file, MatrixView<const float> matrix) { write_values(file, matrix); }
void write_npy(AtomicFile& file, MatrixView<const std::complex<double>> matrix) { write_values(file, matrix); }
void write_npy(AtomicFile& file, MatrixView<const std::complex<float>> matrix) { write_values(file, matrix); }

}  // namespace ozbound::files
