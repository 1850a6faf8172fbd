// ozbound_vectors write|check FILE: the conformance vectors. One line each: problem, plan, alpha, beta, checksum of C's bits.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound {
namespace {

constexpr const char* plans[] = {"balanced:7x7:cut=8:exact",          "balanced:3x9:cut=10:exact",
                                 "balanced:20x20:full:exact",         "truncated7:8x8:cut=9:per_product",
                                 "truncated4:5x6:full:exact",         "nearest7:8x7:cut=9:per_diagonal",
                                 "truncated7,nearest7:8x9:full:exact", "nearest3:4x4:cut=6:per_product"};

struct Scalar {
  double alpha, beta;
};
constexpr Scalar scalars[] = {{1, 0}, {-0x1.8p-10, 0x1.5555555555555p0}};

/// FNV-1a over the 64-bit patterns of C, row by row.
template <class T>
std::uint64_t checksum(const Matrix<T>& c) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) hash = (hash ^ bits_of(c(i, j))) * 0x100000001b3;
  return hash;
}

template <class T>
std::uint64_t product_checksum(const Problem& problem, const SplitPlan& plan, Scalar scalar) {
  Matrix<T> c(problem.a.rows(), problem.b.cols());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) c(i, j) = static_cast<T>(problem.a(i, j % problem.a.cols()));
  gemm({problem.a, problem.b, c, scalar.alpha, scalar.beta, c}, plan, CpuEngine());
  return checksum(c);
}

std::vector<std::string> vectors() {
  std::vector<std::string> lines;
  for (const auto family : all_families()) {
    const auto problem = generate({.family = family, .m = 13, .n = 13, .k = 13, .phi = 2, .seed = 20});
    for (const auto* const spec : plans)
      for (const auto& scalar : scalars) {
        const auto plan = parse_plan(spec);
        char text[256];
        std::snprintf(text, sizeof text, "%s 13 13 13 2 20 %s %a %a binary64 %016llx binary32 %016llx", std::string(name(family)).c_str(),
                      to_string(plan).c_str(), scalar.alpha, scalar.beta,
                      static_cast<unsigned long long>(product_checksum<double>(problem, plan, scalar)),
                      static_cast<unsigned long long>(product_checksum<float>(problem, plan, scalar)));
        lines.emplace_back(text);
      }
  }
  return lines;
}

constexpr const char* heading = "# family m n k phi seed plan alpha beta, then FNV-1a of C's bits by format; C0 is A, wrapped";

int write(const char* path) {
  std::ofstream out(path);
  out << heading << '\n';
  for (const auto& line : vectors()) out << line << '\n';
  return out.flush() ? 0 : 1;
}

int check(const char* path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || line != heading) {
    std::cerr << path << " is missing or has another heading\n";
    return 1;
  }
  int wrong = 0;
  const auto expected = vectors();
  for (const auto& vector : expected)
    if (!std::getline(in, line) || line != vector) {
      std::cerr << "expected " << line << "\n     got " << vector << '\n';
      ++wrong;
    }
  if (std::getline(in, line)) ++wrong;
  std::cout << expected.size() << " vectors, " << wrong << " differ\n";
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ozbound

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  if (mode == "write") return ozbound::write(argv[2]);
  if (mode == "check") return ozbound::check(argv[2]);
  std::cerr << "usage: ozbound_vectors write|check FILE\n";
  return 2;
}
