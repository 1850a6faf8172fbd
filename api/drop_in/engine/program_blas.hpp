// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "drop_in.h"
#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::drop_in {

/// The library that a site's native routine lies in, as a native GEMM that decisions are made for. It multiplies nothing here:
/// the program's calls are repeated as they were made.
class ProgramBlas final : public NativeGemm {
 public:
  ProgramBlas(std::string file, std::optional<std::string> recognised)
      : file_(std::move(file)), recognised_(std::move(recognised)) {}

  [[nodiscard]] std::string name() const override { return recognised_.value_or(file_); }
  [[nodiscard]] bool is_conventional() const override { return recognised_.has_value(); }
  [[nodiscard]] const std::string& file() const { return file_; }

  [[nodiscard]] bool has_sgemm() const override { return true; }
  void dgemm(const RealProduct&) const override;
  void sgemm(const RealProduct&) const override;

 private:
  std::string file_;
  std::optional<std::string> recognised_;
};

/// One for each library, which is never destroyed.
const ProgramBlas& blas_of(const ozd_site& site);

/// Bits of the integers that a site's library takes, 32 or 64: by the routine's name, else as the library says of itself.
int integer_bits(ozd_site& site);

}  // namespace ozbound::drop_in
