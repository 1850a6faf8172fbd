// SPDX-License-Identifier: BSD-3-Clause
#include "snippet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "same_bits.hpp"

namespace ozbound::grading {
namespace {

/// One call and its data.
struct Case {
  Matrix<double> a, b, c0;
  double alpha = 1, beta = 0;
  Storage storage;
  bool b_is_a = false;

  [[nodiscard]] Operands operands() const { return {a.view(), b.view(), alpha, beta, c0.view()}; }
  [[nodiscard]] Index elements() const { return a.rows() * a.cols() + b.rows() * b.cols() + c0.rows() * c0.cols(); }
};

Matrix<double> copy_of(MatrixView<const double> view) {
  Matrix<double> copy(view.rows(), view.cols());
  for (Index i = 0; i < view.rows(); ++i)
    for (Index j = 0; j < view.cols(); ++j) copy(i, j) = view(i, j);
  return copy;
}

Case case_of(const Operands& in, const Storage& storage, bool b_is_a) {
  const bool has_c0 = !in.c0.empty();
  return {copy_of(in.a), copy_of(in.b), has_c0 ? copy_of(in.c0) : Matrix<double>(in.a.rows(), in.b.cols()), in.alpha, in.beta,
          storage,       b_is_a};
}

/// Rows, columns and terms of a case.
struct Ranges {
  Index i = 0, m = 0, j = 0, n = 0, l = 0, k = 0;
};

Case part_of(const Case& whole, const Ranges& part) {
  auto smaller = whole;
  smaller.a = copy_of(whole.a.view().block(part.i, part.l, part.m, part.k));
  smaller.b = copy_of(whole.b.view().block(part.l, part.j, part.k, part.n));
  smaller.c0 = copy_of(whole.c0.view().block(part.i, part.j, part.m, part.n));
  return smaller;
}

// C source

std::string literal(double x) {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x > 0 ? "INFINITY" : "-INFINITY";
  return x == std::floor(x) && std::abs(x) < 1000 && !(x == 0 && std::signbit(x)) ? fmt::format("{:.0f}.", x) : hex_text(x);
}

/// The text as lines of a comment.
std::string commented(const std::string& text) {
  std::string out = text;
  for (std::size_t at = 0; (at = out.find("*/", at)) != std::string::npos;) out.replace(at, 2, "* /");
  return out;
}

/// A string literal of C.
std::string c_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

/// The number of threads of this process.
std::string threads() {
  const char* const count = std::getenv("OMP_NUM_THREADS");  // NOLINT(concurrency-mt-unsafe): nothing here changes it
  return count == nullptr ? "1" : count;
}

/// The beginning of a program: how to build and run it, and its includes.
std::string preface(const std::string& test, const std::string& link) {
  return commented(fmt::format("/* {}: ends with 1 if the fault is there, with 0 if not.\n"
                               " *   cc -D_GNU_SOURCE fault.c -o fault {} -lm && OMP_NUM_THREADS={} ./fault; echo $?",
                               test, link, threads())) +
         " */\n"
         "#include <dlfcn.h>\n#include <fenv.h>\n#include <math.h>\n#include <signal.h>\n#include <stdint.h>\n"
         "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\n";
}

/// The beginning of a program that loads the library itself.
std::string loading_preface(const std::string& test) { return preface(test, "-ldl"); }

/// The beginning of a program that is linked with the library, and the symbol's declaration.
std::string linked_preface(const GemmSymbol& symbol, const std::string& test) {
  constexpr const char* integers =
      "/* Integers of 64 bits: a library whose integers have 32 reads their low halves on x86-64 and AArch64. */\n";
  const auto text = preface(test, "'" + symbol.file + "'") + integers;
  if (symbol.is_cblas())
    return text +
           fmt::format(
               "void {}(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha,\n"
               "    const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);\n\n",
               symbol.symbol);
  return text + fmt::format(
                    "void {}(const char *op_a, const char *op_b, const int64_t *m, const int64_t *n, const int64_t *k,\n"
                    "    const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,\n"
                    "    const double *beta, double *c, const int64_t *ldc, size_t, size_t);\n\n",
                    symbol.symbol);
}

/// A function call() that makes the call on a, b and c.
std::string call_function(const GemmSymbol& symbol, const BlasCall& call) {
  std::string body;
  if (symbol.is_cblas()) {
    const bool conjugate = call.spelling == OpSpelling::conjugate || call.spelling == OpSpelling::lower_case_conjugate;
    const auto op = [conjugate](bool transpose) { return !transpose ? 111 : conjugate ? 113 : 112; };
    body = fmt::format("  {}({}, {}, {}, {}, {}, {}, {}, a, {}, b, {}, {}, c, {});\n", symbol.symbol,
                       call.row_major ? 101 : 102, op(call.transpose_a), op(call.transpose_b), call.m, call.n, call.k,
                       literal(call.alpha), call.lda, call.ldb, literal(call.beta), call.ldc);
  } else {
    body = fmt::format(
        "  const int64_t m = {}, n = {}, k = {}, lda = {}, ldb = {}, ldc = {};\n  const double alpha = {}, beta = {};\n"
        "  {}(\"{}\", \"{}\", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);\n",
        call.m, call.n, call.k, call.lda, call.ldb, call.ldc, literal(call.alpha), literal(call.beta), symbol.symbol,
        op_letter(call.transpose_a, call.spelling), op_letter(call.transpose_b, call.spelling));
  }
  return "static void call(const double *a, const double *b, double *c) {\n" + body + "}\n\n";
}

/// An array with the elements of a matrix at their places, and zeros between them.
std::string array(const char* name, const StoredMatrix& matrix) {
  std::string text = fmt::format("static double {}[{}] = {{", name, std::max<std::size_t>(1, matrix.extent()));
  for (std::size_t t = 0; t < matrix.extent(); ++t)
    text += (t % 6 == 0 ? "\n  " : " ") +
            (matrix.is_element(static_cast<std::ptrdiff_t>(t)) ? literal(matrix.data()[t]) : "0") + ",";
  return text + "};\n";
}

std::string arrays(const StoredCall& call) { return array("a", call.a) + array("b", call.b) + array("c", call.c) + "\n"; }

/// The index of an entry of C in its array.
Index place(const BlasCall& call, Index i, Index j) { return call.row_major ? i * call.ldc + j : i + j * call.ldc; }

/// The part of a program that shows the fault of a case.
struct Shown {
  std::string body;      ///< statements of main()
  Index i = -1, j = -1;  ///< the entry that shows the fault, if any
};

/// Empty if a case does not show the fault.
using Symptom = std::function<std::optional<Shown>(const Case&)>;

// Making cases small

/// Searches for smaller cases that still show the fault of a case.
class Shrinking {
 public:
  Shrinking(Case whole, Shown shown, const Symptom& symptom)
      : case_(std::move(whole)), shown_(std::move(shown)), symptom_(symptom) {}

