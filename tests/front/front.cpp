// SPDX-License-Identifier: BSD-3-Clause
// One product requested in C++, C, Fortran and by the command, on the CPU and on the first device of the available CUDA
// plug-in: the same C, decision and certificate, bit for bit. The same holds for batches.
//
// Usage: front COMMAND [host]; with `host`, matrices are only in host memory. Exits with 0 if all agree, 1 if some do not, 77
// without a device, 2 for bad arguments.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef OZBOUND_HAVE_CUDART
#include <cuda_runtime_api.h>
#endif

#include "front/batches.hpp"
#include "front/outcome.hpp"
#include "mirror/section.hpp"
#include "ozbound.h"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/in_stream.hpp"
#include "ozbound/machine.hpp"
#include "ozbound/verify/problem.hpp"
#include "support/temporary_directory.hpp"

#ifdef OZBOUND_HAVE_FORTRAN
extern "C" int front_fortran(ozb_machine* machine, int place, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                             const double* a, const double* b, double beta, double* c, const char* target,
                             ozb_decision** decision, ozb_certificate** certificate);
#endif

namespace ozbound::mirror {
namespace {

using test::read_bytes;
using test::TemporaryDirectory;

/// C = alpha A B + beta C0 with a target.
struct Case {
  Matrix<double> a, b, c0;
  double alpha, beta;
  Target target;
  std::string name;
};

/// The results of a product without the members that may differ: the backend, and the assumption made to find the worst entry.
struct Outcome {
  std::vector<std::uint64_t> c;
  std::string decision, certificate;

  bool operator==(const Outcome&) const = default;
};

std::vector<std::uint64_t> bits_of(const Matrix<double>& c) {
  std::vector<std::uint64_t> bits;
  for (Index t = 0; t < c.rows() * c.cols(); ++t) bits.push_back(std::bit_cast<std::uint64_t>(c.data()[t]));
  return bits;
}

/// Elements in host memory or in a device's.
class Memory {
 public:
  explicit Memory(const Matrix<double>& x, bool on_device) : rows_(x.rows()), cols_(x.cols()), on_device_(on_device), host_(x) {
#ifdef OZBOUND_HAVE_CUDART
    if (!on_device_) return;
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes(), 1)));
    check(cudaMemcpy(data_, x.data(), bytes(), cudaMemcpyHostToDevice));
#endif
  }
#ifdef OZBOUND_HAVE_CUDART
  ~Memory() { cudaFree(data_); }
#else
  ~Memory() = default;
#endif
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] double* data() { return on_device_ ? static_cast<double*>(data_) : host_.data(); }
  [[nodiscard]] OutputView view() {
    return OutputView(MatrixView<double>(data(), rows_, cols_, cols_, 1)).at(on_device_ ? Place{0} : in_host_memory);
  }
  [[nodiscard]] Matrix<double> fetched() const {
#ifdef OZBOUND_HAVE_CUDART
    if (on_device_) {
      Matrix<double> copy(rows_, cols_);
      check(cudaMemcpy(copy.data(), data_, bytes(), cudaMemcpyDeviceToHost));
      return copy;
    }
#endif
    return host_;
  }

  static bool is_hopper() {
#ifdef OZBOUND_HAVE_CUDART
    int major = 0;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess && major == 9;
#else
    return false;
#endif
  }
  static bool has_device() {
#ifdef OZBOUND_HAVE_CUDART
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
#else
    return false;
#endif
  }

 private:
#ifdef OZBOUND_HAVE_CUDART
  static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  }
#endif
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(rows_ * cols_) * sizeof(double); }

  Index rows_, cols_;
  bool on_device_;
  Matrix<double> host_;
  void* data_ = nullptr;
};

/// The operands of a case, with C in place of C0.
struct Placed {
  Placed(const Case& of, bool on_device) : a(of.a, on_device), b(of.b, on_device), c(of.c0, on_device) {}

  Memory a, b, c;
};

const ProductCount counted;

/// Choices that every machine decides alike: by the count of products.
Choices by_products() {
  Choices choices;
  choices.native = false;
  choices.costs = &counted;
  return choices;
}

