#include <iostream>
#include <ozbound/bounds/target.hpp>
#include <ozbound/core/matrix.hpp>

int main() {
  ozbound::Matrix<double> c(2, 3);
  const auto transposed = c.view().transposed();
  const auto target = ozbound::parse_target("componentwise:0x1p-46");
  std::cout << transposed.rows() << " x " << transposed.cols() << ", " << ozbound::to_string(target) << '\n';
  return transposed.rows() == 3 && target == ozbound::Target::componentwise(0x1p-46) ? 0 : 1;
}
