// SPDX-License-Identifier: BSD-3-Clause
#include "front/batches.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#ifdef OZBOUND_HAVE_CUDART
#include <cuda_runtime_api.h>
#endif

#include "front/outcome.hpp"
#include "mirror/section.hpp"
#include "ozbound/batch.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/cost_model.hpp"

namespace ozbound::mirror {
namespace {

/// Elements in host memory, or copied to device memory.
template <class T>
class Elements {
 public:
  Elements(std::vector<T> values, bool on_device) : host_(std::move(values)), on_device_(on_device) {
#ifdef OZBOUND_HAVE_CUDART
    if (!on_device_) return;
    check(cudaMalloc(&data_, bytes()));
    check(cudaMemcpy(data_, host_.data(), bytes(), cudaMemcpyHostToDevice));
#endif
  }
#ifdef OZBOUND_HAVE_CUDART
  ~Elements() { cudaFree(data_); }
#else
  ~Elements() = default;
#endif
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  [[nodiscard]] T* data() { return on_device_ ? static_cast<T*>(data_) : host_.data(); }

  /// The bytes of all elements.
  [[nodiscard]] std::string fetched() {
#ifdef OZBOUND_HAVE_CUDART
    if (on_device_) check(cudaMemcpy(host_.data(), data_, bytes(), cudaMemcpyDeviceToHost));
#endif
    std::string text(bytes(), '\0');
    std::memcpy(text.data(), host_.data(), bytes());
    return text;
  }

 private:
#ifdef OZBOUND_HAVE_CUDART
  static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  }
#endif
  [[nodiscard]] std::size_t bytes() const { return host_.size() * sizeof(T); }

  std::vector<T> host_;
  bool on_device_;
  void* data_ = nullptr;
};

template <class T>
T number(double real, double imaginary) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(real);
  else
    return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
}

const ProductCount counted;

/// 5 products: the first and the last share A, three share B, one is empty, and one reads neither operand.
template <class T>
struct Case {
  static constexpr Index count = 5;
  std::vector<T> operands, results;
  T alpha;
  Target target;

  Case(std::uint64_t seed, T scale, const Target& wanted) : operands(4000), results(2000), alpha(scale), target(wanted) {
    std::mt19937_64 random(seed);
    const auto draw = [&random] {
      return std::ldexp(static_cast<double>(random() >> 11), -53) * std::ldexp(1.0, -static_cast<int>(random() % 30));
    };
    for (auto* values : {&operands, &results})
      for (T& x : *values) {
        const double real = draw();
        x = number<T>(real, -draw());
      }
  }

  /// All visible results of a batch.
  std::string run(const Machine& machine, bool on_device, bool pointers) const {
    Elements<T> a(operands, on_device), c(results, on_device);
    const BlasOptions options{
        .native = false, .costs = &counted, .machine = &machine, .place = on_device ? on_cuda_device(0) : in_host_memory};
    std::string text;
    const auto carry_out = [&](const auto& decide, const auto& multiply) {
      try {
        const std::vector<Decision> decisions = decide();
        for (const auto& decision : decisions) text += common_decision(to_json(decision)) + '\n';
        for (const auto& certificate : multiply(decisions)) text += common_certificate(to_json(certificate)) + '\n';
        text += c.fetched();
        for (const auto& certificate : multiply(target)) text += common_certificate(to_json(certificate)) + '\n';
      } catch (const std::invalid_argument& e) {
        text += e.what();
      }
    };
    if (pointers) {
      const std::vector<const T*> as{a.data(), a.data() + 700, a.data() + 1500, nullptr, a.data()};
      const std::vector<const T*> bs{a.data() + 2000, a.data() + 2000, a.data() + 2700, nullptr, a.data() + 2000};
      const std::vector<T*> cs{c.data() + 900, c.data() + 500, c.data() + 1, c.data() + 1400, c.data() + 1800};
      const std::vector<Index> m{9, 13, 0, 4, 9}, n{11, 11, 5, 6, 7}, k{21, 21, 3, 8, 21};
      const std::vector<T> scalars{alpha, T{1}, T{1}, T{0}, alpha}, kept{T{0}, T{1}, T{1}, alpha, T{1}};
      const GemmBatch<T> batch{
          Layout::column_major, Op::none, Op::transpose, m, n, k, scalars, as, 30, bs, 30, kept, cs, 15, count};
      carry_out([&] { return decide_batched(batch, target, options); },
                [&](const auto& choice) { return gemm_batched(batch, choice, options); });
    } else {
      const auto pass = [&](const auto& call, const auto& choice) {
        return call(Layout::row_major, Op::conjugate_transpose, Op::none, Index{9}, Index{11}, Index{21}, alpha,
                    static_cast<const T*>(a.data()), Index{12}, Index{0}, static_cast<const T*>(a.data() + 1000), Index{12},
                    Index{300}, T{1}, c.data(), Index{15}, Index{200}, count, choice, options);
      };
      carry_out(
          [&] { return pass([](const auto&... all) { return decide_strided_batched(all...); }, target); },
          [&](const auto& choice) { return pass([](const auto&... all) { return gemm_strided_batched(all...); }, choice); });
    }
    return text + c.fetched();
  }

  /// The results if complex scalars meet matrices of a device: a refusal, and C unchanged.
  [[nodiscard]] std::string refusal() const {
    return "product 0: a, b and c must lie in the host's memory where alpha or beta has an imaginary part" +
           Elements<T>(results, false).fetched();
  }
};

template <class T>
void compare_kind(Section& section, const char* name, const Machine& cpu, const Machine& device, bool device_memory,
                  bool pointers) {
  std::uint64_t seed = 0;
  for (const auto* target : {"dgemm", "componentwise:1e-5", "cr"})
    for (const T alpha : {T{1}, number<T>(-0.375, 0), number<T>(2, 0.5)}) {
      const Case<T> of(++seed, alpha, parse_target(target));
      const auto expected = of.run(cpu, false, pointers);
      const auto describe = [&](const char* where, const std::string& actual) {
        return std::string(name) + (pointers ? " by pointers, " : " strided, ") + target + ", alpha " +
               std::to_string(seed % 3) + ", " + where + ":\n    " + expected.substr(0, 300) + "\n    " + actual.substr(0, 300);
      };
      const auto in_host = of.run(device, false, pointers);
      section.expect(in_host == expected, [&] { return describe("matrices of the host", in_host); });
      if (!device_memory) continue;
      const auto there = of.run(device, true, pointers);
      section.expect(there == (std::imag(alpha) == 0 ? expected : of.refusal()),
                     [&] { return describe("matrices of the device", there); });
    }
}

}  // namespace

bool compare_batches(const Machine& cpu, const Machine& device, bool device_memory) {
  bool good = true;
  for (const bool pointers : {false, true}) {
    Section section(pointers ? "batches by pointers" : "strided batches");
    compare_kind<double>(section, "double", cpu, device, device_memory, pointers);
    compare_kind<float>(section, "float", cpu, device, device_memory, pointers);
    compare_kind<std::complex<double>>(section, "complex<double>", cpu, device, device_memory, pointers);
    compare_kind<std::complex<float>>(section, "complex<float>", cpu, device, device_memory, pointers);
    good = section.report() && good;
  }
  return good;
}

}  // namespace ozbound::mirror