Outcome from_cpp(const Case& of, const Machine& machine, bool on_device) {
  Placed placed(of, on_device);
  const Product product{placed.a.view().as_input(), placed.b.view().as_input(), placed.c.view(), of.alpha, of.beta,
                        placed.c.view().as_input()};
  const auto [decision, certificate] = multiply(product, of.target, machine, by_products());
  return {bits_of(placed.c.fetched()), common_decision(to_json(decision)), common_certificate(to_json(certificate))};
}

#ifdef OZBOUND_HAVE_CUDART
/// The C and the certificate of a product in a stream, and those of `multiply` under the same decision.
std::pair<Outcome, Outcome> from_stream(const Case& of, const Machine& machine) {
  Placed there(of, true), again(of, true);
  const auto call = [&](Placed& placed) {
    return RealProduct{placed.a.view().as_input(), placed.b.view().as_input(), placed.c.view(), of.alpha, of.beta,
                       placed.c.view().as_input()};
  };
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) throw std::runtime_error("no stream");
  Multiplied found;
  {
    // Another product is dropped, and its workspace taken again, before its work is done.
    if (of.beta == 0) static_cast<void>(multiply_in_stream(call(there), of.target, machine, stream));
    auto product = multiply_in_stream(call(there), of.target, machine, stream);
    found = product.wait();
  }
  cudaStreamDestroy(stream);
  const auto expected = multiply(call(again), found.decision, machine);
  const std::string how = found.decision.reason.starts_with("chosen on the device") ? "chosen on the device" : "by the host";
  return {{bits_of(there.c.fetched()), how, common_certificate(to_json(found.certificate))},
          {bits_of(again.c.fetched()), how, common_certificate(to_json(expected))}};
}
#endif

void succeed(int status) {
  if (status != OZB_SUCCESS) throw std::runtime_error(ozb_last_error());
}

/// The records of a pair of handles; destroys the handles.
Outcome outcome_of(const Matrix<double>& c, ozb_decision* decision, ozb_certificate* certificate) {
  const char *decision_text = nullptr, *certificate_text = nullptr;
  succeed(ozb_decision_json(decision, &decision_text));
  succeed(ozb_certificate_json(certificate, &certificate_text));
  Outcome outcome{bits_of(c), common_decision(nlohmann::json::parse(decision_text)),
                  common_certificate(nlohmann::json::parse(certificate_text))};
  ozb_decision_destroy(decision);
  ozb_certificate_destroy(certificate);
  return outcome;
}

class CMachine {
 public:
  /// @param begins the beginning of the line about its first backend
  CMachine(int (*make)(int, ozb_machine**), const char* begins) {
    succeed(make(0, &machine_));
    const char* backends = nullptr;
    succeed(ozb_machine_backends(machine_, &backends));
    if (!std::string_view(backends).starts_with(begins)) throw std::runtime_error(std::string("a machine of ") + backends);
  }
  ~CMachine() { ozb_machine_destroy(machine_); }
  CMachine(const CMachine&) = delete;
  CMachine& operator=(const CMachine&) = delete;

  [[nodiscard]] ozb_machine* get() const { return machine_; }

 private:
  ozb_machine* machine_ = nullptr;
};

Outcome from_c(const Case& of, const CMachine& machine, bool on_device) {
  Placed placed(of, on_device);
  const auto m = of.a.rows(), n = of.b.cols(), k = of.a.cols();
  const auto target = to_string(of.target);
  ozb_decision* decision = nullptr;
  ozb_certificate* certificate = nullptr;
  succeed(ozb_set_machine(machine.get(), on_device ? 0 : OZB_HOST));
  succeed(ozb_decide_d(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, m, n, k, of.alpha, placed.a.data(), k, placed.b.data(), n, of.beta,
                       placed.c.data(), n, target.c_str(), OZB_NO_NATIVE + OZB_COUNT_PRODUCTS, &decision));
  succeed(ozb_dgemm_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, m, n, k, of.alpha, placed.a.data(), k, placed.b.data(), n,
                            of.beta, placed.c.data(), n, decision, 0, &certificate));
  succeed(ozb_set_machine(nullptr, OZB_HOST));
  return outcome_of(placed.c.fetched(), decision, certificate);
}

