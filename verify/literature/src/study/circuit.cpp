// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include "ozbound/bounds/detail/rounded_error.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/published/selector.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/real_representation.hpp"
#include "ozbound/verify/literature/study.hpp"
#include "study/circuit_certificate.hpp"
#include "study/fixed_point_state.hpp"
#include "study/kinds.hpp"
#include "study/unitary_drift.hpp"

namespace ozbound::study {
namespace {

/// One gate as a product C = U X. X and C hold the state's amplitudes, column-major, with the gate's number of rows.
struct GateProduct {
  const Gate& gate;
  const GateFacts& facts;
  const std::vector<Amplitude>& x;
  std::vector<Amplitude>& c;
  double norm;  ///< of x, rounded up

  [[nodiscard]] Index columns() const { return std::ssize(x) / gate.size; }
  [[nodiscard]] ComplexProduct product() const {
    return {.a = gate.view(),
            .b = column_major(x.data(), gate.size, columns(), gate.size),
            .c = column_major(c.data(), gate.size, columns(), gate.size)};
  }
};

/// The result of a method: the error of C, as a vector, and its cost.
struct Applied {
  double error_upper = 0;
  std::string plan;
  Index products = 0;      ///< of slices
  double slice_bytes = 0;  ///< bytes of their INT8 slices
};

struct Method {
  std::string name;
  std::function<Applied(const GateProduct&)> apply;
};

double norm_upper(const ErrorBound& bound, InputView c, int threads) {
  std::vector<double> columns(static_cast<std::size_t>(c.cols()));
#pragma omp parallel num_threads(threads)
  {
    const FloatEnvironment environment;  // one for all entries, since ErrorBound::upper would set its own for each
#pragma omp for schedule(static)
    for (Index j = 0; j < c.cols(); ++j)
      for (Index i = 0; i < c.rows(); ++i) {
        const auto scale = std::int64_t{bound.row_exponents[static_cast<std::size_t>(i)]} +
                           bound.column_exponents[static_cast<std::size_t>(j)];
        const double entry = rounded_error_upper(bound, bound.product.upper(i, j), scale, double_from_bits(c.bits(i, j)));
        auto& of_column = columns[static_cast<std::size_t>(j)];
        of_column = add_upper(of_column, multiply_upper(entry, entry));
      }
  }
  const FloatEnvironment environment;
  double sum = 0;
  for (const double of_column : columns) sum = add_upper(sum, of_column);
  return root_upper(sum);
}

/// The real product that represents the complex one, under a decision. Returns its certificate even if the target does not
/// hold.
Applied certified(const RealRepresentation& real, const Decision& decision, const Engine& engine) {
  const auto& call = real.product();
  const auto certificate = multiply(call, decision, engine);
  real.write_back();
  Applied applied{.error_upper = norm_upper(certificate.bound, call.c.as_input(), engine.threads()),
                  .plan = to_string(decision.method)};
  if (!decision.plan) return applied;
  const auto& plan = *decision.plan;
  applied.plan = to_string(plan);
  applied.products = plan.products();
  applied.slice_bytes = plan.operand_bytes(call.m(), call.n(), call.k());
  return applied;
}

Method by_target(std::string name, const Target& target, const Engine& engine) {
  return {std::move(name), [target, &engine](const GateProduct& product) {
            const auto real = represent_on_host(product.product(), engine.threads());
            return certified(*real, decide({real->product().a, real->product().b}, target, engine, {.residues = false}),
                             engine);
          }};
}

/// The plan of a published selector. If the selector gives up, C is computed exactly, and no products are counted.
Method by_selector(std::string name, const std::string& selector, const Engine& engine) {
  return {std::move(name), [&select = find_selector(selector), &engine](const GateProduct& product) {
            const auto real = represent_on_host(product.product(), engine.threads());
            const auto& call = real->product();
            const auto plan = select.select(call.a, call.b, Target::dgemm(), engine).plan;
            Decision decision{};
            decision.target = Target::dgemm();
            decision.method = plan ? ozbound::Method::one_plan : ozbound::Method::exact;
            decision.plan = plan;
            std::tie(decision.m, decision.n, decision.k) = std::tuple(call.m(), call.n(), call.k());
            return certified(*real, decision, engine);
          }};
}

/// Native ZGEMM. Assumes that parts are sums of 2k real products, in any order: 2k u || |U| |X| ||, and half an eta for every
/// product and part.
Method native(const Zgemm& zgemm) {
  return {"ZGEMM", [&zgemm](const GateProduct& product) {
            const FloatEnvironment environment;
            const Index k = product.gate.size;
            zgemm(k, product.columns(), k, product.gate.elements.data(), product.x.data(), product.c.data());
            const auto terms = static_cast<double>(2 * k);
            const double roundings =
                multiply_upper(terms * 0x1p-53, multiply_upper(product.facts.magnitude_norm, product.norm));
            const double parts = root_upper(2 * static_cast<double>(product.x.size()));
            return Applied{.error_upper = add_upper(roundings, multiply_upper(terms * 0x1p-1074, parts)), .plan = ""};
          }};
}

std::vector<Method> methods(const StudyContext& context) {
  std::vector<Method> all;
  if (context.zgemm) all.push_back(native(context.zgemm));
  all.push_back(by_selector("INT8-AUTO, T = 0", "mantissa-loss-0", context.engine));
  all.push_back(by_selector("INT8-AUTO, T = 1", "mantissa-loss-1", context.engine));
  all.push_back(by_target("certified, dgemm", Target::dgemm(), context.engine));
  all.push_back(by_target("certified, 1e-10", Target::componentwise(1e-10), context.engine));
  return all;
}

/// x over |value|, rounded up.
double relative_upper(double x, double value) { return x == 0 ? 0 : value == 0 ? HUGE_VAL : divide_upper(x, value); }

/// Upper bounds of the distance of a state from another, after each layer.
struct Distances {
  std::vector<std::pair<double, double>> measured = {}, bound = {};

