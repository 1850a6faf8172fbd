! SPDX-License-Identifier: BSD-3-Clause
program app
  use ozbound
  implicit none
  integer(c_int64_t), parameter :: n = 2
  real(c_float) :: a(n, n), c(n, n)
  a = reshape([1, 3, 2, 4], [2, 2])
  if (ozb_sgemm(ozb_column_major, ozb_none, ozb_none, n, n, n, 1.0, a, n, a, n, 0.0, c, n, 'cr' // c_null_char) &
    /= ozb_success) error stop 'ozb_sgemm failed'
  if (any(abs(c - matmul(a, a)) > 0)) error stop 'the product is wrong'
end program