#ifdef OZBOUND_HAVE_FORTRAN
Outcome from_fortran(const Case& of, const CMachine& machine, bool on_device) {
  Placed placed(of, on_device);
  ozb_decision* decision = nullptr;
  ozb_certificate* certificate = nullptr;
  succeed(front_fortran(machine.get(), on_device ? 0 : OZB_HOST, of.a.rows(), of.b.cols(), of.a.cols(), of.alpha,
                        placed.a.data(), placed.b.data(), of.beta, placed.c.data(), to_string(of.target).c_str(), &decision,
                        &certificate));
  return outcome_of(placed.c.fetched(), decision, certificate);
}
#endif

std::string hexadecimal(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

/// The command uses costs in seconds, so it replays the decision of that machine.
Outcome from_command(const std::string& command, const Case& of, const Machine& machine) {
  const TemporaryDirectory folder;
  files::write_matrix(folder / "A.npy", of.a.view());
  files::write_matrix(folder / "B.npy", of.b.view());
  files::write_matrix(folder / "C0.npy", of.c0.view());
  auto c = of.c0;
  const auto decision = decide(Product{of.a, of.b, c, of.alpha, of.beta, InputView(of.c0)}, of.target, machine, by_products());
  test::write_bytes(folder / "decision.json", json_text(to_json(decision)));
  const auto in = [&](const char* name) { return " '" + (folder / name).string() + "'"; };
  const auto line = "'" + command + "' gemm" + in("A.npy") + in("B.npy") + " --c" + in("C0.npy") +
                    " --alpha=" + hexadecimal(of.alpha) + " --beta=" + hexadecimal(of.beta) + " --decision" +
                    in("decision.json") + " --verify none -o" + in("C.npy") + " --report" + in("report.json") + " >" +
                    in("out") + " 2>&1";
  if (std::system(line.c_str()) != 0)
    throw std::runtime_error(line + ": " + read_bytes(folder / "out"));  // NOLINT(*-mt-unsafe)
  const auto report = nlohmann::json::parse(read_bytes(folder / "report.json"));
  return {bits_of(files::read_matrix(folder / "C.npy").to_double()), common_decision(report.at("decision")),
          common_certificate(report.at("certificate"))};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::uint64_t seed = 0;
  const Index sizes[][3] = {{12, 13, 30}, {1, 1, 1}, {65, 3, 200}, {200, 150, 333}};
  for (const auto family : {Family::uniform, Family::wide_exponents, Family::cancellation, Family::full_range})
    for (const auto* text : {"dgemm", "dgemm-typical", "componentwise:1e-9", "normwise:1e-12", "relative:1e-9", "cr"}) {
      const auto& [m, n, k] = sizes[++seed % 4];
      auto problem = generate({family, m, n, k, 2, seed});
      Matrix<double> c0(m, n);
      for (Index t = 0; t < m * n; ++t) c0.data()[t] = std::ldexp(static_cast<double>(t % 7 - 3), static_cast<int>(t % 5) * 9);
      const bool scaled = seed % 3 == 0;
      all.push_back({std::move(problem.a), std::move(problem.b), std::move(c0), scaled ? -1.25 : 1, scaled ? 0.5 : 0,
                     parse_target(text), generate_command(problem.recipe) + ", " + text});
    }
  auto& special = all[1];
  special.a(1, 2) = std::numeric_limits<double>::quiet_NaN(), special.b(3, 1) = std::numeric_limits<double>::infinity();
  return all;
}

/// Names the part that differs and the position of the first difference.
std::string difference(const Outcome& expected, const Outcome& actual) {
  const auto from = [](const std::string& x, const std::string& y) {
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(x, y).in1 - x.begin());
    return at == x.size() ? std::string("the same") : "\n    " + x.substr(at, 120) + "\n    " + y.substr(at, 120);
  };
  return std::string("\n  C: ") + (expected.c == actual.c ? "the same" : "another") +
         "\n  decision: " + from(expected.decision, actual.decision) +
         "\n  certificate: " + from(expected.certificate, actual.certificate);
}

