// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/cpu_engine.hpp"

namespace ozbound {

/// Terms of the time of a certified product by slices. Its seconds are a sum of counts times seconds per count. docs/adr/0008
/// explains the model.
inline constexpr std::array<std::string_view, 7> slice_terms{
    "call",     // 1
    "element",  // m k + k n: reading operands, their scales, norms and fingerprints
    "digit",    // s_A m k + s_B k n: slicing, packing and the norms of slices
    "product",  // m n k |P|, m and n rounded up to whole tiles of the kernel
    "sum",      // m n times the INT32 sums of an entry, rounded up like m n k |P|: leaving the inner loop, combining
    "entry",    // m n: rounding, certifying and fingerprinting C
    "inner",    // m n k: the enclosure of |A||B|
};

inline constexpr std::size_t slice_product_term = 3;
static_assert(slice_terms[slice_product_term] == "product");

/// Terms of the time of a certified product by N residues: a sum of counts times seconds per count.
inline constexpr std::array<std::string_view, 7> residue_terms{
    "call",     // 1
    "element",  // m k + k n: reading operands, rounding to integers, norms and fingerprints
    "residue",  // N (m k + k n): making residues
    "product",  // m n k N, m and n rounded up to whole tiles of the kernel
    "sum",      // m n N, rounded up like m n k N: leaving the inner loop, reducing sums, recovering
    "entry",    // m n: rounding, certifying and fingerprinting C
    "inner",    // m n k: the enclosure of |A||B|
};

inline constexpr std::size_t residue_product_term = 3;
static_assert(residue_terms[residue_product_term] == "product");

/// Terms of the time of native DGEMM with its certificate. Terms of two sizes make the rate rise with the smallest of m, n and
/// k.
inline constexpr std::array<std::string_view, 5> native_terms{
    "call",     // 1
    "a",        // m k
    "b",        // k n
    "entry",    // m n
    "product",  // m n k
};

/// Terms of the time of the superaccumulator for every entry.
inline constexpr std::array<std::string_view, 4> exact_terms{
    "call",     // 1
    "element",  // m k + k n
    "entry",    // m n
    "product",  // m n k
};

template <const auto& terms>
using TermSeconds = std::array<double, std::tuple_size_v<std::remove_cvref_t<decltype(terms)>>>;

/// Rows and columns of C that a kernel computes at once. Smaller products cost as much as a tile.
struct KernelTile {
  Index rows = 1;
  Index columns = 1;
  bool operator==(const KernelTile&) const = default;
};

/// The counts of a product, one for each term.
TermSeconds<slice_terms> slice_counts(const SplitPlan& plan, Index m, Index n, Index k, KernelTile tile);
TermSeconds<residue_terms> residue_counts(const ResiduePlan& plan, Index m, Index n, Index k, KernelTile tile);
TermSeconds<native_terms> native_counts(Index m, Index n, Index k);
TermSeconds<exact_terms> exact_counts(Index m, Index n, Index k);

/// Seconds per count of each term, all >= 0, for a number of threads.
struct Rates {
  int threads = 1;
  TermSeconds<slice_terms> slices{};
  TermSeconds<exact_terms> exact{};
  std::optional<TermSeconds<native_terms>> native;       ///< empty if there was no native DGEMM
  std::optional<TermSeconds<residue_terms>> residues{};  ///< empty if the engine has none, or the record is of version 2

  bool operator==(const Rates&) const = default;
};

/// The measurements on one machine with one kernel.
struct Calibration {
  std::string processor;  ///< processor or device
  std::string kernel;
  std::string version;  ///< of Ozbound
  KernelTile tile;
  std::vector<Rates> rates;    ///< threads ascending, at least one; for the engine cuda, host threads
  std::string engine = "cpu";  ///< or `cuda`; entries of other engines are kept in the file, and not used

  /// NativeGemm::name() of the native DGEMM, including the kernels that it chose for this processor; empty if there was none.
  std::string blas = {};

