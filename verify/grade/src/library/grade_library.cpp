// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/grade/grade_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "../snippet.hpp"
#include "child.hpp"
#include "protocol.hpp"

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using nlohmann::json;

constexpr const char* reproducible_summation =
    "J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64 (2015)";

Environment with_threads(unsigned count) {
  Environment environment{{"OMP_DYNAMIC", "FALSE"}, {"MKL_DYNAMIC", "FALSE"}};
  for (const auto* library : {"OMP", "OPENBLAS", "GOTO", "BLIS", "MKL", "VECLIB"})
    environment.emplace_back(fmt::format("{}_NUM_THREADS", library), std::to_string(count));
  return environment;
}

/// The end of a process that did not answer.
struct Failure {
  Outcome outcome = Outcome::crashed;
  std::string detail;
  std::string printed;
  std::optional<BlasCall> call = {};  ///< the call under way
};

/// If the answer is unreadable, the library caused it, because the worker itself writes readable answers.
Failure unreadable(const ChildResult& child) {
  return {
      .outcome = Outcome::crashed,
      .detail = fmt::format("the answer of its process is unreadable, {} bytes: the library wrote into it, or returned from "
                            "one call in two processes",
                            child.result.size()),
      .printed = child.printed};
}

Failure failure_of(const ChildResult& child, std::chrono::milliseconds limit) {
  Failure failure;
  switch (child.end) {
    case ChildEnd::timed_out:
      failure.outcome = Outcome::hung;
      failure.detail = fmt::format("it had not returned after {} s", static_cast<double>(limit.count()) / 1000);
      break;
    case ChildEnd::signalled: failure.detail = "it ended the process by " + signal_name(child.code); break;
    case ChildEnd::exited:
      if (!child.result.empty()) return unreadable(child);
      failure.detail = fmt::format("it ended the process (exit {})", child.code);
      break;
  }
  if (!child.note->empty()) failure.detail += " in " + *child.note;
  failure.call = grading::described_call(*child.note);
  failure.printed = child.printed;
  return failure;
}

std::runtime_error not_graded(const std::string& part, const std::string& why) {
  return std::runtime_error(fmt::format("the part {} cannot be graded: {}", part, why));
}

LibraryIdentity identity_from_json(const json& library) {
  return {.file = library.at("file"),
          .symbol = library.at("symbol"),
          .bytes = library.at("bytes"),
          .crc32 = library.at("crc32"),
          .version = library.at("version"),
          .kernel = library.at("kernel")};
}

/// The results of a process for fixed products.
struct Products {
  std::uint64_t fingerprint = 0;
  std::vector<Finding> findings;
};

Products products_from_json(const json& object) {
  return {.fingerprint = object.at("fingerprint"), .findings = findings_from_json(object).findings};
}

/// `1, 2, 64`
std::string counts_of(const std::map<unsigned, Products>& made) {
  std::string all;
  for (const auto& [threads, products] : made) all += (all.empty() ? "" : ", ") + std::to_string(threads);
  return all;
}

/// For each name, one finding among those with several thread counts: the first fault, otherwise the first.
std::vector<Finding> of_all_threads(const std::map<unsigned, Products>& made) {
  std::vector<Finding> all;
  for (const auto& [threads, products] : made)
    for (const auto& finding : products.findings) {
      auto found = std::find_if(all.begin(), all.end(), [&](const Finding& one) { return one.test == finding.test; });
      if (found != all.end() && (is_fault(found->outcome) || !is_fault(finding.outcome))) continue;
      if (found == all.end()) found = all.insert(found, finding);
      *found = finding;
      found->detail = is_fault(finding.outcome)
                          ? fmt::format("with {} thread{}: {}", threads, threads == 1 ? "" : "s", finding.detail)
                          : fmt::format("each with {} threads: {}", counts_of(made), finding.detail);
    }
  return all;
}

