// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/verify/entry_selection.hpp"
#include "ozbound/verify/grade/grade.hpp"
#include "ozbound/verify/oracle.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {

/// Expects the product in each of layouts_of to be conventional (judge_conventional). @param what the data, for people
/// @param storage see layouts_of @param selection the judged entries
void expect_conventional(const ForeignGemm& gemm, const Operands& in, const std::string& what, Tally& tally,
                         const Storage& storage = {}, const EntrySelection& selection = EntrySelection::all());

}  // namespace ozbound::grading
