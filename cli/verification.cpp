#include "verification.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

namespace ozbound::cli {
namespace {

bool judges_target(const Certificate& certificate, const EntrySelection& selection) {
  return certificate.holds && (selection.is_all() || certificate.target.kind != Target::Kind::normwise);
}

bool judges_bound(const Certificate& certificate) {
  return !certificate.holds || certificate.target.kind != Target::Kind::correctly_rounded;
}

}  // namespace

bool Verification::holds() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const auto& verdict) { return verdict.holds(); });
}

double Verification::ratio() const {
  double largest = 0;
  for (const auto& verdict : verdicts) largest = std::max(largest, verdict.ratio);
  return largest;
}

Index Verification::entries() const { return verdicts.empty() ? 0 : verdicts.front().entries; }

Index verification_passes(const Certificate& certificate, const EntrySelection& selection) {
  return Index{judges_target(certificate, selection)} + Index{judges_bound(certificate)};
}

Verification verify_product(const MatrixFile& c, const Certificate& certificate, const Oracle& oracle,
                            const JudgeOptions& options) {
  Verification verification;
  if (judges_target(certificate, options.selection))
    verification.verdicts.push_back(verify(result_view(c), oracle, certificate.target, options));
  if (judges_bound(certificate))
    verification.verdicts.push_back(verify(result_view(c), oracle, certificate.bound.over(input_view(c)), options));
  return verification;
}

nlohmann::ordered_json to_json(const Verification& verification) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& verdict : verification.verdicts) list.push_back(nlohmann::ordered_json(to_json(verdict)));
  return {{"schema", "ozbound-verification-1"}, {"holds", verification.holds()}, {"verdicts", list}};
}

InputView input_view(const MatrixFile& matrix) {
  if (matrix.is_float()) return std::get<Matrix<float>>(matrix.values);
  return std::get<Matrix<double>>(matrix.values);
}

OutputView output_view(MatrixFile& matrix) {
  if (matrix.is_float()) return std::get<Matrix<float>>(matrix.values);
  return std::get<Matrix<double>>(matrix.values);
}

ResultView result_view(const MatrixFile& matrix) {
  if (matrix.is_float()) return std::get<Matrix<float>>(matrix.values);
  return std::get<Matrix<double>>(matrix.values);
}

MatrixFile new_product(Index rows, Index cols, const Format& format) {
  if (format.precision == binary32.precision) return {Matrix<float>(rows, cols)};
  return {Matrix<double>(rows, cols)};
}

}  // namespace ozbound::cli