  /// Tries plain storage, then the entry alone, then halves and smaller parts of rows, columns and terms, within the limit of
  /// work.
  void run() {
    auto plain = case_;
    plain.storage = {};
    try_case(std::move(plain));
    if (case_.b_is_a) return;
    if (shown_.i >= 0) try_part({shown_.i, 1, shown_.j, 1, 0, case_.a.cols()});
    while (cut(&Ranges::i, &Ranges::m) || cut(&Ranges::j, &Ranges::n) || cut(&Ranges::l, &Ranges::k)) {
    }
  }

  [[nodiscard]] const Case& smallest() const { return case_; }
  [[nodiscard]] const Shown& shown() const { return shown_; }

 private:
  /// Tries to keep only a part of the rows, columns or terms that still shows the fault.
  bool cut(Index Ranges::* first, Index Ranges::* size) {
    const Ranges all{0, case_.a.rows(), 0, case_.b.cols(), 0, case_.a.cols()};
    constexpr Index most_parts = 8;
    for (Index parts = 2; parts <= std::min(most_parts, all.*size); parts *= 2)
      for (Index part = 0; part < parts; ++part) {
        auto ranges = all;
        ranges.*first = all.*size * part / parts;
        ranges.*size = all.*size * (part + 1) / parts - ranges.*first;
        if (try_part(ranges)) return true;
      }
    return false;
  }

