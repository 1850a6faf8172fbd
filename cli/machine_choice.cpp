// SPDX-License-Identifier: BSD-3-Clause
#include "machine_choice.hpp"

#include <omp.h>

#include <stdexcept>

#include "cuda.hpp"

namespace ozbound::cli {

Machine make_machine(EngineChoice choice, int threads) {
  if (threads > 0) omp_set_num_threads(threads);
  if (choice == EngineChoice::native) static_cast<void>(native_gemm(choice));  // throws if this build has no native DGEMM
  if (choice == EngineChoice::automatic) return Machine::detect(threads);
  if (choice != EngineChoice::cuda) return Machine::cpu(threads);
  if (const auto obstacle = cuda_obstacle(); !obstacle.empty()) throw std::invalid_argument("--engine: " + obstacle);
  return Machine::cuda(threads);
}

Choices make_choices(EngineChoice choice) {
  return {.slices = choice != EngineChoice::native,
          .native = choice == EngineChoice::automatic || choice == EngineChoice::native};
}

std::shared_ptr<const Engine> make_engine(EngineChoice choice, int threads) {
  const auto machine =
      std::make_shared<const Machine>(make_machine(choice == EngineChoice::cuda ? choice : EngineChoice::cpu, threads));
  return {machine, &machine->backends().front().engine()};
}

}  // namespace ozbound::cli
