// SPDX-License-Identifier: BSD-3-Clause
// A batch by pointers into one memory. If its products may share what they share, they equal single calls bit for bit;
// otherwise the batch is refused. Nothing except C's is written.

#include "fuzz/operands.hpp"

#include <complex>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "ozbound/batch.hpp"
#include "ozbound/bounds/decide.hpp"

namespace ozbound::fuzz {
namespace {

constexpr Index room = 96;  ///< number of elements in the memory of a batch's matrices

/// One product and the positions of its matrices.
struct Shape {
  Op op_a, op_b;
  Index m, n, k, lda, ldb, ldc;
  Index a, b, c;
};

template <class T>
T scalar(Bytes& bytes) {
  constexpr bool single = std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number(bytes, single));
  } else {
    const double real = number(bytes, single), imaginary = number(bytes, single);
    return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
  }
}

/// Calls `take` with the position of each element of a matrix as stored.
template <class Take>
void for_places(Layout layout, Index first, Index rows, Index cols, Index ld, const Take& take) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      take(static_cast<std::size_t>(first + (layout == Layout::row_major ? i * ld + j : j * ld + i)));
}

template <class T>
struct Problem {
  Layout layout;
  std::vector<Shape> shapes;
  std::vector<T> alpha, beta, memory;
  Target wanted;

  explicit Problem(Bytes& bytes) : layout(bytes.flag() ? Layout::column_major : Layout::row_major), wanted(target(bytes)) {
    constexpr std::array<Op, 3> ops{Op::none, Op::transpose, Op::conjugate_transpose};
    const int count = bytes.between(0, 4);
    for (int t = 0; t < count; ++t) {
      Shape x{};
      x.op_a = bytes.pick(ops), x.op_b = bytes.pick(ops);
      x.m = bytes.between(0, 4), x.n = bytes.between(0, 4), x.k = bytes.between(0, 4);
      x.lda = bytes.between(4, 6), x.ldb = bytes.between(4, 6), x.ldc = bytes.between(4, 6);
      x.a = bytes.between(0, 72), x.b = bytes.between(0, 72), x.c = bytes.between(0, 72);
      shapes.push_back(x);
      alpha.push_back(bytes.flag() ? T{1} : scalar<T>(bytes));
      beta.push_back(bytes.flag() ? T{0} : scalar<T>(bytes));
    }
    for (Index i = 0; i < room; ++i) memory.push_back(scalar<T>(bytes));
  }

  /// True if a C overlaps another C or a matrix that is read, found element by element.
  [[nodiscard]] bool overlaps() const {
    std::array<int, room> written{};
    bool twice = false;
    for (const auto& x : shapes)
      for_places(layout, x.c, x.m, x.n, x.ldc, [&](std::size_t i) { twice = ++written[i] > 1 || twice; });
    for (std::size_t t = 0; t < shapes.size(); ++t) {
      if (alpha[t] == T{0}) continue;
      const auto& x = shapes[t];
      const auto take = [&](std::size_t i) { twice = written[i] > 0 || twice; };
      for_places(layout, x.a, x.op_a == Op::none ? x.m : x.k, x.op_a == Op::none ? x.k : x.m, x.lda, take);
      for_places(layout, x.b, x.op_b == Op::none ? x.k : x.n, x.op_b == Op::none ? x.n : x.k, x.ldb, take);
    }
    return twice;
  }

  /// Runs the batch in `elements`, with argument `fault` of the last product wrong if there is such an argument.
  std::vector<Certificate> run(std::vector<T>& elements, int fault) const {
    std::vector<Op> op_a, op_b;
    std::vector<Index> m, n, k, lda, ldb, ldc;
    std::vector<const T*> a, b;
    std::vector<T*> c;
    for (const auto& x : shapes) {
      op_a.push_back(x.op_a), op_b.push_back(x.op_b);
      m.push_back(x.m), n.push_back(x.n), k.push_back(x.k), lda.push_back(x.lda), ldb.push_back(x.ldb), ldc.push_back(x.ldc);
      a.push_back(elements.data() + x.a), b.push_back(elements.data() + x.b), c.push_back(elements.data() + x.c);
    }
    if (fault == 1) m.back() = -1;
    if (fault == 2) lda.back() = 0;
    if (fault == 3) op_b.back() = static_cast<Op>('\0');
    if (fault == 4) c.push_back(nullptr), c.push_back(nullptr);
    return gemm_batched(
        GemmBatch<T>{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, static_cast<Index>(shapes.size())},
        wanted, {.threads = 1});
  }

  Certificate run_alone(std::vector<T>& elements, std::size_t t) const {
    const auto& x = shapes[t];
    return gemm(layout, x.op_a, x.op_b, x.m, x.n, x.k, alpha[t], elements.data() + x.a, x.lda, elements.data() + x.b, x.ldb,
                beta[t], elements.data() + x.c, x.ldc, wanted, {.threads = 1});
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <class T>
void call(Bytes& bytes) {
  const int fault = bytes.between(0, 12);
  const Problem<T> problem(bytes);
  const bool wrong = (fault >= 1 && fault <= 4 && (!problem.shapes.empty() || fault == 4)) || problem.overlaps();
  auto batched = problem.memory, alone = problem.memory;
  std::optional<std::vector<Certificate>> certificates;
  bool cannot = false;
  try {
    certificates = problem.run(batched, problem.shapes.empty() && fault != 4 ? 0 : fault);
  } catch (const std::invalid_argument&) {
    require(wrong, "right arguments were refused");
  } catch (const CannotCertify&) {
    cannot = true;
  }
  require(!wrong || (!certificates && !cannot), "wrong arguments were taken");
  if (!certificates) require(same_bits(batched, problem.memory), "a refused batch wrote something");
  if (wrong) return;

  bool cannot_alone = false;
  for (std::size_t t = 0; t < problem.shapes.size(); ++t) {
    try {
      const auto certificate = problem.run_alone(alone, t);
      if (certificates)
        require(to_json(certificate) == to_json((*certificates)[t]), "a product has another certificate than alone");
    } catch (const CannotCertify&) {
      cannot_alone = true;
    }
  }
  require(cannot == cannot_alone, "a batch is certified otherwise than its products");
  if (certificates) require(same_bits(batched, alone), "a product has other bits than alone, or something else was written");
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ozbound::fuzz::Bytes bytes(data, size);
  switch (bytes.between(0, 3)) {
    case 0: ozbound::fuzz::call<double>(bytes); break;
    case 1: ozbound::fuzz::call<float>(bytes); break;
    case 2: ozbound::fuzz::call<std::complex<double>>(bytes); break;
    default: ozbound::fuzz::call<std::complex<float>>(bytes); break;
  }
  return 0;
}
