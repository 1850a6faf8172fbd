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

/// What the time of a certified product by slices is made of: its seconds are a sum of counts times seconds each.
/// docs/adr/0008 says what they model.
inline constexpr std::array<std::string_view, 7> slice_terms{
    "call",     // 1
    "element",  // m k + k n: reading operands, their scales, norms and fingerprints
    "digit",    // s_A m k + s_B k n: slicing, packing and the norms of slices
    "product",  // m n k |P|, m and n rounded up to whole tiles of the kernel
    "sum",      // m n times the INT32 sums of an entry, rounded up likewise: leaving the inner loop, combining
    "entry",    // m n: rounding, certifying and fingerprinting C
    "inner",    // m n k: the enclosure of |A||B|
};

inline constexpr std::size_t slice_product_term = 3;
static_assert(slice_terms[slice_product_term] == "product");

/// The time of a certified product by N residues is a sum of these counts times seconds each.
inline constexpr std::array<std::string_view, 7> residue_terms{
    "call",     // 1
    "element",  // m k + k n: reading operands, rounding to integers, norms and fingerprints
    "residue",  // N (m k + k n): making residues
    "product",  // m n k N, m and n rounded up to whole tiles of the kernel
    "sum",      // m n N, rounded up likewise: leaving the inner loop, reducing sums, recovering
    "entry",    // m n: rounding, certifying and fingerprinting C
    "inner",    // m n k: the enclosure of |A||B|
};

inline constexpr std::size_t residue_product_term = 3;
static_assert(residue_terms[residue_product_term] == "product");

/// What the time of native DGEMM with its certificate is made of. Terms of two sizes make the rate rise with the least of m, n
/// and k.
inline constexpr std::array<std::string_view, 5> native_terms{
    "call",     // 1
    "a",        // m k
    "b",        // k n
    "entry",    // m n
    "product",  // m n k
};

/// What the time of the superaccumulator for every entry is made of.
inline constexpr std::array<std::string_view, 4> exact_terms{
    "call",     // 1
    "element",  // m k + k n
    "entry",    // m n
    "product",  // m n k
};

template <const auto& terms>
using TermSeconds = std::array<double, std::tuple_size_v<std::remove_cvref_t<decltype(terms)>>>;

/// Rows and columns of C that a kernel computes at once: smaller products cost as much.
struct KernelTile {
  Index rows = 1;
  Index columns = 1;
  bool operator==(const KernelTile&) const = default;
};

/// The counts whose seconds the terms are.
TermSeconds<slice_terms> slice_counts(const SplitPlan& plan, Index m, Index n, Index k, KernelTile tile);
TermSeconds<residue_terms> residue_counts(const ResiduePlan& plan, Index m, Index n, Index k, KernelTile tile);
TermSeconds<native_terms> native_counts(Index m, Index n, Index k);
TermSeconds<exact_terms> exact_counts(Index m, Index n, Index k);

/// Seconds of each term, all >= 0, with a number of threads.
struct Rates {
  int threads = 1;
  TermSeconds<slice_terms> slices{};
  TermSeconds<exact_terms> exact{};
  std::optional<TermSeconds<native_terms>> native;       ///< none where there was no native DGEMM
  std::optional<TermSeconds<residue_terms>> residues{};  ///< none where the engine has none, or the record is of version 2

  bool operator==(const Rates&) const = default;
};

/// What was measured on one machine with one kernel.
struct Calibration {
  std::string processor;  ///< or device
  std::string kernel;
  std::string version;  ///< of Ozbound
  KernelTile tile;
  std::vector<Rates> rates;    ///< threads ascending, at least one; of the host, for the engine cuda
  std::string engine = "cpu";  ///< or `cuda`; others are kept on file and used by nobody here

  /// NativeGemm::name() of the native DGEMM, kernels that it chose for this processor included; empty where there was none.
  std::string blas = {};

  /// Rates between two measured numbers of threads t follow Amdahl's law, a + b / t in every term; beyond them the nearest
  /// hold.
  [[nodiscard]] Rates with_threads(int threads) const;

  bool operator==(const Calibration&) const = default;
};

/// Seconds as a calibration predicts them.
class CalibratedCosts final : public CostModel {
 public:
  /// @throws std::invalid_argument if `threads` is not positive or the calibration has no rates.
  CalibratedCosts(const Calibration& calibration, int threads, CostOrigin origin);

  [[nodiscard]] CostOrigin origin() const override { return origin_; }
  /// Infinite for residues that were not measured.
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] double native(Index m, Index n, Index k) const override;  ///< infinite where it was not measured
  [[nodiscard]] double exact(Index m, Index n, Index k) const override;

  /// The calibration with the rates of these threads alone.
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }

 private:
  [[nodiscard]] const Rates& rates() const { return calibration_.rates.front(); }

  CostOrigin origin_;
  Calibration calibration_;
};

/// `ozbound-calibration-3`, docs/records.md: calibrations of any number of machines.
nlohmann::json to_json(const std::vector<Calibration>& calibrations);

/// Reads `ozbound-calibration-2` too, which knew of no residues.
/// @throws std::invalid_argument naming the member that is missing or wrong.
std::vector<Calibration> calibrations_from_json(const nlohmann::json& json);

/// A file of them: the schema and the list are as they should be, its entries may be anything, so that a wrong one hides no
/// other. @throws std::invalid_argument if the file cannot be read, is no JSON or larger than 1 MiB, or has another schema.
nlohmann::json read_calibration_file(const std::filesystem::path& path);

/// Such a file with `calibration`, in place of an entry of the same engine, processor, kernel, version and BLAS, whose rates
/// for other numbers of threads it keeps. Other entries stay as they are.
nlohmann::json with_calibration(nlohmann::json file, const Calibration& calibration);

/// What this library came with, measured by `./dev calibrate`.
const std::vector<Calibration>& shipped_calibrations();

/// $XDG_CACHE_HOME/ozbound/calibration.json, ~/.cache in place of a variable that is unset or not absolute; empty without
/// either.
std::filesystem::path calibration_path();

/// Model name, family and model of the processor, since virtual machines share names; `unknown` where nothing says them.
std::string processor_name();

/// What a calibration must be of to be used here: processor, kernel, version and the native DGEMM, if one is considered; and
/// the tile that a new one has.
Calibration this_machine(const CpuEngine& engine, const NativeGemm* native = nullptr);

/// Costs for an engine on this machine: by the calibration on file, if there is one of this processor, kernel, version and
/// native DGEMM, of any if `native` is null; else by the shipped one of this kernel, or the first shipped, as the origin's note
/// then says; its rates of native DGEMM stand for any. Reads the file anew; never throws for what is wrong with it: the note
/// says what is.
CalibratedCosts machine_costs(const CpuEngine& engine, const NativeGemm* native = nullptr);
CalibratedCosts machine_costs(const CpuEngine& engine, const NativeGemm* native, const std::filesystem::path& path);

/// Costs of what `here` names, with `threads` of the host: by the calibration on file of the same engine, processor, kernel,
/// version and BLAS, of any where `here` has none, else by a shipped one of the first three; nothing where there is neither.
/// Never throws for what is wrong with the file. @throws std::invalid_argument if `threads` is not positive.
std::optional<CalibratedCosts> known_costs(const Calibration& here, int threads);
std::optional<CalibratedCosts> known_costs(const Calibration& here, int threads, const std::filesystem::path& path);

}  // namespace ozbound
