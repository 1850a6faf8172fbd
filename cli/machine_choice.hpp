// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "decision_arguments.hpp"
#include "ozbound/machine.hpp"

namespace ozbound::cli {

/// What products may run on under a choice, with that many threads, which everything else in this process uses from now on too.
/// @throws std::invalid_argument where the choice asks for what is not here.
Machine make_machine(EngineChoice choice, int threads);

/// The ways of computing C that a choice leaves open.
Choices make_choices(EngineChoice choice);

/// The engine of a choice that leaves one open: the device's, or the CPU's. @throws std::invalid_argument where it is not here.
std::shared_ptr<const Engine> make_engine(EngineChoice choice, int threads);

}  // namespace ozbound::cli