  void add(double gates, double distance, double certified) {
    measured.emplace_back(gates, distance);
    bound.emplace_back(gates, certified);
  }
};

/// The run of a method through a circuit.
struct Run {
  Method method;
  State state;
  CircuitCertificate certificate = {};
  Applied last = {};                                     ///< of the last gate
  double slice_bytes = 0;                                ///< of the gate with the most bytes
  Index products = 0;                                    ///< of all gates
  std::vector<std::pair<double, double>> per_gate = {};  ///< products
  Distances of_gates = {}, of_unitary = {};              ///< from the product of the gates, and from the product of their
                                                         ///< unitary factors
  std::vector<std::pair<double, double>> first = {};     ///< relative error of the real part of the first amplitude

  void apply(const Gate& gate, const GateFacts& facts, Index number) {
    const auto x = gathered(state, gate);
    std::vector<Amplitude> c(x.size());
    const double norm = study::norm_upper(state);
    last = method.apply({gate, facts, x, c, norm});
    scatter(c, gate, state);
    certificate.add(facts, norm, last.error_upper);
    slice_bytes = std::max(slice_bytes, last.slice_bytes);
    products += last.products;
    per_gate.emplace_back(static_cast<double>(number), static_cast<double>(last.products));
  }

  void compare(const FixedPointState& reference, const UnitaryDrift& drift, Index number) {
    const auto gates = static_cast<double>(number);
    of_gates.add(gates, reference.distance_upper(state), add_upper(certificate.error_upper(), reference.error_upper()));
    of_unitary.add(gates, drift.distance_upper(state, reference),
                   add_upper(certificate.from_unitary_upper(), drift.error_upper(reference)));
    const auto [error, value] = reference.compare(0, false, state[0].real());
    first.emplace_back(gates, relative_upper(error, value));
  }
};

StudyClaim claim(std::string name, const Distances& distances) {
  StudyClaim claim;
  claim.name = std::move(name);
  claim.row = claim.col = 0;
  claim.error = Magnitude::of(distances.measured.back().second);
  claim.bound = Magnitude::of(distances.bound.back().second);
  claim.worst_ratio = to_double_upper(divide_upper(claim.error, claim.bound));
  return claim;
}

/// Compares every part of every amplitude with the reference's. The claims are about the whole vector.
StudyMeasurement measurement(const Run& run, const FixedPointState& reference) {
  StudyMeasurement result;
  result.method = run.method.name;
  result.plan = run.last.plan.empty()
                    ? ""
                    : fmt::format("{}; {} products, at most {} bytes of slices", run.last.plan, run.products, run.slice_bytes);
  result.claims = {claim("circuit-(C1)", run.of_gates), claim("circuit-(C2)", run.of_unitary)};
  const auto parts = 2 * static_cast<double>(run.state.size());
  for (std::size_t i = 0; i < run.state.size(); ++i)
    for (const bool imaginary : {false, true}) {
      const auto [error, value] = reference.compare(i, imaginary, imaginary ? run.state[i].imag() : run.state[i].real());
      result.average_relative += relative_upper(error, value) / parts;
      result.max_relative = std::max(result.max_relative, relative_upper(error, value));
      for (auto& one : result.claims) {
        const double bound = relative_upper(to_double_upper(one.bound), value);
        one.average_relative += bound / parts;
        one.max_relative = std::max(one.max_relative, bound);
      }
    }
  return result;
}

struct Configuration {
  CircuitShape shape;
  bool random = false;  ///< starts from a random state, not from |0 ... 0>