class Grader {
 public:
  explicit Grader(const GradeRequest& request)
      : request_(request), worker_((request.worker.empty() ? grade_worker() : request.worker).string()) {
    grade_.library = request.library;
    grade_.options = request.options;
    grade_.processor = processor_name();
  }

  void grade(const std::string& name, const std::string& title) {
    grade_.parts.push_back({.name = name, .title = title, .findings = {}, .printed = ""});
    if (name == protocol::threads)
      compare_processes();
    else
      answered(name, 1, [&](const json& object) { accept(name, object); });
  }

  /// True if the library was loaded, so that further parts can run.
  [[nodiscard]] bool loaded() const { return !grade_.identity.file.empty(); }

  Grade result() && { return std::move(grade_); }

 private:
  [[nodiscard]] ChildResult ask(const std::string& part, unsigned threads) const {
    auto child = run_child({worker_, request_.library, request_.symbol, part, std::to_string(request_.options.seed),
                            request_.options.quick ? "quick" : "full"},
                           with_threads(threads), request_.time_limit);
    if (!child.note) throw std::runtime_error(worker_ + " cannot be run: " + child.printed);
    return child;
  }

  /// Asks a worker, and passes the object that it answers to `take`. @return false if there is no answer, or none that `take`
  /// can read; the failure is then a finding.
  template <class Take>
  bool answered(const std::string& part, unsigned threads, Take take) {
    const auto child = ask(part, threads);
    const auto object = child.end == ChildEnd::exited ? json::parse(child.result, nullptr, false) : json();
    if (child.end == ChildEnd::signalled && child.code == SIGKILL)
      throw not_graded(part, "its process was ended by SIGKILL, which comes from outside, as where memory runs out");
    auto failure = failure_of(child, request_.time_limit);
    if (object.is_object()) {
      if (const auto error = object.value("error", json()); error.is_string())
        throw std::invalid_argument(error.get<std::string>());
      if (const auto why = object.value("failure", json()); why.is_string()) throw not_graded(part, why.get<std::string>());
      try {
        take(object);
        return true;
      } catch (const json::exception&) {
        failure = unreadable(child);
      } catch (const std::invalid_argument&) {
        failure = unreadable(child);
      }
    }
    add_failure(failure, threads);
    return false;
  }

  [[nodiscard]] std::string snippet_of(const Failure& failure, const std::string& test) const {
    if (!loaded()) return grading::loading_snippet({request_.library, request_.symbol}, test);
    if (!failure.call) return "";
    return grading::return_snippet({grade_.identity.file, grade_.identity.symbol}, test, *failure.call);
  }

  void add_failure(const Failure& failure, unsigned threads) {
    auto& graded = grade_.parts.back();
    graded.printed = failure.printed;
    add({.test = graded.name + ".completes",
         .statement = "every call returns",
         .source = "the interface: dgemm returns to its caller",
         .outcome = failure.outcome,
         .detail = failure.detail + (threads == 1 ? "" : fmt::format(", with {} threads", threads)),
         .values = {},
         .snippet = snippet_of(failure, graded.name + ".completes")});
  }

  void accept(const std::string& part, const json& object) {
    auto findings = findings_from_json(object);
    if (part == protocol::loading) grade_.identity = identity_from_json(object.at("library"));
    grade_.parts.back().findings = std::move(findings);
  }

  void compare_processes() {
    std::map<unsigned, Products> made;
    std::uint64_t again = 0;
    for (const unsigned threads : {1u, 2u, std::thread::hardware_concurrency()}) {
      if (threads == 0 || made.contains(threads)) continue;
      grade_.threads.push_back(threads);
      if (!answered(protocol::threads, threads, [&](const json& object) { made[threads] = products_from_json(object); }))
        return;
    }
    if (!answered(protocol::fingerprint, 1, [&](const json& object) { again = object.at("fingerprint"); })) return;
    const bool same = again == made[1].fingerprint;
    add_processes(same);
    add_threads(same, made);
    for (auto& finding : of_all_threads(made)) add(std::move(finding));
  }

