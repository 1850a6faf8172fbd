// SPDX-License-Identifier: BSD-3-Clause
#include "measured_vectors.hpp"

#include <algorithm>
#include <utility>

#include "cuda_check.hpp"
#include "cuda_device.hpp"
#include "host_facts.hpp"

namespace ozbound::gpu {

struct MeasuredVectors::Measuring {
  std::vector<Index> row_indices, column_indices;
  Memory memory;  ///< none once the copy was waited for, as places
  DeviceArray<Index> places;
  SomeVectors rows, columns;
  double* number = nullptr;         ///< null: none
  std::optional<StartedCopy> copy;  ///< of all facts and the number; nothing if there is neither
};

double MeasuredVectors::Number::value() const { return *in_->copy->wait().at(in_->number); }

std::shared_ptr<MeasuredVectors::Measuring> MeasuredVectors::launch(std::vector<Index> rows, std::vector<Index> columns,
                                                                    const std::function<void(double*)>& launch_number,
                                                                    cudaStream_t stream) const {
  auto result = std::make_shared<Measuring>();
  result->row_indices = std::move(rows), result->column_indices = std::move(columns);
  const auto& of_rows = result->row_indices;
  const auto& of_columns = result->column_indices;
  if (of_rows.empty() && of_columns.empty() && launch_number == nullptr) return result;
  result->rows.matrix = rows_.vectors, result->columns.matrix = columns_.vectors;
  result->rows.inner = result->columns.inner = k_;
  const auto take = [&](Arena& arena) {
    if (launch_number != nullptr) result->number = arena.take<double>(1);
    result->rows.take(arena, encoding_, static_cast<Index>(of_rows.size()));
    result->columns.take(arena, encoding_, static_cast<Index>(of_columns.size()));
    result->rows.take_elements(arena), result->columns.take_elements(arena);
  };
  Arena needed;
  take(needed);
  result->memory = Memory(needed.used(), stream);
  auto arena = result->memory.arena();
  take(arena);
  if (of_rows.size() <= 1 && of_columns.size() <= 1) {
    if (!of_rows.empty()) result->rows.only = of_rows[0];
    if (!of_columns.empty()) result->columns.only = of_columns[0];
  } else {
    auto places = of_rows;
    places.insert(places.end(), of_columns.begin(), of_columns.end());
    result->places = copy_to_device(places, stream);
    result->rows.indices = result->places.data(), result->columns.indices = result->places.data() + of_rows.size();
  }
  launch_facts_of_some(result->rows, result->columns, stream);
  const void* begin = result->rows.facts.begin();
  if (launch_number != nullptr) launch_number(result->number), begin = result->number;
  result->copy.emplace(begin, result->columns.facts.end(), stream);
  return result;
}

void MeasuredVectors::erase_known(const Side& side, std::vector<Index>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  std::erase_if(indices, [&side](Index i) { return side.known.contains(i); });
}

void MeasuredVectors::note(Side& side, const std::vector<Index>& indices, const FactsOfAllSlicings& facts,
                           const std::shared_ptr<Measuring>& in) {
  for (std::size_t t = 0; t < indices.size(); ++t) side.known.insert({indices[t], Known{in, &facts, static_cast<Index>(t)}});
}

void MeasuredVectors::note_all(const std::shared_ptr<Measuring>& measuring) {
  note(rows_, measuring->row_indices, measuring->rows.facts, measuring);
  note(columns_, measuring->column_indices, measuring->columns.facts, measuring);
}

MeasuredVectors::Number MeasuredVectors::start(Index i, Index j, cudaStream_t stream,
                                               const std::function<void(double*)>& launch_number) {
  std::vector<Index> rows{i}, columns{j};
  erase_known(rows_, rows), erase_known(columns_, columns);
  Number number;
  number.in_ = launch(std::move(rows), std::move(columns), launch_number, stream);
  note_all(number.in_);
  return number;
}

void MeasuredVectors::expect(std::vector<Index> rows, std::vector<Index> columns) {
  expected_rows_ = std::move(rows), expected_columns_ = std::move(columns);
}

const VectorFacts& MeasuredVectors::facts(Side& side, Index i, int slices) {
  if (!side.known.contains(i)) {
    const CudaDevice current(device_);
    auto rows = std::exchange(expected_rows_, {}), columns = std::exchange(expected_columns_, {});
    (&side == &rows_ ? rows : columns).push_back(i);
    erase_known(rows_, rows), erase_known(columns_, columns);
    note_all(launch(std::move(rows), std::move(columns), nullptr, stream_));
  }
  auto& known = side.known.at(i);
  auto& facts = known.of[slices];
  if (facts == nullptr) {
    const auto& copied = known.in->copy->wait();
    known.in->memory = {}, known.in->places = {};
    facts = std::make_unique<const VectorFacts>(facts_on_host(*known.facts, slices, known.at, copied));
  }
  return *facts;
}

}  // namespace ozbound::gpu