/// Removes the other candidates, which a replayed decision does not record.
Outcome replayed(Outcome outcome) {
  auto decision = nlohmann::json::parse(outcome.decision);
  decision["candidates"] = nlohmann::json::array();
  outcome.decision = decision.dump();
  return outcome;
}

bool compare(const std::string& command, bool host_alone) {
  const auto cpu = Machine::cpu(), cuda = Machine::cuda();
  const CMachine c_cpu(ozb_machine_cpu, "cpu\n"), c_cuda(ozb_machine_cuda, "cuda: ");
  std::vector<bool> places{false};
  if (!host_alone && Memory::has_device()) places.push_back(true);
  Section in_cpp("C++"), in_c("C"), in_fortran("Fortran"), by_command("command"), in_stream("streams");
  std::vector<Section*> sections{&in_cpp, &in_c, &by_command};
  int number = 0, decided_in_streams = 0;
  for (const auto& of : cases()) {
    const auto expected = from_cpp(of, cpu, false);
    const auto expect = [&](Section& section, const Outcome& wanted, const Outcome& actual, const char* where) {
      section.expect(actual == wanted, [&] { return of.name + ", " + where + difference(wanted, actual); });
    };
    expect(in_c, expected, from_c(of, c_cpu, false), "CPU");
    for (const bool on_device : places) {
      const auto* const where = on_device ? "device, its memory" : "device, host memory";
      expect(in_cpp, expected, from_cpp(of, cuda, on_device), where);
      expect(in_c, expected, from_c(of, c_cuda, on_device), where);
    }
#ifdef OZBOUND_HAVE_CUDART
    if (places.size() > 1) {
      const auto [actual, wanted] = from_stream(of, cuda);
      expect(in_stream, wanted, actual, "device, in a stream");
      decided_in_streams += actual.decision == "chosen on the device" ? 1 : 0;
    }
#endif
#ifdef OZBOUND_HAVE_FORTRAN
    expect(in_fortran, expected, from_fortran(of, c_cpu, false), "CPU");
    for (const bool on_device : places)
      expect(in_fortran, expected, from_fortran(of, c_cuda, on_device),
             on_device ? "device, its memory" : "device, host memory");
#endif
    if (number++ % 5 != 0) continue;  // each one starts a process
    expect(by_command, replayed(expected), from_command(command, of, cpu), "CPU");
    expect(by_command, replayed(expected), from_command(command, of, cuda), "device");
  }
#ifdef OZBOUND_HAVE_FORTRAN
  sections.insert(sections.begin() + 2, &in_fortran);
#endif
  if (places.size() > 1) {
    sections.push_back(&in_stream);
    in_stream.expect(decided_in_streams > 0 || !Memory::is_hopper(), [] { return "the device decides no product"; });
  }
  bool good = true;
  for (const auto* section : sections) good = section->report() && good;
  return compare_batches(cpu, cuda, places.size() > 1) && good;
}

int run(const std::string& command, bool host_alone) {
  std::optional<Machine> device;
  try {
    device = Machine::cuda();
  } catch (const std::invalid_argument& why) {
    std::printf("SKIPPED: %s\n", why.what());
    return 77;
  }
  std::printf("%s, matrices %s\n", to_string(device->backends().front().id()).c_str(),
              !host_alone && Memory::has_device() ? "of the host and of the device" : "of the host");
  const bool good = holds([&] { return compare(command, host_alone); });
  std::printf(good ? "all agree in every bit\n" : "they DIFFER\n");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace ozbound::mirror

int main(int argc, char** argv) {
  const bool host_alone = argc == 3 && std::string_view(argv[2]) == "host";
  if (argc != 2 && !host_alone) {
    std::fprintf(stderr, "usage: %s COMMAND [host]\n", argv[0]);
    return 2;
  }
  return ozbound::mirror::run(argv[1], host_alone);
}