  bool try_part(const Ranges& ranges) { return try_case(part_of(case_, ranges)); }

  bool try_case(Case candidate) {
    work_ -= static_cast<double>(candidate.a.rows()) * static_cast<double>(candidate.b.cols()) *
             static_cast<double>(candidate.a.cols() + 1);
    if (work_ < 0) return false;
    auto shown = symptom_(candidate);
    if (!shown) return false;
    case_ = std::move(candidate), shown_ = *std::move(shown);
    return true;
  }

  Case case_;
  Shown shown_;
  const Symptom& symptom_;
  double work_ = 0x1p28;  ///< remaining work in products of elements: about a second
};

std::string program(const ForeignGemm& gemm, const std::string& test, const Case& whole, const Symptom& symptom) {
  auto shown = symptom(whole);
  if (!shown) return "";
  Shrinking shrinking(whole, *std::move(shown), symptom);
  shrinking.run();
  const auto& smallest = shrinking.smallest();
  if (smallest.elements() > most_elements) return "";
  const StoredCall call(smallest.operands(), smallest.storage);
  return linked_preface(gemm.where(), test) + arrays(call) + call_function(gemm.where(), call.call()) + "int main(void) {\n" +
         shrinking.shown().body + "}\n";
}

Matrix<double> run(const ForeignGemm& gemm, const Case& one) {
  StoredCall stored(one.operands(), one.storage);
  auto call = stored.call();
  if (one.b_is_a) call.b = call.a;
  gemm.dgemm(call);
  return stored.result();
}

/// Half of the distance from a double to the next.
double half_ulp(double x) {
  return std::isfinite(x) ? (std::nextafter(std::abs(x), std::numeric_limits<double>::infinity()) - std::abs(x)) / 2 : 0;
}

/// Compares as the program does.
bool is_wrong(double computed, double exact, double bound) {
  return !(std::isnan(exact) ? std::isnan(computed) : computed == exact || std::abs(computed - exact) <= bound);
}

std::optional<Shown> wrong_entry(const ForeignGemm& gemm, const Case& one, Judged how) {
  const auto judged = judge_conventional(run(gemm, one), ExactOracle(one.operands()));
  Index i = judged.row, j = judged.col;
  double computed = judged.computed, exact = judged.exact, bound = to_double_upper(judged.bound);
  if (judged.holds()) {
    if (how != Judged::finite || judged.overflowed == 0) return std::nullopt;
    const auto& first = judged.first_overflowed;
    i = first.row, j = first.col, computed = first.computed, exact = first.exact, bound = 0;
  }
  bound += half_ulp(exact);  // `exact` is rounded
  if (i < 0 || !is_wrong(computed, exact, bound)) return std::nullopt;
  const StoredCall call(one.operands(), one.storage);
  auto body = fmt::format(
      "  call(a, {}, c);\n"
      "  fesetenv(FE_DFL_ENV); /* the comparison keeps subnormal numbers, whatever the library does */\n"
      "  const double computed = c[{}], exact = {}, bound = {};\n"
      "  printf(\"C({}, {}) is %a, exactly %a; it may be wrong by %a\\n\", computed, exact, bound);\n"
      "  return !(isnan(exact) ? isnan(computed) : computed == exact || fabs(computed - exact) <= bound);\n",
      one.b_is_a ? "a" : "b", place(call.call(), i, j), literal(exact), literal(bound), i, j);
  return Shown{std::move(body), i, j};
}

std::optional<Shown> foreign_write(const ForeignGemm& gemm, const Case& one) {
  StoredCall call(one.operands(), one.storage);
  const auto a = call.a, b = call.b;
  call.run(gemm);
  const bool wrong = call.c.overwritten_canary() || call.a.first_difference(a) || call.b.first_difference(b);
  if (!wrong) return std::nullopt;
  const auto& made = call.call();
  // Elements of C have an index below the length of their line, in the first lines.
  const Index length = made.row_major ? made.n : made.m, lines = made.row_major ? made.m : made.n;
  return Shown{fmt::format(
      "  enum {{ guard = 64, size = {} + 2 * guard }};\n"
      "  static double memory[3][size], before[3][size];\n"
      "  for (int t = 0; t < size; ++t) memory[0][t] = memory[1][t] = memory[2][t] = 0x1.23456789abcdep300;\n"
      "  memcpy(memory[0] + guard, a, sizeof a), memcpy(memory[1] + guard, b, sizeof b), memcpy(memory[2] + guard, c, sizeof "
      "c);\n"
      "  memcpy(before, memory, sizeof memory);\n"
      "  call(memory[0] + guard, memory[1] + guard, memory[2] + guard);\n"
      "  for (int x = 0; x < 3; ++x)\n"
      "    for (int64_t t = -guard; t < size - guard; ++t) {{\n"
      "      const int element = x == 2 && t >= 0 && t % {} < {} && t / {} < {};\n"
      "      if (element || memcmp(&memory[x][t + guard], &before[x][t + guard], sizeof(double)) == 0) continue;\n"
      "      printf(\"element %ld of %c, counted from the first, is written\\n\", (long)t, \"ABC\"[x]);\n"
      "      return 1;\n"
      "    }}\n"
      "  return 0;\n",
      std::max({call.a.extent(), call.b.extent(), call.c.extent()}), made.ldc, length, made.ldc, lines)};
}

std::optional<Shown> other_bits(const ForeignGemm& gemm, const Case& one) {
  constexpr int runs = 100;
  const auto first = run(gemm, one);
  bool same = true;
  for (int t = 0; t < runs && same; ++t) same = !first_difference(first, run(gemm, one));
  if (same) return std::nullopt;
  return Shown{
      fmt::format("  static double first[sizeof c / sizeof *c], again[sizeof c / sizeof *c];\n"
                  "  memcpy(first, c, sizeof c);\n"
                  "  call(a, b, first);\n"
                  "  for (int run = 2; run <= 10 * {}; ++run) {{\n"
                  "    memcpy(again, c, sizeof c);\n"
                  "    call(a, b, again);\n"
                  "    if (memcmp(first, again, sizeof c) == 0) continue;\n"
                  "    printf(\"run %d has other bits than the first\\n\", run);\n"
                  "    return 1;\n"
                  "  }}\n"
                  "  return 0;\n",
                  runs)};
}

/// The number of elements from the first to the last of a matrix with so many lines.
Index extent(Index lines, Index length, Index ld) { return lines == 0 || length == 0 ? 0 : (lines - 1) * ld + length; }

struct Extents {
  Index a, b, c;
};

Extents extents_of(const BlasCall& call) {
  const auto of = [&](Index rows, Index cols, bool transposed, Index ld) {
    if (transposed) std::swap(rows, cols);
    return call.row_major ? extent(rows, cols, ld) : extent(cols, rows, ld);
  };
  return {of(call.m, call.k, call.transpose_a, call.lda), of(call.k, call.n, call.transpose_b, call.ldb),
          of(call.m, call.n, false, call.ldc)};
}

constexpr const char* numbers =
    "/* Other data than those of the grade. */\n"
    "static double *numbers(size_t count) {\n"
    "  double *x = malloc((count + 1) * sizeof(double));\n"
    "  for (size_t t = 0; t < count; ++t) x[t] = (double)(t * 7919 % 1009) / 1009 - 0.5;\n"
    "  return x;\n"
    "}\n\n";

/// Makes the program end with 1 if it ends before `returned` is set, or does not end within a minute.
constexpr const char* watched =
    "static int returned;\n"
    "static void fault(int signal) { _exit(signal != 0); }\n"
    "static void at_end(void) { if (!returned) _exit(1); }\n"
    "static void watch(void) {\n"
    "  const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};\n"
    "  for (int t = 0; t < 6; ++t) signal(signals[t], fault);\n"
    "  atexit(at_end);\n"
    "  alarm(60);\n"
    "}\n\n";

}  // namespace

std::string entry_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage,
                          Judged judged, bool b_is_a) {
  return program(gemm, test, case_of(in, storage, b_is_a), [&](const Case& one) { return wrong_entry(gemm, one, judged); });
}

