// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string_view>
#include <type_traits>

#include "c_calls.hpp"
#include "ozbound/native.hpp"

struct ozb_cancellation {
  std::shared_ptr<std::atomic<bool>> requested = std::make_shared<std::atomic<bool>>(false);
};
static_assert(std::atomic<bool>::is_always_lock_free);  // required in signal handlers

struct ozb_machine {
  ozbound::Machine machine;
  std::string backends;
};

namespace ozbound {
namespace {

/// The engine that carries out a decision.
const Engine& engine_of(const Machine& machine, const Decision& decision) {
  return machine.backend_of(decision, thread_settings().place).engine();
}
Machine machine_as_set() { return thread_settings().machine ? *thread_settings().machine : Machine::cpu(); }

std::int64_t bytes(double x) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return x < 0x1p63 ? static_cast<std::int64_t>(std::ceil(x)) : most;
}

/// Runs one product; `compute` makes its certificate.
template <class Compute>
int one(ozb_certificate** out, const Compute& compute) noexcept {
  return guarded([&] {
    Handles handles(out, 1);
    std::vector<Certificate> certificates;
    certificates.push_back(compute());
    const int status = status_of(certificates.front());
    handles.hand_out(std::move(certificates));
    return status;
  });
}

/// The arguments of a complex call in C, with their type. C is const void if C is not written.
template <class Real, class C = void>
struct ComplexArguments {
  using Number = std::complex<Real>;
  Number alpha;
  const Number *a, *b;
  Number beta;
  std::conditional_t<std::is_const_v<C>, const Number, Number>* c;

  ComplexArguments(const void* given_alpha, const void* given_a, const void* given_b, const void* given_beta, C* given_c)
      : alpha(given(static_cast<const Number*>(given_alpha), "alpha")),
        a(static_cast<const Number*>(given_a)),
        b(static_cast<const Number*>(given_b)),
        beta(given(static_cast<const Number*>(given_beta), "beta")),
        c(static_cast<decltype(c)>(given_c)) {}
};

/// @throws std::invalid_argument if the certificate is about numbers of the other kind, or C has no entry (i, j).
void check_entry(const Certificate& certificate, std::int64_t i, std::int64_t j, bool complex) {
  if (certificate.complex != complex)
    throw std::invalid_argument(complex ? "certificate is of a real product: ozb_certificate_bound has its bounds"
                                        : "certificate is of a complex product: ozb_certificate_bound_z has its bounds");
  if (i < 0 || i >= certificate.m) throw std::invalid_argument("i must be a row of C: " + std::to_string(i));
  if (j < 0 || j >= certificate.n) throw std::invalid_argument("j must be a column of C: " + std::to_string(j));
}

/// Sets the workspace sizes that `find` returns for a product.
template <class Find>
int tell(std::int64_t* least, std::int64_t* full, const Find& find) noexcept {
  return guarded([&] {
    given(least, "least") = 0;
    given(full, "full") = 0;
    const Workspace workspace = find();
    *least = bytes(workspace.least);
    *full = bytes(workspace.full);
    return OZB_SUCCESS;
  });
}

/// Computes C to a target; without a certificate if the caller wants none. `arguments` are gemm's.
template <class... Arguments>
int to_target(ozb_certificate** out, const char* target, int layout, int op_a, int op_b, Arguments... arguments) noexcept {
  if (out != nullptr)
    return one(out, [&] {
      return gemm(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), arguments..., target_of(target), as_set());
    });
  return guarded([&] {
    const auto made = gemm_without_record(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), arguments...,
                                          target_of(target), as_set());
    return made ? status_of(*made) : OZB_SUCCESS;
  });
}

