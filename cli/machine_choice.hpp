// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "decision_arguments.hpp"
#include "ozbound/machine.hpp"

namespace ozbound::cli {

/// The machine for a choice, with that many threads. Sets the number of threads for the whole process.
/// @throws std::invalid_argument if the choice asks for something that is not available.
Machine make_machine(EngineChoice choice, int threads);

/// The ways of computing C that a choice leaves open.
Choices make_choices(EngineChoice choice);

/// The engine of a choice that allows only one: the device's, or the CPU's. @throws std::invalid_argument if it is not
/// available.
std::shared_ptr<const Engine> make_engine(EngineChoice choice, int threads);

}  // namespace ozbound::cli