std::string memory_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage) {
  return program(gemm, test, case_of(in, storage, false), [&](const Case& one) { return foreign_write(gemm, one); });
}

std::string repetition_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage) {
  return program(gemm, test, case_of(in, storage, false), [&](const Case& one) { return other_bits(gemm, one); });
}

std::string guarded_snippet(const ForeignGemm& gemm, const std::string& test, const BlasCall& sizes, bool at_end) {
  const auto [a, b, c] = extents_of(sizes);
  return linked_preface(gemm.where(), test) + call_function(gemm.where(), sizes) +
         fmt::format(
             "static void fault(int signal) {{ _exit(signal != 0); }}\n\n"
             "/* So many ones between pages that may not be touched. */\n"
             "static double *guarded(size_t count, int writable) {{\n"
             "  const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (count * sizeof(double) + page - 1) / page * page;\n"
             "  char *pages = mmap(NULL, used + 32 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
             "  double *first = (double *)(pages + 16 * page{};\n"
             "  for (size_t t = 0; t < count; ++t) first[t] = 1;\n"
             "  mprotect(pages, 16 * page, PROT_NONE), mprotect(pages + 16 * page + used, 16 * page, PROT_NONE);\n"
             "  if (!writable) mprotect(pages + 16 * page, used, PROT_READ);\n"
             "  return first;\n"
             "}}\n\n"
             "int main(void) {{\n"
             "  double *a = guarded({}, 0), *b = guarded({}, 0), *c = guarded({}, 1);\n"
             "  signal(SIGSEGV, fault), signal(SIGBUS, fault);\n"
             "  call(a, b, c);\n"
             "  return 0;\n"
             "}}\n",
             at_end ? " + used) - count" : ")", a, b, c);
}