  /// The rates for a number of threads t. Between two measured numbers, every term follows Amdahl's law, a + b / t. Outside
  /// them, the nearest measured rates hold.
  [[nodiscard]] Rates with_threads(int threads) const;

  bool operator==(const Calibration&) const = default;
};

/// Costs in seconds, predicted by a calibration.
class CalibratedCosts final : public CostModel {
 public:
  /// @throws std::invalid_argument if `threads` is not positive or the calibration has no rates.
  CalibratedCosts(const Calibration& calibration, int threads, CostOrigin origin);

  [[nodiscard]] CostOrigin origin() const override { return origin_; }
  /// Infinite for residues that were not measured.
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] double native(Index m, Index n, Index k) const override;  ///< infinite if it was not measured
  [[nodiscard]] double exact(Index m, Index n, Index k) const override;

  /// The calibration with only the rates for this number of threads.
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }

 private:
  [[nodiscard]] const Rates& rates() const { return calibration_.rates.front(); }

  CostOrigin origin_;
  Calibration calibration_;
};

/// Calibrations of any number of machines as JSON: `ozbound-calibration-3`, docs/records.md.
nlohmann::json to_json(const std::vector<Calibration>& calibrations);

/// Also reads `ozbound-calibration-2`, which has no residues.
/// @throws std::invalid_argument naming the member that is missing or wrong.
std::vector<Calibration> calibrations_from_json(const nlohmann::json& json);

/// Reads a file of calibrations. Checks the schema and the list, but not the entries, so that a wrong entry does not hide the
/// others. @throws std::invalid_argument if the file cannot be read, is not JSON, is larger than 1 MiB, or has another schema.
nlohmann::json read_calibration_file(const std::filesystem::path& path);

/// Returns such a file with `calibration` inserted. It replaces an entry of the same engine, processor, kernel, version and
/// BLAS, whose rates for other numbers of threads are kept. Other entries are unchanged.
nlohmann::json with_calibration(nlohmann::json file, const Calibration& calibration);

/// The calibrations shipped with this library, measured by `./dev calibrate`.
const std::vector<Calibration>& shipped_calibrations();

/// $XDG_CACHE_HOME/ozbound/calibration.json. ~/.cache replaces a variable that is unset or not absolute. Empty without either.
std::filesystem::path calibration_path();

/// Model name, family and model of the processor, since virtual machines share names; `unknown` if the system does not report
/// them.
std::string processor_name();

/// The properties that a calibration must have to be used here: processor, kernel, version and the native DGEMM, if one is
/// considered. Also the tile of a new calibration.
Calibration this_machine(const CpuEngine& engine, const NativeGemm* native = nullptr);

/// Costs for an engine on this machine, from the calibration on file for this processor, kernel, version and native DGEMM (any
/// DGEMM if `native` is null). If there is none, from the shipped calibration of this kernel, or else from the first shipped
/// one; the origin's note then says this, and its rates of native DGEMM stand for any DGEMM. Reads the file anew. Errors in the
/// file do not throw; the note describes them.
CalibratedCosts machine_costs(const CpuEngine& engine, const NativeGemm* native = nullptr);
CalibratedCosts machine_costs(const CpuEngine& engine, const NativeGemm* native, const std::filesystem::path& path);

/// Costs for the machine that `here` names, with `threads` host threads, from the calibration on file for the same engine,
/// processor, kernel, version and BLAS (any BLAS if `here` has none). If there is none, from a shipped calibration with the
/// same engine, processor and kernel. Returns nothing if neither exists. Errors in the file do not throw. @throws
/// std::invalid_argument if `threads` is not positive.
std::optional<CalibratedCosts> known_costs(const Calibration& here, int threads);
std::optional<CalibratedCosts> known_costs(const Calibration& here, int threads, const std::filesystem::path& path);

}  // namespace ozbound
