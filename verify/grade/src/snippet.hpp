// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "ozbound/verify/grade/grade.hpp"
#include "ozbound/verify/oracle.hpp"
#include "stored_call.hpp"

/// C programs that each show one fault. A program is linked with the library, makes one call, and ends with 1 if the library
/// has the fault, with 0 if not. Programs with data were tried at their sizes before they were written. An empty text means
/// that no call of at most `most_elements` elements showed the fault.
namespace ozbound::grading {

/// The limit for A, B and C together.
inline constexpr Index most_elements = 5000;

/// The requirement on an entry.
enum class Judged : std::uint8_t {
  conventional,  ///< within the bound of judge_conventional, if nothing overflows on the way
  finite,        ///< conventional, and finite if the exact product is finite
};

/// An entry is wrong. @param b_is_a the library gets A in place of B; both have the same values then
std::string entry_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage = {},
                          Judged judged = Judged::conventional, bool b_is_a = false);

/// The call writes something other than C's elements.
std::string memory_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage);

/// The bits of C change from one call to the next.
std::string repetition_snippet(const ForeignGemm& gemm, const std::string& test, const Operands& in, const Storage& storage);

/// An access reaches a page beside an operand, or writes into A or B. Only the sizes matter: the program has other data. If
/// `at_end`, operands end at such a page, otherwise they begin there.
std::string guarded_snippet(const ForeignGemm& gemm, const std::string& test, const BlasCall& sizes, bool at_end);

/// The call ends the process or does not return. Only the sizes matter.
std::string return_snippet(const GemmSymbol& symbol, const std::string& test, const BlasCall& sizes);

/// Loading the library, or the first call of its first symbol if none is named, ends the process or does not return.
std::string loading_snippet(const GemmSymbol& symbol, const std::string& test);

/// Loading changes the caller's part of the floating-point environment. If `change` names a call, in the words of
/// ForeignLibrary, that call does.
std::string environment_snippet(const GemmSymbol& symbol, const std::string& test, const std::string& change);

/// The call in a text of `describe`; empty for another text.
std::optional<BlasCall> described_call(const std::string& text);

}  // namespace ozbound::grading
