// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "drop_in.h"
#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::drop_in {

/// The library of a site's native routine, as a native GEMM for decisions. It multiplies nothing itself: the program's calls
/// are repeated as they were made.
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

/// The object for the site's library: one per library, never destroyed.
const ProgramBlas& blas_of(const ozd_site& site);

/// Any library while its caller rounds in another way than to nearest, or flushes subnormal numbers: not conventional.
const ProgramBlas& blas_in_another_mode();

/// Bits of the integers of a site's library, 32 or 64: by the routine's name, else by the library's own information, else by a
/// dot product whose increment is 0 or 2^32; -1 if nobody can tell. Known libraries are asked once.
int integer_bits(ozd_site& site);

/// True if the library of a site takes leading dimensions of matrices without rows that netlib's BLAS refuses: OpenBLAS.
bool takes_no_rows(const ozd_site& site);

}  // namespace ozbound::drop_in
