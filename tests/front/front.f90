! SPDX-License-Identifier: BSD-3-Clause
! The calls of front.cpp from Fortran, for matrices that may lie in memory that Fortran cannot access.
module front
  use ozbound
  implicit none

contains

  ! C = alpha A B + beta C, row-major and contiguous, decided by counting products on that machine, with a, b and c in `place`.
  ! The caller must destroy the decision and the certificate. @returns the first status that is not ozb_success.
  integer(c_int) function front_fortran(machine, place, m, n, k, alpha, a, b, beta, c, target, decision, certificate) bind(c)
    type(c_ptr), value :: machine, a, b, c
    integer(c_int), value :: place
    integer(c_int64_t), value :: m, n, k
    real(c_double), value :: alpha, beta
    character(kind=c_char), intent(in) :: target(*)
    type(c_ptr), intent(out) :: decision, certificate
    real(c_double), pointer, contiguous :: at_a(:), at_b(:), at_c(:)
    integer(c_int) :: status
    call c_f_pointer(a, at_a, [m * k])
    call c_f_pointer(b, at_b, [k * n])
    call c_f_pointer(c, at_c, [m * n])
    decision = c_null_ptr
    certificate = c_null_ptr
    front_fortran = ozb_set_machine(machine, place)
    if (front_fortran /= ozb_success) return
    front_fortran = ozb_decide_d(ozb_row_major, ozb_none, ozb_none, m, n, k, alpha, at_a, k, at_b, n, beta, at_c, n, target, &
      ozb_no_native + ozb_count_products, decision)
    if (front_fortran == ozb_success) &
      front_fortran = ozb_dgemm_decided(ozb_row_major, ozb_none, ozb_none, m, n, k, alpha, at_a, k, at_b, n, beta, at_c, n, &
        decision, 0_c_int64_t, certificate)
    status = ozb_set_machine(c_null_ptr, -1_c_int)
    if (front_fortran == ozb_success) front_fortran = status
  end function

end module front
