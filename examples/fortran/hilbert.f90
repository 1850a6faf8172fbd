! SPDX-License-Identifier: BSD-3-Clause
! The Hilbert matrix times its inverse, whose entries are integers. Terms of up to 3e9 cancel to ones and zeros. The remaining
! error comes from the rounding of 1/3, 1/5, ... in the matrix, not from the product.
program hilbert
  use ozbound
  implicit none
  integer, parameter :: n = 8
  integer(c_int64_t), parameter :: order = n
  real(c_double) :: h(n, n), inverse(n, n), c(n, n), bound
  type(c_ptr) :: certificate
  integer(c_int) :: status
  integer :: i, j

  do j = 1, n
    do i = 1, n
      h(i, j) = 1d0 / (i + j - 1)
      inverse(i, j) = (-1)**(i + j) * (i + j - 1) * choose(n + i - 1, n - j) * choose(n + j - 1, n - i) &
        * choose(i + j - 2, i - 1)**2
    end do
  end do

  status = ozb_dgemm(ozb_column_major, ozb_none, ozb_none, order, order, order, 1d0, h, order, inverse, order, 0d0, c, order, &
    'cr' // c_null_char, certificate)
  if (status /= ozb_success) then
    print '(3a)', ozb_string(ozb_status_text(status)), ': ', ozb_string(ozb_last_error())
    error stop
  end if
  status = ozb_certificate_largest_bound(certificate, bound)
  call ozb_certificate_destroy(certificate)

  do i = 1, n
    c(i, i) = c(i, i) - 1
  end do
  print '(a, es9.2)', 'largest entry of the inverse:     ', maxval(abs(inverse))
  print '(a, es9.2)', 'H times its inverse is off I by:  ', maxval(abs(c))
  print '(a, es9.2)', 'of which the product at most:     ', bound

contains

  !> The binomial coefficient, exact below 2^53.
  pure real(c_double) function choose(total, taken)
    integer, intent(in) :: total, taken
    integer :: t
    choose = 1
    do t = 1, taken
      choose = choose * (total - taken + t) / t
    end do
  end function

end program
