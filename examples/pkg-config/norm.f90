! SPDX-License-Identifier: BSD-3-Clause
! The square of a vector's length, as a product of matrices whose inner dimension is long, with its bound.
program norm
  use ozbound
  implicit none
  integer(c_int64_t), parameter :: one = 1, n = 100000
  real(c_double) :: x(n), c(1), bound
  type(c_ptr) :: certificate
  integer :: i

  x = [(1d0 / i, i = 1, int(n))]
  if (ozb_dgemm(ozb_column_major, ozb_transpose, ozb_none, one, one, n, 1d0, x, n, x, n, 0d0, c, one, 'cr' // c_null_char, &
    certificate) /= ozb_success) error stop 'ozb_dgemm failed'
  if (ozb_certificate_bound(certificate, 0_c_int64_t, 0_c_int64_t, c(1), bound) /= ozb_success) error stop 'no bound'
  call ozb_certificate_destroy(certificate)
  print '(a, f18.16, a, es8.1)', '1 + 1/4 + 1/9 + ... + 1/n^2 = ', c, ' within', bound
end program