std::string return_snippet(const GemmSymbol& symbol, const std::string& test, const BlasCall& sizes) {
  const auto [a, b, c] = extents_of(sizes);
  return linked_preface(symbol, test) + call_function(symbol, sizes) + numbers + watched +
         fmt::format(
             "int main(void) {{\n"
             "  watch();\n"
             "  call(numbers({}), numbers({}), numbers({}));\n"
             "  returned = 1;\n"
             "  return 0;\n"
             "}}\n",
             a, b, c);
}

std::string loading_snippet(const GemmSymbol& symbol, const std::string& test) {
  return loading_preface(test) + watched +
         fmt::format(
             "/* Of the first symbol that it has. */\n"
             "static void call(void *library) {{\n"
             "  const char *const names[] = {{{}\"cblas_dgemm\", \"dgemm_\", \"cblas_dgemm64_\", \"dgemm_64_\"}};\n"
             "  const double x = 1;\n"
             "  const int64_t n = 1;\n"
             "  double c = 0;\n"
             "  for (size_t t = 0; t < sizeof names / sizeof *names; ++t) {{\n"
             "    void *const function = dlsym(library, names[t]);\n"
             "    if (function == NULL) continue;\n"
             "    if (strncmp(names[t], \"cblas_\", 6) == 0)\n"
             "      ((void (*)(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *, "
             "int64_t,\n"
             "                 double, double *, int64_t))function)(102, 111, 111, 1, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1);\n"
             "    else\n"
             "      ((void (*)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, const double *,\n"
             "                 const double *, const int64_t *, const double *, const int64_t *, const double *, double *,\n"
             "                 const int64_t *, size_t, size_t))function)(\"N\", \"N\", &n, &n, &n, &x, &x, &n, &x, &n, &c, "
             "&c, &n, 1, 1);\n"
             "    return;\n"
             "  }}\n"
             "}}\n\n"
             "int main(void) {{\n"
             "  watch();\n"
             "  void *const library = dlopen({}, RTLD_NOW | RTLD_LOCAL);\n"
             "  if (library == NULL) fputs(dlerror(), stderr);\n"
             "  if (library != NULL) call(library);\n"
             "  returned = 1;\n"
             "  return library == NULL ? 2 : 0;\n"
             "}}\n",
             symbol.symbol.empty() ? "" : c_string(symbol.symbol) + ", ", c_string(symbol.file));
}

