// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/result_view.hpp"
#include "plain_environment.hpp"

namespace ozbound {

double ResultView::operator()(Index i, Index j) const {
  const checking::PlainEnvironment environment;
  return format_ == ResultFormat::of_double ? doubles_(i, j) : static_cast<double>(floats_(i, j));
}

}  // namespace ozbound
