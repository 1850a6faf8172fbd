// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/bounds/multiply.hpp"

namespace ozbound {

/// What products may run on: one backend, or several of which each product takes the one where it costs least.
///
/// A machine does not change and may be shared between threads; copies are of the same backends.
class Machine {
 public:
  /// The CPU, and the first CUDA device where there is one and it is known how long it takes: seconds cannot be compared with
  /// anything else. The plug-in of CUDA is loaded when this is first called, if there is a driver.
  /// @param threads of the host; 0: as many as OpenMP would use
  static Machine detect(int threads = 0);

  /// The first CUDA device alone, whose costs count products where no calibration is known.
  /// @throws std::invalid_argument where there is none, saying why.
  static Machine cuda(int threads = 0);

  /// This machine's CPU with its native DGEMM, and what its ways cost: as calibrated, or as a shipped calibration says.
  /// @param threads 0: as many as OpenMP would use
  /// @throws std::invalid_argument for a negative number of threads, or an OZBOUND_KERNEL that is none.
  static Machine cpu(int threads = 0);

  /// The same with another library, which must outlive the machine and its copies, or none.
  static Machine cpu(int threads, const NativeGemm* native);

  /// Backends of one's own, the first of which decides where costs are equal. What they refer to must outlive the machine and
  /// its copies. @throws std::invalid_argument if there are none, or they count costs in different units.
  explicit Machine(std::vector<Backend> backends);

  /// As above, and keeps `owner`, to whom what the backends refer to belongs.
  Machine(std::vector<Backend> backends, std::shared_ptr<const void> owner);

  [[nodiscard]] std::span<const Backend> backends() const { return backends_; }

  /// Made by Machine::cpu: its costs are those that are known of this processor.
  [[nodiscard]] bool is_cpu() const { return is_cpu_; }

  /// Where a decision is carried out: on what it names, and if that is not here, or it names nothing, where it costs least:
  /// the bits are the same. @param place of the matrices
  /// @throws std::invalid_argument where nothing reaches the matrices, or the native DGEMM that it names is not here.
  [[nodiscard]] const Backend& backend_of(const Decision& decision, Place place = {}) const;

  /// Where a way that was looked at is carried out in the least time.
  [[nodiscard]] const Backend& backend_of(const Candidate& candidate, Decision decision, Place place = {}) const;

  /// Makes a decision that somebody else made this machine's: its backend, and the costs there.
  void choose_backend(Decision& decision, Place place = {}) const;

 private:
  std::vector<Backend> backends_;
  std::shared_ptr<const void> owner_;
  bool is_cpu_ = false;
};

/// The cheapest way that certifies the target, on the backend where it is cheapest: decide of bounds, for several backends.
/// @throws as decide, and std::invalid_argument where no backend reaches the matrices.
Decision decide(const Product& product, const Target& target, const Machine& machine, const Choices& choices = {});

/// C as a decision says, on the backend that it names. @throws as multiply of bounds, and backend_of.
Certificate multiply(const Product& product, const Decision& decision, const Machine& machine,
                     const MultiplyOptions& options = {});

/// Decides, multiplies and certifies by one examination of the operands, which makes several passes over each (docs/adr/0015):
/// the decision of `decide`, the C and certificate of `multiply`. @throws as both.
Multiplied multiply(const Product& product, const Target& target, const Machine& machine, const Choices& choices = {},
                    const MultiplyOptions& options = {});

/// The C of `multiply`, for callers that want no record of it: where native GEMM is what would be decided, one sweep over the
/// operands finds that out, and no examination, decision or certificate is made. On one thread that takes half a microsecond
/// more than the library itself for n = 8 to 32 (docs/limits.md).
/// @return the certificate, where one was made all the same; nothing where the target is met without
/// @throws as multiply.
std::optional<Certificate> multiply_without_record(const Product& product, const Target& target, const Machine& machine,
                                                   const Choices& choices = {}, const MultiplyOptions& options = {});

/// C = A B in a new matrix of the host's memory.
struct CertifiedResult {
  Matrix<double> c;
  Decision decision;
  Certificate certificate;
};
CertifiedResult multiply(InputView a, InputView b, const Target& target, const Machine& machine, const Choices& choices = {},
                         const MultiplyOptions& options = {});

}  // namespace ozbound
