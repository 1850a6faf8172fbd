// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "ozbound/verify/grade/grade.hpp"
#include "ozbound/verify/oracle.hpp"
#include "stored_call.hpp"

/// Programs in C that show a fault by themselves: each is linked with the library, makes one call, and ends with 1 if the fault
/// is there, with 0 if not. Those with data were tried, at the sizes they have, before they were written; an empty text says
/// that no call of at most `most_elements` elements showed it.
namespace ozbound::grading {

/// Of A, B and C together.
inline constexpr Index most_elements = 5000;

/// What an entry has to be.
enum class Judged : std::uint8_t {
  conventional,  ///< within the bound of judge_conventional, where nothing overflows on the way
  finite,        ///< that, and finite wherever the exact product is
};

/// An entry is wrong. @param b_is_a the library is handed A in the place of B; both are then the same values
std::string entry_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage = {},
                          Judged judged = Judged::conventional, bool b_is_a = false);

/// Something else than C's elements is written.
std::string memory_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage);

/// The bits of C change from one call to the next.
std::string repetition_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage);

/// An access reaches a page beside an operand, or writes into A or B. Of sizes alone: the data are others. `at_end`: operands
/// end at such a page, else they begin there.
std::string guarded_snippet(const ForeignGemm& gemm, const std::string& test, const BlasCall& sizes, bool at_end);

/// The call ends the process or does not return. Likewise of sizes alone.
std::string return_snippet(const GemmSymbol& symbol, const std::string& test, const BlasCall& sizes);

/// Loading, or the first call, of the first symbol that the library has if none is named, ends the process or does not return.
std::string loading_snippet(const GemmSymbol& symbol, const std::string& test);

/// Loading changes what belongs to the caller of the floating-point environment; or a call does, if `change`, in the words of
/// ForeignLibrary, says after which.
std::string environment_snippet(const GemmSymbol& symbol, const std::string& test, const std::string& change);

/// The call that `describe` said; none where the text is another.
std::optional<BlasCall> described_call(const std::string& text);

}  // namespace ozbound::grading