/// Does the same for a complex product.
template <class Real>
int complex_to_target(ozb_certificate** out, const char* target, int layout, int op_a, int op_b, std::int64_t m, std::int64_t n,
                      std::int64_t k, const void* alpha, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                      const void* beta, void* c, std::int64_t ldc) noexcept {
  int status = OZB_SUCCESS;
  if (out != nullptr) *out = nullptr;
  const int wrong = guarded([&] {
    const ComplexArguments<Real> x{alpha, a, b, beta, c};
    status = to_target(out, target, layout, op_a, op_b, m, n, k, x.alpha, x.a, lda, x.b, ldb, x.beta, x.c, ldc);
    return OZB_SUCCESS;
  });
  return wrong != OZB_SUCCESS ? wrong : status;
}

}  // namespace
}  // namespace ozbound

using ozbound::given, ozbound::guarded, ozbound::layout_of, ozbound::op_of;  // the functions below have C linkage

const char* ozb_version() noexcept { return OZBOUND_VERSION; }
static_assert(std::string_view(OZB_VERSION) == OZBOUND_VERSION, "CMakeLists.txt has another version");

const char* ozb_status_text(int status) noexcept {
  switch (status) {
    case OZB_SUCCESS: return "success";
    case OZB_DOES_NOT_HOLD: return "computed, but the target is not proven";
    case OZB_INVALID_ARGUMENT: return "invalid argument";
    case OZB_CANNOT_CERTIFY: return "the target cannot be certified";
    case OZB_OUT_OF_MEMORY: return "out of memory";
    case OZB_INTERNAL_ERROR: return "internal error";
    case OZB_CANCELLED: return "cancelled";
    default: return "no status of Ozbound";
  }
}

const char* ozb_last_error() noexcept { return ozbound::last_error(); }

int ozb_dgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              const double* b, int64_t ldb, double beta, double* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) noexcept {
  return ozbound::to_target(certificate, target, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int ozb_decide_d(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
                 const double* b, int64_t ldb, double beta, const double* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) noexcept {
  return ozbound::decided(decision, 1, "decision", [&] {
    return std::vector{ozbound::decide(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, alpha, a, lda, b,
                                       ldb, beta, c, ldc, ozbound::target_of(target), ozbound::choices_of(choices))};
  });
}

int ozb_dgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                      int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc,
                      const ozb_decision* decision, int64_t workspace, ozb_certificate** certificate) noexcept {
  return ozbound::one(certificate, [&] {
    return ozbound::gemm(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, alpha, a, lda, b, ldb, beta, c,
                         ldc, given(decision, "decision").record, ozbound::with_workspace(workspace));
  });
}

int ozb_sgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
              const float* b, int64_t ldb, float beta, float* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) noexcept {
  return ozbound::to_target(certificate, target, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int ozb_decide_s(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float beta, const float* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) noexcept {
  return ozbound::decided(decision, 1, "decision", [&] {
    return std::vector{ozbound::decide(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, alpha, a, lda, b,
                                       ldb, beta, c, ldc, ozbound::target_of(target), ozbound::choices_of(choices))};
  });
}

int ozb_sgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                      const float* b, int64_t ldb, float beta, float* c, int64_t ldc, const ozb_decision* decision,
                      int64_t workspace, ozb_certificate** certificate) noexcept {
  return ozbound::one(certificate, [&] {
    return ozbound::gemm(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, alpha, a, lda, b, ldb, beta, c,
                         ldc, given(decision, "decision").record, ozbound::with_workspace(workspace));
  });
}

int ozb_zgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
              const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) noexcept {
  return ozbound::complex_to_target<double>(certificate, target, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                            ldc);
}

int ozb_decide_z(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
                 const void* b, int64_t ldb, const void* beta, const void* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) noexcept {
  return ozbound::decided(decision, 1, "decision", [&] {
    const ozbound::ComplexArguments<double, const void> x{alpha, a, b, beta, c};
    return std::vector{ozbound::decide(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, x.alpha, x.a, lda,
                                       x.b, ldb, x.beta, x.c, ldc, ozbound::target_of(target), ozbound::choices_of(choices))};
  });
}