  [[nodiscard]] State start(std::uint64_t seed) const {
    return random ? random_state(shape.qubits, seed + 1) : zero_state(shape.qubits);
  }
};

/// 16 qubits for a scale of 1, with gates on 4 and 8 of them. Doubling the scale adds a qubit.
std::vector<Configuration> configurations(double scale) {
  const int qubits = 16 + static_cast<int>(std::lround(std::log2(scale)));
  std::vector<Configuration> all;
  for (const bool random : {true, false})
    for (const auto& [gate_qubits, layers] : {std::pair{qubits / 4, 12}, std::pair{std::min(qubits / 2, 8), 6}})
      all.push_back({{.qubits = qubits, .gate_qubits = gate_qubits, .layers = layers}, random});
  return all;
}

std::string title(const Configuration& configuration) {
  return fmt::format("gates on {} of {} qubits, {}", configuration.shape.gate_qubits, configuration.shape.qubits,
                     configuration.random ? "from a random state" : "from |0…0⟩");
}

void draw(Study& study, const std::string& plot, const std::string& y_axis, bool log_y, const std::string& label,
          const std::vector<std::pair<double, double>>& points, bool bound = false) {
  study.series.push_back({.plot = plot,
                          .label = label,
                          .x_axis = "gates",
                          .y_axis = y_axis,
                          .log_x = false,
                          .log_y = log_y,
                          .points = points,
                          .bound = bound});
}

void draw(Study& study, const Configuration& configuration, const std::vector<Run>& runs) {
  const auto name = title(configuration);
  const std::string error = "‖error of the state‖";
  for (const auto& run : runs) draw(study, name, error, true, run.method.name, run.of_gates.measured);
  for (const auto& run : runs) draw(study, name + ", Re⟨0…0|x⟩", "relative error", true, run.method.name, run.first);
  for (const auto& run : runs)
    if (run.products > 0) draw(study, name + ", products of slices", "products a gate", false, run.method.name, run.per_gate);
  for (const auto& run : runs) {
    const auto plot = name + ", " + run.method.name;
    draw(study, plot, error, true, "measured", run.of_gates.measured);
    draw(study, plot, error, true, "measured, of unitary gates", run.of_unitary.measured);
    draw(study, plot, error, true, "circuit-(C1)", run.of_gates.bound, true);
    draw(study, plot, error, true, "circuit-(C2), of unitary gates", run.of_unitary.bound, true);
  }
}

/// Called with the number of gates done.
using Progress = std::function<void(Index)>;

void simulate(Study& study, const StudyContext& context, const Configuration& configuration, const Progress& progress) {
  const auto& shape = configuration.shape;
  const auto start = configuration.start(study.options.seed);
  FixedPointState reference(start);
  UnitaryDrift drift(start.size());
  std::vector<Run> runs;
  for (auto& method : methods(context)) runs.push_back({.method = std::move(method), .state = start});
  Index gates = 0;
  for (const auto& layer : random_circuit(shape, study.options.seed)) {
    for (const auto& gate : layer) {
      ++gates;
      const GateFacts facts(gate);
      for (auto& run : runs) run.apply(gate, facts, gates);
      drift.apply(gate, facts, reference);
      reference.apply(gate, facts.defect);
      progress(1);
    }
    for (auto& run : runs) run.compare(reference, drift, gates);
  }
  for (const auto& run : runs) {
    auto one = measurement(run, reference);
    one.data =
        fmt::format("circuit, {}, {} layers, {} gates, seed {}", title(configuration), shape.layers, gates, study.options.seed);
    one.k = Index{2} << shape.gate_qubits;
    study.measurements.push_back(std::move(one));
  }
  draw(study, configuration, runs);
}

}  // namespace

Study circuit(const StudyOptions& options, const StudyContext& context) {
  Study study{.name = "circuit", .options = options, .measurements = {}, .series = {}};
  const auto all = configurations(options.scale);
  double done = 0, total = 0;
  for (const auto& [shape, random] : all)
    for (const auto& layer : random_circuit(shape, options.seed))
      total += std::ldexp(static_cast<double>(layer.size()), shape.qubits + shape.gate_qubits);
  for (const auto& configuration : all)
    simulate(study, context, configuration, [&](Index gates) {
      done += std::ldexp(static_cast<double>(gates), configuration.shape.qubits + configuration.shape.gate_qubits);
      if (context.progress) context.progress(done / total);
    });
  return study;
}

}  // namespace ozbound::study
