// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrices.hpp"

namespace ozbound::gpu {

/// Operations on matrices in a device's memory, the host's, or both. The host handles matrices in its own memory only. Works on
/// the thread's own stream (cudaStreamPerThread).
class DeviceMatrices final : public Matrices {
 public:
  /// @param threads of the host, at least 1
  DeviceMatrices(int device, int threads) : device_(device), threads_(threads), host_(threads) {}

  [[nodiscard]] bool reaches(Place place) const override { return place.is_host() || place.device == device_; }
  [[nodiscard]] std::uint64_t fingerprint(const InputView& matrix) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& operand, Side side) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& matrix) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> copy(const InputView& original) const override;
  [[nodiscard]] SpecialEntries special_entries(const RealProduct& product) const override;
  [[nodiscard]] Index count(const SpecialEntries& specials) const override;
  void apply_specials(const RealProduct& product, const SpecialEntries& specials) const override;
  void write_specials(const RealProduct& product) const override;
  void multiply_exactly(const RealProduct& product, const SpecialEntries& specials) const override;
  void finish_exactly(const RealProduct& product, const std::vector<Entry>& entries) const override;
  [[nodiscard]] std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override;
  [[nodiscard]] std::unique_ptr<RealRepresentation> represent(const ComplexProduct& product) const override;
  [[nodiscard]] std::unique_ptr<RealRepresentation> bring(const RealProduct& product) const override;

 private:
  int device_;
  int threads_;
  HostMatrices host_;
};

}  // namespace ozbound::gpu