int ozb_zgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                      int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc,
                      const ozb_decision* decision, int64_t workspace, ozb_certificate** certificate) noexcept {
  return ozbound::one(certificate, [&] {
    const ozbound::ComplexArguments<double> x{alpha, a, b, beta, c};
    return ozbound::gemm(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, x.alpha, x.a, lda, x.b, ldb,
                         x.beta, x.c, ldc, given(decision, "decision").record, ozbound::with_workspace(workspace));
  });
}

int ozb_cgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
              const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) noexcept {
  return ozbound::complex_to_target<float>(certificate, target, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                           ldc);
}

int ozb_decide_c(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
                 const void* b, int64_t ldb, const void* beta, const void* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) noexcept {
  return ozbound::decided(decision, 1, "decision", [&] {
    const ozbound::ComplexArguments<float, const void> x{alpha, a, b, beta, c};
    return std::vector{ozbound::decide(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, x.alpha, x.a, lda,
                                       x.b, ldb, x.beta, x.c, ldc, ozbound::target_of(target), ozbound::choices_of(choices))};
  });
}

int ozb_cgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                      int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc,
                      const ozb_decision* decision, int64_t workspace, ozb_certificate** certificate) noexcept {
  return ozbound::one(certificate, [&] {
    const ozbound::ComplexArguments<float> x{alpha, a, b, beta, c};
    return ozbound::gemm(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, x.alpha, x.a, lda, x.b, ldb,
                         x.beta, x.c, ldc, given(decision, "decision").record, ozbound::with_workspace(workspace));
  });
}

int ozb_decision_json(const ozb_decision* decision, const char** json) noexcept {
  return guarded([&] {
    given(json, "json") = nullptr;
    *json = given(decision, "decision").json();
    return OZB_SUCCESS;
  });
}

int ozb_decision_from_json(const char* json, ozb_decision** decision) noexcept {
  return ozbound::decided(decision, 1, "decision", [&] { return std::vector{ozbound::parse_decision(&given(json, "json"))}; });
}

int ozb_decision_workspace(const ozb_decision* decision, int64_t* least, int64_t* full) noexcept {
  return ozbound::tell(least, full, [&] {
    const auto& record = given(decision, "decision").record;
    const auto machine = ozbound::machine_as_set();
    return ozbound::workspace_of(record, ozbound::engine_of(machine, record));
  });
}

int ozb_decision_workspace_z(const ozb_decision* decision, const void* alpha, const void* beta, int64_t* least,
                             int64_t* full) noexcept {
  using Number = const std::complex<double>;
  return ozbound::tell(least, full, [&] {
    const auto& record = given(decision, "decision").record;
    const auto machine = ozbound::machine_as_set();
    return ozbound::workspace_of(record, given(static_cast<Number*>(alpha), "alpha"), given(static_cast<Number*>(beta), "beta"),
                                 ozbound::engine_of(machine, record));
  });
}

void ozb_decision_destroy(ozb_decision* decision) noexcept { delete decision; }

int ozb_certificate_holds(const ozb_certificate* certificate, int* holds) noexcept {
  return guarded([&] {
    given(holds, "holds") = 0;
    *holds = given(certificate, "certificate").record.holds ? 1 : 0;
    return OZB_SUCCESS;
  });
}

int ozb_certificate_ratio(const ozb_certificate* certificate, double* ratio) noexcept {
  return guarded([&] {
    given(ratio, "ratio") = std::numeric_limits<double>::infinity();
    *ratio = given(certificate, "certificate").record.ratio;
    return OZB_SUCCESS;
  });
}

int ozb_certificate_largest_bound(const ozb_certificate* certificate, double* bound) noexcept {
  return guarded([&] {
    given(bound, "bound") = std::numeric_limits<double>::infinity();
    *bound = given(certificate, "certificate").record.largest_bound;
    return OZB_SUCCESS;
  });
}

