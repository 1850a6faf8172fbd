// SPDX-License-Identifier: BSD-3-Clause
// A stored case of a property is read, or refused with its file's name; a case that was read is written and reads back the
// same.

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fuzz/fuzz.hpp"
#include "ozbound/verify/gemm_case.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  StoredCase stored;
  try {
    stored = read_case(file.path());
  } catch (const std::invalid_argument& refusal) {
    fuzz::require(std::string_view(refusal.what()).starts_with(file.path().string() + ": "),
                  "a refusal does not name the file");
    return 0;
  }
  stored.gemm_case.validate();
  const auto text = to_text(stored);
  const auto again = case_from_json(nlohmann::json::parse(text));
  fuzz::require(again.gemm_case == stored.gemm_case, "another case reads back");
  fuzz::require(again.properties == stored.properties && again.note == stored.note, "another purpose reads back");
  fuzz::require(to_text(again) == text, "another text is written of what reads back");
  return 0;
}
