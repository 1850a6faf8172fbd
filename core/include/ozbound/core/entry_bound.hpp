// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// Immutable numbers; copies and parts share them.
class Norms {
 public:
  Norms() = default;
  Norms(std::vector<double> numbers) : Norms(std::make_shared<const std::vector<double>>(std::move(numbers))) {}
  Norms(std::initializer_list<double> numbers) : Norms(std::vector<double>(numbers)) {}
  /// A view of numbers that `owner` keeps, starting at `first`.
  Norms(std::shared_ptr<const void> owner, const double* first, std::size_t count)
      : owner_(std::move(owner)), first_(first), count_(count) {}

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const double* data() const { return first_; }
  [[nodiscard]] const double* begin() const { return first_; }
  [[nodiscard]] const double* end() const { return first_ + count_; }
  [[nodiscard]] double operator[](std::size_t i) const { return first_[i]; }

  [[nodiscard]] Norms part(Index first, Index count) const { return {owner_, first_ + first, static_cast<std::size_t>(count)}; }

 private:
  explicit Norms(const std::shared_ptr<const std::vector<double>>& numbers)
      : owner_(numbers), first_(numbers->data()), count_(numbers->size()) {}

  std::shared_ptr<const void> owner_;
  const double* first_ = nullptr;
  std::size_t count_ = 0;
};

/// rows[i] * columns[j], both >= 0.
struct OuterProduct {
  Norms rows;     ///< length m
  Norms columns;  ///< length n
};

/// One part of a bound: the minimum of some outer products.
struct BoundTerm {
  std::string name;
  std::vector<OuterProduct> alternatives;  ///< not empty
};

/// An upper bound for every entry of an m x n matrix, relative to rho_i sigma_j: min(uniform, sum of the terms). Evaluated
/// outward and in a fixed order, so that every engine gets the same bits.
struct EntryBound {
  std::vector<BoundTerm> terms;
  double uniform = std::numeric_limits<double>::infinity();  ///< one number that bounds every entry, without the terms

  /// The bound of entry (i, j).
  [[nodiscard]] double upper(Index i, Index j) const;

  /// upper(i, j) for j in [first, first + count): the same bits, many columns at a time.
  void upper_row(Index i, Index first, Index count, double* out) const;

  /// The bound of rows [i, i + rows) and columns [j, j + cols).
  [[nodiscard]] EntryBound block(Index i, Index j, Index rows, Index cols) const {
    auto result = *this;
    for (auto& term : result.terms)
      for (auto& outer : term.alternatives) outer = {outer.rows.part(i, rows), outer.columns.part(j, cols)};
    return result;
  }
};

/// An EntryBound in the memory of the matrices, if that is not the host's. Each engine knows only the bounds that it made.
class RemoteEntryBound {
 public:
  virtual ~RemoteEntryBound() = default;

  /// A copy of the bound in host memory.
  [[nodiscard]] virtual EntryBound entries() const = 0;
};

/// The bound of |AB - S|, relative to rho_i sigma_j, that Ziv's test applies to integer sums. The bound must outlive this
/// object. Without a bound every entry is written.
class ZivBound {
 public:
  ZivBound() = default;
  ZivBound(std::nullptr_t) {}
  ZivBound(const EntryBound* host) : host_(host) {}
  ZivBound(const RemoteEntryBound* remote) : remote_(remote) {}

  explicit operator bool() const { return host_ != nullptr || remote_ != nullptr; }
  [[nodiscard]] const EntryBound* host() const { return host_; }
  [[nodiscard]] const RemoteEntryBound* remote() const { return remote_; }

 private:
  const EntryBound* host_ = nullptr;
  const RemoteEntryBound* remote_ = nullptr;
};

/// A ZivBound in host memory.
class FetchedZivBound {
 public:
  explicit FetchedZivBound(ZivBound of) : host_(of.host()) {
    if (of.remote() != nullptr) host_ = &fetched_.emplace(of.remote()->entries());
  }
  FetchedZivBound(const FetchedZivBound&) = delete;
  FetchedZivBound& operator=(const FetchedZivBound&) = delete;

  [[nodiscard]] const EntryBound* get() const { return host_; }

 private:
  std::optional<EntryBound> fetched_;
  const EntryBound* host_;
};

}  // namespace ozbound
