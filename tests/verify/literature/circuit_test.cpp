// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/literature/study.hpp"
#include "study/circuit_certificate.hpp"
#include "study/fixed_point_state.hpp"
#include "study/random_circuit.hpp"
#include "study/unitary_drift.hpp"

namespace ozbound::study::circuit_test {
namespace {

constexpr double root_half = std::numbers::sqrt2 / 2;

Gate gate_of(int first, Index size, std::vector<Amplitude> column_major) {
  return {.first = first, .size = size, .elements = std::move(column_major)};
}

double defect_of(const Gate& gate) { return GateFacts(gate).defect; }

/// The gate applied in doubles, without blocks: the matrix element of row r and column l times every amplitude whose qubits are
/// l.
State applied_plainly(const State& state, const Gate& gate) {
  State result(state.size());
  const auto mask = static_cast<std::size_t>(gate.size - 1) << gate.first;
  for (std::size_t i = 0; i < state.size(); ++i)
    for (Index r = 0; r < gate.size; ++r) {
      const auto to = (i & ~mask) | static_cast<std::size_t>(r) << gate.first;
      result[to] += gate.view()(r, static_cast<Index>((i & mask) >> gate.first)) * state[i];
    }
  return result;
}

/// A zgemm by definition. `wrong` flips the sign of imaginary by imaginary products.
struct PlainZgemm {
  bool wrong = false;

