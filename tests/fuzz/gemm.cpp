// SPDX-License-Identifier: BSD-3-Clause
// A product under any decision, on an engine with any options: C agrees with the exact product and the certificate, a second
// program confirms the certificate, all engine options give the same bits, wrong arguments are refused, and nothing except C is
// written.

#include "ozbound/verify/certificate_check.hpp"

#include "fuzz/operands.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"

namespace ozbound::fuzz {
namespace {

enum class C0 { unread, in_place, separate };

struct Product {
  StoredMatrix a, b, c, c0;
  C0 source;
  double alpha, beta;

  [[nodiscard]] RealProduct product() {
    return {a.input(), b.input(), c.output(), alpha, beta, source == C0::in_place ? c.input() : c0.input()};
  }
};

Storage storage(Bytes& bytes) {
  const auto byte = bytes.byte();
  return {(byte & 1) != 0, (byte & 2) != 0, byte >> 2 & 3};
}

Product product(Bytes& bytes) {
  const Index m = bytes.between(0, 8), n = bytes.between(0, 8), k = bytes.between(0, 8);
  const auto a = storage(bytes), b = storage(bytes), c = storage(bytes), c0 = storage(bytes);
  const auto source = static_cast<C0>(bytes.between(0, 2));
  const double alpha = number(bytes, false);
  const double beta = source == C0::unread ? 0 : number(bytes, false);
  auto a_matrix = matrix(bytes, m, k, a);
  auto b_matrix = matrix(bytes, k, n, b);
  auto c_matrix = source == C0::in_place ? matrix(bytes, m, n, c) : StoredMatrix(m, n, c);
  auto c0_matrix = source == C0::separate ? matrix(bytes, m, n, c0) : StoredMatrix(m, n, c0);
  return {std::move(a_matrix), std::move(b_matrix), std::move(c_matrix), std::move(c0_matrix), source, alpha, beta};
}

Encoding encoding(Bytes& bytes) { return {static_cast<Encoding::Kind>(bytes.between(0, 5)), bytes.between(0, 9)}; }

/// A random plan; one in many is invalid.
SplitPlan plan(Bytes& bytes) {
  SplitPlan result;
  result.a = {encoding(bytes), bytes.between(0, max_slices + 1)};
  result.b = {bytes.flag() ? encoding(bytes) : result.a.encoding, bytes.between(0, max_slices + 1)};
  result.cut = bytes.flag() ? result.a.slices + result.b.slices : bytes.between(1, result.a.slices + result.b.slices + 1);
  result.accumulation = static_cast<Accumulation>(bytes.between(0, 2));
  return result;
}

bool valid(const Slicing& slicing) {
  const auto& [encoding, slices] = slicing;
  const bool bytes = encoding.kind == Encoding::Kind::balanced || encoding.kind == Encoding::Kind::unsigned8;
  return slices >= 1 && slices <= max_slices && (bytes ? encoding.beta == 8 : encoding.beta >= 1 && encoding.beta <= 7);
}

bool valid(const SplitPlan& plan) {
  return valid(plan.a) && valid(plan.b) && plan.a.encoding.beta == plan.b.encoding.beta &&
         (plan.common_ratio() || plan.accumulation == Accumulation::per_product) && plan.cut >= 2 &&
         plan.cut <= plan.a.slices + plan.b.slices;
}

CpuEngine::Options engine_options(Bytes& bytes) {
  constexpr std::array<Index, 8> blocks{0, 1, 2, 3, 7, 64, 1 << 20, -1};
  CpuEngine::Options options;
  options.threads = bytes.between(0, 3);
  options.inner_block = bytes.pick(blocks);
  options.row_tile = bytes.pick(blocks);
  options.column_tile = bytes.pick(blocks);
  return options;
}

bool valid(const CpuEngine::Options& options) {
  return options.threads >= 0 && options.inner_block >= 0 && options.row_tile >= 0 && options.column_tile >= 0;
}

/// The decision of `decide`, or any that names a method, a plan and a target; nothing if `decide` cannot certify.
std::optional<Decision> decision(Bytes& bytes, const RealProduct& call) {
  const auto wanted = target(bytes);
  if (bytes.flag()) {
    try {
      return decide(call, wanted, CpuEngine({.threads = 1}));
    } catch (const CannotCertify&) {
      return std::nullopt;
    }
  }
  constexpr std::array<Method, 4> methods{Method::one_plan, Method::one_plan, Method::correctly_rounded, Method::exact};
  Decision result;
  result.target = wanted;
  result.method = bytes.pick(methods);
  if (result.method != Method::exact) result.plan = plan(bytes);
  result.m = call.m(), result.n = call.n(), result.k = call.k();
  return result;
}

/// Makes a call or a decision wrong; false, without a change, if the fault would do no harm.
bool spoil(int fault, RealProduct& call, Decision& decision) {
  const Index m = call.m(), n = call.n(), k = call.k();
  const bool reads_c0 = call.beta != 0 && m + n > 0;
  const auto where = [](bool harmful, const auto& change) { return harmful && (change(), true); };
  switch (fault) {
    case 0: return where(true, [&] { ++decision.m; });
    case 1: return where(true, [&] { --decision.k; });
    case 2: return where(k != n, [&] { call.b = call.b.transposed(); });
    case 3: return where(n > 0, [&] { call.c = call.c.block(0, 0, m, n - 1); });
    case 4: return where(m > 0 && n > 0, [&] { call.a = call.c.as_input(); });
    case 5: return where(reads_c0, [&] { call.c0 = call.c0.block(0, 0, 0, 0); });
    case 6: return where(reads_c0 && (m != n || m > 1), [&] { call.c0 = call.c.as_input().transposed(); });
    case 7: return where(true, [&] { decision.method = Method::native; });
    default: return false;
  }
}

bool valid(const Plan& plan) {
  return plan.visit([](const SplitPlan& slices) { return valid(slices); }, [](const ResiduePlan&) { return true; });
}

/// The expected outcome: the arguments are accepted, refused, or either.
enum class Expectation { taken, refused, either };

Expectation expectation(const RealProduct& call, const Decision& decision, const CpuEngine& engine, double workspace) {
  if (decision.method == Method::exact) return Expectation::taken;
  if (!decision.plan || !valid(*decision.plan)) return Expectation::refused;
  const bool relative = decision.target.kind == Target::Kind::relative && decision.method == Method::one_plan;
  const bool enough = workspace >= least_workspace(engine, *decision.plan, call.without_unread().k());
  if (!enough) return Expectation::refused;
  return relative ? Expectation::either : Expectation::taken;  // finer plans need more; no plan reaches a tau below u
}

double workspace(Bytes& bytes, const RealProduct& call, const Decision& decision, const CpuEngine& engine) {
  const int share = bytes.between(0, 7);
  if (share == 0 || !decision.plan || !valid(*decision.plan)) return unlimited_workspace;
  const double least = least_workspace(engine, *decision.plan, call.without_unread().k());
  return share == 1 ? least - 1 : least * (share - 1);
}

/// The certificate, or nothing if the arguments were refused.
std::optional<Certificate> run(const RealProduct& call, const Decision& decision, const CpuEngine& engine, double workspace) {
  try {
    return multiply(call, decision, engine, {.workspace = workspace});
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  } catch (const CannotCertify&) {
    return std::nullopt;
  }
}

std::optional<CpuEngine> make_engine(const CpuEngine::Options& options) {
  try {
    CpuEngine engine(options);
    require(valid(options), "wrong engine options were taken");
    return engine;
  } catch (const std::invalid_argument&) {
    require(!valid(options), "engine options were refused");
    return std::nullopt;
  }
}

/// Requires the same bits from one thread, no blocks, no cap, and C elsewhere in memory. Requires the same certificate unless a
/// cap excluded finer plans.
void require_reproduced(Product before, const Product& after, const Decision& decision, const Certificate& certificate,
                        double cap) {
  const auto again = multiply(before.product(), decision, CpuEngine({.threads = 1}));
  require(bits_of_matrix(before.c) == bits_of_matrix(after.c), "the bits of C depend on the way of working");
  if (cap < unlimited_workspace) return;
  require(to_json(again).dump() == to_json(certificate).dump(), "the certificate depends on the way of working");
}

/// Requires that a second program confirms every claim of the certificate.
void require_confirmed(const OutputView& c, const Operands& operands, const Certificate& certificate) {
  const auto doubles = values(c.as_input());
  Matrix<float> floats(doubles.rows(), doubles.cols());
  for (Index i = 0; i < floats.rows(); ++i)
    for (Index j = 0; j < floats.cols(); ++j) floats(i, j) = static_cast<float>(doubles(i, j));
  const auto result = c.is_double() ? ResultView(doubles) : ResultView(floats);
  for (const auto& claim : check_certificate(to_json(certificate).dump(), operands, result).claims)
    require(claim.holds, "the certificate is not confirmed: " + claim.claim + ": " + claim.finding);
}

void multiply(Bytes& bytes) {
  const auto options = engine_options(bytes);
  const int fault = bytes.between(0, 31);
  auto control = Bytes(bytes);  // choices come from these bytes, as the operands may use up the rest
  for (int i = 0; i < 16; ++i) bytes.byte();
  auto operands = product(bytes);
  const auto engine = make_engine(options);
  if (!engine) return;
  const auto before = operands;
  auto call = operands.product();
  auto chosen = decision(control, call);
  if (!chosen) return;
  const double cap = workspace(control, call, *chosen, *engine);
  auto expected = expectation(call, *chosen, *engine, cap);
  if (spoil(fault, call, *chosen)) expected = Expectation::refused;

  const Untouched untouched({&operands.a, &operands.b, &operands.c0});
  const auto certificate = run(call, *chosen, *engine, cap);
  untouched.check(operands.c);
  require(certificate || expected != Expectation::taken, "right arguments were refused");
  require(!certificate || expected != Expectation::refused, "wrong arguments were taken");
  if (!certificate) return require(bits_of_matrix(operands.c) == bits_of_matrix(before.c), "a refused product wrote C");

  const auto a = values(before.a.input()), b = values(before.b.input());
  const auto c0 = values(before.source == C0::in_place ? before.c.input() : before.c0.input());
  const ExactOracle oracle(Operands{a.view(), b.view(), before.alpha, before.beta, c0.view()});
  require_certified(operands.c.output(), oracle, *certificate);
  require_confirmed(operands.c.output(), oracle.operands(), *certificate);
  if (fault >= 8) require_reproduced(before, operands, *chosen, *certificate, cap);
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ozbound::fuzz::Bytes bytes(data, size);
  ozbound::fuzz::multiply(bytes);
  return 0;
}