  void add_processes(bool same) {
    add({.test = "reproducibility.processes",
         .statement = "two processes with one thread compute the same bits of the same products",
         .source = reproducible_summation,
         .outcome = same ? Outcome::pass : Outcome::fail,
         .detail = same ? "" : "the bits of C depend on more than the call: on memory never set, on addresses, on the time",
         .values = {}});
  }

  void add_threads(bool reproducible, const std::map<unsigned, Products>& made) {
    std::string others;
    for (const auto& [threads, products] : made)
      if (products.fingerprint != made.at(1).fingerprint) others += (others.empty() ? "" : ", ") + std::to_string(threads);
    Finding finding{.test = "reproducibility.threads",
                    .statement = "the bits of C are the same for any number of threads",
                    .source = fmt::format("{}; the BLAS standard leaves it open", reproducible_summation),
                    .outcome = others.empty() ? Outcome::pass : Outcome::differs,
                    .detail = "threads: " + counts_of(made) + (others.empty() ? "" : "; other bits than with 1: " + others),
                    .values = {}};
    if (!reproducible) {
      finding.outcome = Outcome::skipped;
      finding.detail = "one thread does not repeat its own bits";
    }
    add(std::move(finding));
  }

  void add(Finding finding) { grade_.parts.back().findings.findings.push_back(std::move(finding)); }

  const GradeRequest& request_;
  std::string worker_;
  Grade grade_;
};

void check_parts(const std::vector<std::string>& names) {
  const auto& known = gradable_parts();
  for (const auto& name : names)
    if (std::none_of(known.begin(), known.end(), [&](const auto& part) { return part.first == name; })) {
      std::string all;
      for (const auto& part : known) all += (all.empty() ? "" : ", ") + part.first;
      throw std::invalid_argument(fmt::format("there is no part '{}'; the parts are {}", name, all));
    }
}

}  // namespace

bool is_fault(Outcome outcome) { return outcome == Outcome::fail || outcome == Outcome::crashed || outcome == Outcome::hung; }

std::map<Outcome, int> Grade::counts() const {
  std::map<Outcome, int> counts;
  for (const auto& part : parts)
    for (const auto& finding : part.findings.findings) ++counts[finding.outcome];
  return counts;
}

bool Grade::holds() const {
  const auto found = counts();
  return std::none_of(found.begin(), found.end(), [](const auto& count) { return is_fault(count.first); });
}

const std::vector<std::pair<std::string, std::string>>& gradable_parts() {
  static const auto all = [] {
    std::vector<std::pair<std::string, std::string>> parts{{protocol::loading, "Loading"}};
    for (const auto& part : grade_parts()) parts.emplace_back(part.name, part.title);
    parts.emplace_back(protocol::threads, "Processes and thread counts");
    return parts;
  }();
  return all;
}

std::filesystem::path grade_worker() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string name = "ozbound-grade-worker";
  for (const auto& place :
       {here / name, here.parent_path() / "libexec/ozbound" / name, std::filesystem::path(OZBOUND_INSTALLED_WORKERS) / name})
    if (std::filesystem::exists(place)) return place;
  throw std::invalid_argument(name + " is neither beside this program nor installed");
}

Grade grade_library(const GradeRequest& request, const std::function<void(double)>& progress) {
  const FloatEnvironment environment;
  check_parts(request.parts);
  const std::set<std::string> wanted(request.parts.begin(), request.parts.end());
  const auto& parts = gradable_parts();
  Grader grader(request);
  for (std::size_t i = 0; i < parts.size() && (i == 0 || grader.loaded()); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(parts.size()));
    const auto& [name, title] = parts[i];
    if (i == 0 || wanted.empty() || wanted.contains(name)) grader.grade(name, title);
  }
  return std::move(grader).result();
}

}  // namespace ozbound
