// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/detail/outward.hpp"
#include "study/random_circuit.hpp"

namespace ozbound::study {

/// Facts about a gate for a circuit's certificate.
struct GateFacts {
  Gate excess;            ///< G* G - I, each part rounded once
  double defect;          ///< mu >= ||G* G - I||
  double magnitude_norm;  ///< >= || |G| ||, by parts

  explicit GateFacts(const Gate& gate)
      : excess(gram_excess(gate)), defect(excess_norm_upper(excess)), magnitude_norm(magnitude_norm_upper(gate)) {}
};

/// Bounds, gate by gate, the distance of a computed state from the exact one, as a vector; docs/derivations/circuit.md.
/// @pre the FP environment rounds to nearest and keeps subnormals.
class CircuitCertificate {
 public:
  /// Adds a gate that was applied to a computed state of at most this norm, with an error of at most `error`.
  void add(const GateFacts& facts, double norm, double error) {
    error_ = add_upper(multiply_upper(root_upper(add_upper(1, facts.defect)), error_), error);
    from_unitary_ = add_upper(add_upper(from_unitary_, multiply_upper(facts.defect, norm)), error);
  }

  /// (C1): distance from the product of the gates as given.
  [[nodiscard]] double error_upper() const { return error_; }

  /// (C2): distance from the product of the nearest unitary matrices.
  [[nodiscard]] double from_unitary_upper() const { return from_unitary_; }

 private:
  double error_ = 0, from_unitary_ = 0;
};

}  // namespace ozbound::study