  void operator()(Index m, Index n, Index k, const Amplitude* a, const Amplitude* b, Amplitude* c) const {
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < m; ++i) {
        double real = 0, imaginary = 0;
        for (Index l = 0; l < k; ++l) {
          const auto x = a[i + l * m], y = b[l + j * k];
          real += x.real() * y.real() + (wrong ? 1 : -1) * (x.imag() * y.imag());
          imaginary += x.real() * y.imag() + x.imag() * y.real();
        }
        c[i + j * m] = {real, imaginary};
      }
  }
};

Study run_circuit(double scale, const Zgemm& zgemm) {
  const CpuEngine engine({.threads = 1});
  return find_study("circuit").run({.scale = scale, .seed = 1}, {.engine = engine, .zgemm = zgemm});
}

TEST(Circuit, IsABrickwork) {
  const auto layers = random_circuit({.qubits = 9, .gate_qubits = 4, .layers = 3}, 0);
  const auto places = [&](std::size_t t) {
    std::vector<int> first;
    for (const auto& gate : layers[t]) first.push_back(gate.first);
    return first;
  };
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_THAT(places(0), testing::ElementsAre(0, 4));
  EXPECT_THAT(places(1), testing::ElementsAre(2));
  EXPECT_THAT(places(2), testing::ElementsAre(0, 4));
  EXPECT_EQ(random_circuit({.qubits = 8, .gate_qubits = 4, .layers = 1}, 0)[0].size(), 2U);  // the last qubit is the gate's
  EXPECT_NE(layers[0][0].elements, layers[0][1].elements);
  EXPECT_EQ(random_circuit({.qubits = 9, .gate_qubits = 4, .layers = 3}, 0)[1][0].elements, layers[1][0].elements);
  EXPECT_NE(random_circuit({.qubits = 9, .gate_qubits = 4, .layers = 3}, 1)[1][0].elements, layers[1][0].elements);
}

TEST(Circuit, GatesAreUnitaryUpToRounding) {
  for (const int qubits : {1, 3, 6})
    for (const auto& layer : random_circuit({.qubits = 6, .gate_qubits = qubits, .layers = 2}, 5))
      for (const auto& gate : layer) {
        const double defect = defect_of(gate);
        EXPECT_GT(defect, 0);
        EXPECT_LT(defect, 40 * 0x1p-53);
        for (const auto& element : gate.elements)
          for (const double part : {element.real(), element.imag()})
            EXPECT_EQ(std::ldexp(part, 62), std::nearbyint(std::ldexp(part, 62)));
      }
}

/// The defect is that of the gate: (1 + 2^-20) X has mu = 2^-19 + 2^-40, and the Frobenius norm is sqrt(2) of that.
TEST(Circuit, DefectIsThatOfTheGate) {
  const double s = 1 + 0x1p-20;
  const double defect = defect_of(gate_of(0, 2, {0, s, s, 0}));
  EXPECT_GE(defect, (0x1p-19 + 0x1p-40) * std::numbers::sqrt2 * (1 - 0x1p-50));
  EXPECT_LE(defect, (0x1p-19 + 0x1p-40) * std::numbers::sqrt2 * (1 + 0x1p-48));
  EXPECT_LT(defect_of(gate_of(0, 2, {0, {0, 1}, {0, -1}, 0})), 1e-160);
  EXPECT_LT(defect_of(gate_of(0, 2, {1, 0, 0, 1})), 1e-160);
}

TEST(Circuit, NormsAreUpperBounds) {
  EXPECT_GE(norm_upper({{3, 4}, {0, -12}}), 13);
  EXPECT_LE(norm_upper({{3, 4}, {0, -12}}), 13 * (1 + 0x1p-50));
  EXPECT_GE(magnitude_norm_upper(gate_of(0, 2, {{0.5, -0.5}, 1, {0, 1}, -2})), std::sqrt(3.0 * 3.0));
  EXPECT_LE(magnitude_norm_upper(gate_of(0, 2, {{0.5, -0.5}, 1, {0, 1}, -2})), 3 * (1 + 0x1p-50));
}

/// The norm of magnitudes counts rows and columns: rows of (1, 3; 0, 0) add up to 4, columns to 3.
TEST(Circuit, MagnitudesOfRowsAndColumnsCount) {
  EXPECT_GE(magnitude_norm_upper(gate_of(0, 2, {1, 0, 3, 0})), std::sqrt(12.0));
  EXPECT_LE(magnitude_norm_upper(gate_of(0, 2, {1, 0, 3, 0})), std::sqrt(12.0) * (1 + 0x1p-50));
}

TEST(Circuit, RandomStatesAreDenseAndOfNormOne) {
  const auto state = random_state(6, 2);
  EXPECT_NEAR(norm_upper(state), 1, 0x1p-45);
  for (const auto& amplitude : state) EXPECT_NE(amplitude.real() * amplitude.imag(), 0);
  EXPECT_EQ(random_state(6, 2), state);
  EXPECT_NE(random_state(6, 3), state);
}

TEST(Circuit, GateColumnsAreTheQubitsOfTheGate) {
  State state(16);
  for (std::size_t i = 0; i < 16; ++i) state[i] = static_cast<double>(i);
  const auto gate = gate_of(1, 4, std::vector<Amplitude>(16));
  const auto columns = gathered(state, gate);
  EXPECT_THAT(columns, testing::ElementsAre(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
  State back(16);
  scatter(columns, gate, back);
  EXPECT_EQ(back, state);
}

/// Gates at every place agree with the definition in doubles.
TEST(FixedPointState, AppliesGates) {
  const int qubits = 5;
  auto state = random_state(qubits, 3);
  FixedPointState reference(state);
  for (const int d : {1, 2, 3})
    for (const auto& layer : random_circuit({.qubits = qubits, .gate_qubits = d, .layers = 4}, 7))
      for (const auto& gate : layer) {
        reference.apply(gate, defect_of(gate));
        state = applied_plainly(state, gate);
      }
  EXPECT_LT(reference.distance_upper(state), 60 * 0x1p-53);
  EXPECT_GT(reference.distance_upper(state), 0x1p-56);
  EXPECT_LT(reference.error_upper(), 0x1p-90);
}

/// Exact values stay exact: |0>, a gate's column, a permutation of the qubits' values.
TEST(FixedPointState, IsExactWhereNothingIsRounded) {
  FixedPointState reference(zero_state(3));
  EXPECT_EQ(reference.distance_upper(zero_state(3)), 0);
  EXPECT_EQ(reference.error_upper(), 0);
  const auto gate = gate_of(1, 2, {{0.5, -0.25}, {root_half, 0x1p-62}, 0, 1});
  reference.apply(gate, defect_of(gate));
  State expected(8);
  expected[0] = gate.elements[0], expected[2] = gate.elements[1];
  EXPECT_EQ(reference.distance_upper(expected), 0);
  expected[2] += Amplitude(0, 0x1p-90);
  EXPECT_GE(reference.distance_upper(expected), 0x1p-90);
  EXPECT_LE(reference.distance_upper(expected), 0x1p-90 * (1 + 0x1p-50));
  const auto [error, value] = reference.compare(2, false, 1);
  EXPECT_NEAR(error, 1 - root_half, 1e-15);
  EXPECT_LE(value, root_half);
  EXPECT_GE(value, root_half * (1 - 0x1p-51));
}

/// The error counts bits below the unit: a third of a multiple of 2^-100 lies between two multiples.
TEST(FixedPointState, CountsWhatItsUnitLeavesOut) {
  const FixedPointState reference(zero_state(1));
  EXPECT_GE(reference.compare(1, true, 0x1p-101).error_upper, 0x1p-101);
  EXPECT_LE(reference.compare(1, true, 0x1p-101).error_upper, 0x1p-99);
}

/// An error grows by the norm of the gate: (1, 1; 1, 1) has the norm 2, so the error doubles, and a rounding is added.
TEST(FixedPointState, ErrorsGrowByTheNormOfTheGate) {
  FixedPointState reference(zero_state(1));
  const auto gate = gate_of(0, 2, {1, 1, 1, 1});
  reference.apply(gate, defect_of(gate));
  const double once = reference.error_upper();
  reference.apply(gate, defect_of(gate));
  EXPECT_GE(reference.error_upper(), 3 * once);
}

/// Returned values are lower bounds: (1 + 2^-41)(1 - 2^-41) is below 1, its nearest double.
TEST(FixedPointState, ValuesAreLowerBounds) {
  FixedPointState reference(zero_state(1));
  for (const double x : {1 + 0x1p-41, 1 - 0x1p-41}) reference.apply(gate_of(0, 2, {x, 0, 0, x}), 0x1p-39);
  EXPECT_LT(reference.compare(0, false, 1).value_lower, 1);
  EXPECT_EQ(reference.compare(0, false, 1).error_upper, 0x1p-82);
}

/// The certificate is its recurrence (C1), (C2), computed by hand: exact gates keep the error, a gate of norm 1 + 2^-10
/// stretches it.
TEST(CircuitCertificate, IsItsRecurrence) {
  const Gate unitary = gate_of(0, 2, {0, 1, 1, 0}), stretching = gate_of(0, 2, {1 + 0x1p-10, 0, 0, 1 + 0x1p-10});
  CircuitCertificate certificate;
  certificate.add(GateFacts(unitary), 1, 0x1p-40);
  EXPECT_NEAR(certificate.error_upper(), 0x1p-40, 0x1p-90);
  EXPECT_NEAR(certificate.from_unitary_upper(), 0x1p-40, 0x1p-90);
  certificate.add(GateFacts(stretching), 2, 0x1p-40);
  EXPECT_GE(certificate.error_upper(), 0x1p-40 * (2 + 0x1p-10));
  EXPECT_LE(certificate.error_upper(), 0x1p-40 * (2 + 0x1.8p-10));
  const double defect = GateFacts(stretching).defect;
  EXPECT_GE(certificate.from_unitary_upper(), 0x1p-39 + 2 * defect);
  EXPECT_LE(certificate.from_unitary_upper(), (0x1p-39 + 2 * defect) * (1 + 0x1p-50));
}

/// Only (C2) sees a gate that is not unitary: X times 1 - 2^-20 moves the state as far from that of X as (C2) says, and (C1)
/// stays 0.
TEST(CircuitCertificate, SeesWhatIsNotUnitary) {
  const double s = 1 - 0x1p-20;
  const auto gate = gate_of(0, 2, {0, s, s, 0});
  CircuitCertificate certificate;
  auto state = zero_state(1);
  for (int t = 0; t < 8; ++t) {
    certificate.add(GateFacts(gate), norm_upper(state), 0);
    state = applied_plainly(state, gate);
  }
  const double distance = 1 - state[0].real();  // of (1, 0), after an even number
  EXPECT_GE(certificate.from_unitary_upper(), distance);
  EXPECT_LE(certificate.from_unitary_upper(), 3 * distance);
  EXPECT_EQ(certificate.error_upper(), 0);
}

/// Gates applied from |0 … 0>, beside their unitary factors.
struct Drifting {
  FixedPointState psi;
  UnitaryDrift drift;

  explicit Drifting(int qubits) : psi(zero_state(qubits)), drift(std::size_t{1} << qubits) {}

  void apply(const Gate& gate) {
    const GateFacts facts(gate);
    drift.apply(gate, facts, psi);
    psi.apply(gate, facts.defect);
  }
};

/// The drift is that of the polar factors: for U H with H = diag(1 + 2^-30, 1 - 2^-31) and U the exchange or a rotation, phi is
/// known exactly.
TEST(UnitaryDrift, IsThatOfThePolarFactors) {
  const double up = 1 + 0x1p-30, down = 1 - 0x1p-31;
  Drifting two(2);
  const auto turn = gate_of(0, 2, {0, Amplitude(0, up), Amplitude(0, -down), 0});  // |0> -> i |1>, |1> -> -i |0>
  const auto exchange = gate_of(1, 2, {0, up, down, 0});
  State phi(4);
  for (int t = 0; t < 3; ++t) two.apply(turn), two.apply(exchange);
  phi[3] = Amplitude(0, 1);  // turned three times, exchanged three times
  const double error = two.drift.error_upper(two.psi);
  EXPECT_LE(two.drift.distance_upper(phi, two.psi), error);
  EXPECT_LE(error, 6 * 1.25 * 0x1p-58 * (1 + 0x1p-18));  // of second order: mu^2 = 2^-58 + 2^-60 for each of six gates
  EXPECT_GE(two.psi.distance_upper(phi), 100 * error);
  phi[3] = Amplitude(0, 1 + 0x1p-40);
  EXPECT_GE(two.drift.distance_upper(phi, two.psi), 0x1p-41);
}

/// Gates of QR are unitary to u, and their drift is known to a small fraction of u.
TEST(UnitaryDrift, IsKnownFarBelowADouble) {
  Drifting five(5);
  for (const auto& layer : random_circuit({.qubits = 5, .gate_qubits = 3, .layers = 8}, 3))
    for (const auto& gate : layer) five.apply(gate);
  const auto psi = five.psi.rounded();
  EXPECT_LT(five.drift.error_upper(five.psi), 0x1p-90);
  EXPECT_GT(five.drift.distance_upper(psi, five.psi), 0x1p-56);
  EXPECT_LT(five.drift.distance_upper(psi, five.psi), 0x1p-46);
}

TEST(UnitaryDrift, WhatIsNoAmplitudeIsFarOff) {
  const Drifting one(1);
  EXPECT_LE(one.drift.distance_upper(zero_state(1), one.psi), 0x1.01p-99);
  for (const double x : {0x1p26, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(one.drift.distance_upper({{1, x}, 0}, one.psi), std::numeric_limits<double>::infinity()) << x;
}

const std::vector<std::pair<double, double>>& curve(const Study& study, std::string_view plot, std::string_view label) {
  for (const auto& one : study.series)
    if (one.plot == plot && one.label == label) return one.points;
  throw std::out_of_range(std::string(plot).append(": ").append(label));
}

double last_height(const Study& study, const std::string& plot, const std::string& label) {
  return curve(study, plot, label).back().second;
}

/// The bounds hold after every layer, not only after the last one, where `holds` judges.
TEST(Circuit, BoundsAreAboveWhatTheyBound) {
  const auto study = run_circuit(0x1p-6, PlainZgemm{});
  int points = 0;
  for (const auto& bound : study.series) {
    if (!bound.bound) continue;
    const bool of_gates = bound.label == "circuit-(C1)";
    const auto& measured = curve(study, bound.plot, of_gates ? "measured" : "measured, of unitary gates");
    ASSERT_EQ(bound.points.size(), measured.size());
    for (std::size_t t = 0; t < measured.size(); ++t, ++points)
      EXPECT_LE(measured[t].second, bound.points[t].second) << bound.plot;
  }
  EXPECT_EQ(points, 2 * (2 * 12 + 2 * 6) * 5);
}

/// Errors of the state after the last gate, divided by ZGEMM's, from a random state and from |0 … 0>. All arithmetic, also
/// ZGEMM's, is the same on every machine, so only the digits omitted in this list may differ.
struct OverZgemm {
  const char* method;
  double random, zero;
};

constexpr double last_digit = 0.005;

void expect_errors(const Study& study, const std::string& plot, const std::vector<OverZgemm>& expected) {
  for (const auto& [start, which] :
       {std::pair{", from a random state", &OverZgemm::random}, {", from |0…0⟩", &OverZgemm::zero}}) {
    const auto height = [&](const char* label) { return last_height(study, plot + start, label); };
    for (const auto& one : expected)
      EXPECT_NEAR(height(one.method) / height("ZGEMM") / (one.*which), 1, last_digit) << plot << start << ", " << one.method;
  }
}

/// Ootomo, Ozaki, Yokota, Table 3: T = 0 reaches ZGEMM's level, and T = 1 is near it from states without zeros. Zeros lose
/// nothing but count in T's average: from |0 … 0> the first gates lose bits of the non-zero elements. Certified products also
/// reach ZGEMM's level.
TEST(Circuit, AutomaticSlicesAreAsAccurateAsZgemm) {
  const auto study = run_circuit(0x1p-4, PlainZgemm{});
  EXPECT_TRUE(study.holds()) << explain_failures(study);
  EXPECT_EQ(study.measurements.size(), 20U);
  expect_errors(study, "gates on 3 of 12 qubits",
                {{"INT8-AUTO, T = 0", 2.20, 2.43},
                 {"INT8-AUTO, T = 1", 31.1, 1.25e8},
                 {"certified, dgemm", 0.421, 0.473},
                 {"certified, 1e-10", 3.05e4, 3.83e4}});
  expect_errors(study, "gates on 6 of 12 qubits",
                {{"INT8-AUTO, T = 0", 0.839, 0.892},
                 {"INT8-AUTO, T = 1", 12.3, 12.6},
                 {"certified, dgemm", 0.776, 0.867},
                 {"certified, 1e-10", 2.54e4, 1.95e4}});
  for (const std::string plot : {"gates on 3 of 12 qubits", "gates on 6 of 12 qubits"}) {
    const auto products = [&](const char* label) {
      return last_height(study, plot + ", from a random state, products of slices", label);
    };
    EXPECT_LT(products("INT8-AUTO, T = 1"), products("INT8-AUTO, T = 0"));
    EXPECT_LT(products("certified, dgemm"), products("INT8-AUTO, T = 1"));
    EXPECT_LT(products("certified, 1e-10"), products("certified, dgemm"));
  }
}

/// The sum (C1) stays within the target's limit: a certified product has |e| <= tau |L| |X|, so ||e|| <= tau || |L| || ||x||.
/// For ZGEMM it is at least 2k u a gate.
TEST(Circuit, TargetsLimitTheCertificate) {
  const auto study = run_circuit(0x1p-6, PlainZgemm{});
  for (const auto& [plot, d, layers] : {std::tuple{"gates on 2 of 10 qubits", 2, 12}, {"gates on 5 of 10 qubits", 5, 6}}) {
    double norms = 0, gates = 0;
    for (const auto& layer : random_circuit({.qubits = 10, .gate_qubits = d, .layers = layers}, 1))
      for (const auto& gate : layer) norms += magnitude_norm_upper(gate), ++gates;
    const double terms = std::ldexp(2, d);
    for (const char* start : {", from a random state, ", ", from |0…0⟩, "}) {
      const auto certified = [&](const char* method) {
        return last_height(study, std::string(plot) + start + method, "circuit-(C1)");
      };
      EXPECT_LE(certified("certified, 1e-10"), 1e-10 * norms * 1.00001) << plot;  // ||x|| is 1 up to such errors
      EXPECT_LE(certified("certified, dgemm"), terms * 0x1p-53 * norms * 1.00001) << plot;
      EXPECT_GE(certified("ZGEMM"), terms * 0x1p-53 * gates) << plot;
    }
  }
}

/// A number outside the range of amplitudes has an infinite error.
TEST(FixedPointState, NumbersBeyondItsRangeAreFarOff) {
  const FixedPointState zero(State(2));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0x1p26, -0x1p27, 1e12, 1e300, infinity, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(zero.compare(1, false, x).error_upper, infinity) << x;
  EXPECT_LE(zero.compare(1, false, 0x1.fffffffffffffp25).error_upper, 0x1p26);
}

/// Parts with a wrong sign are far outside the certificate.
TEST(Circuit, AWrongProductIsFound) {
  const auto study = run_circuit(0x1p-6, PlainZgemm{true});
  EXPECT_FALSE(study.holds());
  EXPECT_THAT(explain_failures(study), testing::HasSubstr("FAILS: circuit-(C1) of ZGEMM"));
  EXPECT_THAT(explain_failures(study), testing::Not(testing::HasSubstr("INT8")));
}

TEST(Circuit, RefusesShapesThatAreNone) {
  EXPECT_THROW(random_circuit({.qubits = 0, .gate_qubits = 1, .layers = 1}, 0), std::invalid_argument);
  EXPECT_THROW(random_circuit({.qubits = 31, .gate_qubits = 1, .layers = 1}, 0), std::invalid_argument);
  EXPECT_THROW(random_circuit({.qubits = 4, .gate_qubits = 5, .layers = 1}, 0), std::invalid_argument);
  EXPECT_THROW(random_circuit({.qubits = 9, .gate_qubits = 9, .layers = 1}, 0), std::invalid_argument);
  EXPECT_THROW(random_circuit({.qubits = 4, .gate_qubits = 2, .layers = -1}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::study::circuit_test
