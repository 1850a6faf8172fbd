#include "ozbound/verify/result_view.hpp"

namespace ozbound {

double ResultView::operator()(Index i, Index j) const {
  return format_ == ResultFormat::binary64 ? doubles_(i, j) : static_cast<double>(floats_(i, j));
}

}  // namespace ozbound
