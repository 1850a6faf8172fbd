// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/bounds/multiply.hpp"

namespace ozbound {

/// One or several backends on which products run. With several, each product runs on the backend where it costs least.
///
/// Machines are immutable, and threads may share them; copies refer to the same backends.
class Machine {
 public:
  /// The CPU, and the first CUDA device if there is one and a calibration of it is known. Without a calibration the device's
  /// costs are no seconds, and cannot be compared with the CPU's. The first call loads the CUDA plug-in, if there is a driver.
  /// @param threads number of host threads; 0: OpenMP's number
  static Machine detect(int threads = 0);

  /// Only the first CUDA device. Its costs count products if no calibration is known.
  /// @throws std::invalid_argument with the reason if there is no device.
  static Machine cuda(int threads = 0);

  /// This machine's CPU with its native DGEMM, and their costs from a calibration of this machine or a shipped one.
  /// @param threads 0: OpenMP's number of threads
  /// @throws std::invalid_argument for a negative number of threads, or an unknown OZBOUND_KERNEL.
  static Machine cpu(int threads = 0);

  /// The same with another library, which must outlive the machine and its copies, or with null for no library.
  static Machine cpu(int threads, const NativeGemm* native);

  /// A machine of the caller's backends. The first one wins if costs are equal. Objects to which they refer must outlive the
  /// machine and its copies. @throws std::invalid_argument if the list is empty, or costs have different units.
  explicit Machine(std::vector<Backend> backends);

  /// The same, and keeps `owner`, which owns the objects to which the backends refer.
  Machine(std::vector<Backend> backends, std::shared_ptr<const void> owner);

  [[nodiscard]] std::span<const Backend> backends() const { return backends_; }

  /// True if made by Machine::cpu: its costs are the known costs of this processor.
  [[nodiscard]] bool is_cpu() const { return is_cpu_; }

  /// The backend that carries out a decision: the backend named in the decision; if absent, the cheapest. The bits are the
  /// same. @param place of the matrices
  /// @throws std::invalid_argument if no backend reaches the matrices, or the named native DGEMM is absent.
  [[nodiscard]] const Backend& backend_of(const Decision& decision, Place place = {}) const;

  /// The backend that carries out a candidate in the least time.
  [[nodiscard]] const Backend& backend_of(const Candidate& candidate, Decision decision, Place place = {}) const;

  /// Adapts a decision made elsewhere to this machine: its backend, and the costs there.
  void choose_backend(Decision& decision, Place place = {}) const;

 private:
  std::vector<Backend> backends_;
  std::shared_ptr<const void> owner_;
  bool is_cpu_ = false;
};

/// The cheapest way that certifies the target, on its cheapest backend: decide of bounds, for several backends.
/// @throws as decide, and std::invalid_argument if no backend reaches the matrices.
Decision decide(const Product& product, const Target& target, const Machine& machine, const Choices& choices = {});

/// Computes C as a decision says, on the backend that it names. @throws as multiply of bounds, and backend_of.
Certificate multiply(const Product& product, const Decision& decision, const Machine& machine,
                     const MultiplyOptions& options = {});

/// Decides, multiplies and certifies with a single examination of the operands, which makes several passes over each
/// (docs/adr/0015). Returns the decision of `decide` and the certificate of `multiply`. @throws as both.
Multiplied multiply(const Product& product, const Target& target, const Machine& machine, const Choices& choices = {},
                    const MultiplyOptions& options = {});

/// Computes the C of `multiply` for callers that want no record. If the decision would be native GEMM, one sweep over the
/// operands shows this, and no examination, decision or certificate is made. On one thread this takes half a microsecond more
/// than the library itself for n = 8 to 32 (docs/limits.md).
/// @return the certificate, if one was made anyway; nothing if the target is met without one
/// @throws as multiply.
std::optional<Certificate> multiply_without_record(const Product& product, const Target& target, const Machine& machine,
                                                   const Choices& choices = {}, const MultiplyOptions& options = {});

/// C = A B in a new matrix in host memory.
struct CertifiedResult {
  Matrix<double> c;
  Decision decision;
  Certificate certificate;
};
CertifiedResult multiply(InputView a, InputView b, const Target& target, const Machine& machine, const Choices& choices = {},
                         const MultiplyOptions& options = {});

}  // namespace ozbound