std::string environment_snippet(const GemmSymbol& symbol, const std::string& test, const std::string& change) {
  constexpr std::string_view after = "after ";
  const auto call = change.starts_with(after) ? described_call(change.substr(after.size())) : std::nullopt;
  constexpr const char* control =
      "/* Rounding, subnormal numbers, precision and traps; not the flags. */\n"
      "static unsigned long control(void) {\n"
      "  fenv_t now;\n"
      "  fegetenv(&now);\n"
      "#if defined(__x86_64__)\n"
      "  return (now.__mxcsr & 0xffc0ul) << 16 | (now.__control_word & 0xf3fu);\n"
      "#elif defined(__aarch64__)\n"
      "  return now.__fpcr;\n"
      "#else\n"
      "  return (unsigned long)fegetround();\n"
      "#endif\n"
      "}\n\n";
  std::string work;
  if (call) {
    const auto [a, b, c] = extents_of(*call);
    work = fmt::format(
        "  double *const a = numbers({}), *const b = numbers({}), *const c = numbers({});\n"
        "  const unsigned long before = control();\n  call(a, b, c);\n",
        a, b, c);
  } else {
    work = fmt::format(
        "  const unsigned long before = control();\n"
        "  if (dlopen({}, RTLD_NOW | RTLD_LOCAL) == NULL) return fputs(dlerror(), stderr), 2;\n",
        c_string(symbol.file));
  }
  return (call ? linked_preface(symbol, test) : loading_preface(test)) + control +
         (call ? call_function(symbol, *call) + numbers : "") + "int main(void) {\n" + work +
         "  const unsigned long after = control();\n"
         "  printf(\"%#lx before, %#lx after\\n\", before, after);\n"
         "  return before != after;\n}\n";
}

std::optional<BlasCall> described_call(const std::string& text) {
  BlasCall call;
  char op_a = 0, op_b = 0;
  constexpr std::string_view by_rows = "row-major ";
  call.row_major = text.starts_with(by_rows);
  const char* const from = text.c_str() + (call.row_major ? by_rows.size() : 0);
  const int read = std::sscanf(from, "dgemm(%c%c, %td x %td x %td, alpha=%la, lda=%td, ldb=%td, beta=%la, ldc=%td)", &op_a,
                               &op_b, &call.m, &call.n, &call.k, &call.alpha, &call.lda, &call.ldb, &call.beta, &call.ldc);
  if (read != 10) return std::nullopt;
  for (const auto spelling :
       {OpSpelling::usual, OpSpelling::lower_case, OpSpelling::conjugate, OpSpelling::lower_case_conjugate})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        if (op_letter(a, spelling) == op_a && op_letter(b, spelling) == op_b) {
          call.transpose_a = a, call.transpose_b = b, call.spelling = spelling;
          return call;
        }
  return std::nullopt;
}

}  // namespace ozbound::grading