int ozb_certificate_bound(const ozb_certificate* certificate, int64_t i, int64_t j, double c, double* bound) noexcept {
  return guarded([&] {
    given(bound, "bound") = std::numeric_limits<double>::infinity();
    const auto& record = given(certificate, "certificate").record;
    ozbound::check_entry(record, i, j, false);
    *bound = record.bound.upper(i, j, c);
    return OZB_SUCCESS;
  });
}

int ozb_certificate_bound_z(const ozb_certificate* certificate, int64_t i, int64_t j, const void* c, double* bound) noexcept {
  return guarded([&] {
    given(bound, "bound");
    bound[0] = bound[1] = std::numeric_limits<double>::infinity();
    const auto& record = given(certificate, "certificate").record;
    const auto& entry = given(static_cast<const std::complex<double>*>(c), "c");
    ozbound::check_entry(record, i, j, true);
    bound[0] = record.bound.upper(i, j, ozbound::Part::real, entry.real());
    bound[1] = record.bound.upper(i, j, ozbound::Part::imaginary, entry.imag());
    return OZB_SUCCESS;
  });
}

int ozb_certificate_json(const ozb_certificate* certificate, const char** json) noexcept {
  return guarded([&] {
    given(json, "json") = nullptr;
    *json = given(certificate, "certificate").json();
    return OZB_SUCCESS;
  });
}

void ozb_certificate_destroy(ozb_certificate* certificate) noexcept { delete certificate; }

namespace {

int made(ozb_machine** machine, ozbound::Machine (*make)(int), int threads) noexcept {
  return guarded([&] {
    given(machine, "machine") = nullptr;
    auto handle = std::make_unique<ozb_machine>(ozb_machine{make(threads), {}});
    for (const auto& backend : handle->machine.backends()) handle->backends += to_string(backend.id()) + '\n';
    *machine = handle.release();
    return OZB_SUCCESS;
  });
}

}  // namespace

int ozb_machine_cpu(int threads, ozb_machine** machine) noexcept { return made(machine, ozbound::Machine::cpu, threads); }
int ozb_machine_cuda(int threads, ozb_machine** machine) noexcept { return made(machine, ozbound::Machine::cuda, threads); }
int ozb_machine_detect(int threads, ozb_machine** machine) noexcept { return made(machine, ozbound::Machine::detect, threads); }

int ozb_machine_backends(const ozb_machine* machine, const char** text) noexcept {
  return guarded([&] {
    given(text, "text") = nullptr;
    *text = given(machine, "machine").backends.c_str();
    return OZB_SUCCESS;
  });
}

int ozb_set_machine(const ozb_machine* machine, int place) noexcept {
  return guarded([&] {
    if (place < OZB_HOST) throw std::invalid_argument("place must be OZB_HOST or a device: " + std::to_string(place));
    const ozbound::Place where{place};
    const auto reaches = [&](const ozbound::Backend& backend) { return backend.reaches(where); };
    if (machine == nullptr ? !where.is_host() : std::ranges::none_of(machine->machine.backends(), reaches))
      throw std::invalid_argument("place is not reached by anything on this machine: " + to_string(where));
    auto& settings = ozbound::thread_settings();
    if (machine == nullptr)
      settings.machine.reset();
    else
      settings.machine = machine->machine;
    settings.place = where;
    return OZB_SUCCESS;
  });
}

void ozb_machine_destroy(ozb_machine* machine) noexcept { delete machine; }

int ozb_cancellation_create(ozb_cancellation** cancellation) noexcept {
  return guarded([&] {
    given(cancellation, "cancellation") = nullptr;
    *cancellation = new ozb_cancellation;
    return OZB_SUCCESS;
  });
}

void ozb_cancellation_request(ozb_cancellation* cancellation) noexcept {
  if (cancellation != nullptr) cancellation->requested->store(true);
}

void ozb_set_cancellation(const ozb_cancellation* cancellation) noexcept {
  ozbound::thread_settings().cancellation = cancellation == nullptr ? nullptr : cancellation->requested;
}

void ozb_cancellation_destroy(ozb_cancellation* cancellation) noexcept { delete cancellation; }
