! SPDX-License-Identifier: BSD-3-Clause
! Tests every function of the module for complex batches and for batches by pointers, with exact numbers.
program batches
  use ozbound
  implicit none
  integer, parameter :: i8 = c_int64_t
  integer(i8), parameter :: one(1) = 1, two(1) = 2
  logical :: failed = .false.

  call double_batches()
  call single_batches()
  call double_complex_batches()
  call single_complex_batches()
  call refusals()
  if (failed) error stop 1

contains

  subroutine expect(status)
    integer(c_int), intent(in) :: status
    if (status == ozb_success) return
    print '(3a)', ozb_string(ozb_status_text(status)), ': ', ozb_string(ozb_last_error())
    failed = .true.
  end subroutine

  subroutine expect_equal(equal)
    logical, intent(in) :: equal
    if (equal) return
    print '(a)', 'C is wrong'
    failed = .true.
  end subroutine

  subroutine double_batches()
    real(c_double), target :: x(2, 2), c(2, 2, 2)
    type(c_ptr) :: certificates(2), decisions(2)
    x = reshape([1, 3, 2, 4], [2, 2])
    call expect(ozb_dgemm_batched(ozb_column_major, [ozb_none], [ozb_transpose], two, two, two, [1d0], &
      [c_loc(x), c_loc(x)], two, [c_loc(x), c_loc(x)], two, [0d0], [c_loc(c(1, 1, 2)), c_loc(c)], two, 2_i8, 1_i8, &
      'cr' // c_null_char, certificates))
    call expect_equal(all(abs(c(:, :, 1) - matmul(x, transpose(x))) <= 0) .and. all(abs(c(:, :, 2) - c(:, :, 1)) <= 0))
    call ozb_certificate_destroy(certificates(1))
    call ozb_certificate_destroy(certificates(2))
    ! 2 x 2 and 1 x 1, plus the old C.
    call expect(ozb_decide_d_batched(ozb_column_major, [ozb_none], [ozb_none], two, two, two, [1d0], [c_loc(x)], &
      two, [c_loc(x)], two, [1d0], [c_loc(c)], two, 1_i8, 1_i8, 'dgemm' // c_null_char, ozb_default, decisions(1:1)))
    call expect(ozb_decide_d_batched(ozb_column_major, [ozb_none], [ozb_none], one, one, one, [1d0], [c_loc(x)], &
      two, [c_loc(x)], two, [1d0], [c_loc(c)], two, 1_i8, 1_i8, 'dgemm' // c_null_char, ozb_default, decisions(2:2)))
    call expect(ozb_dgemm_batched_decided(ozb_column_major, [ozb_none, ozb_none], [ozb_none, ozb_none], [2_i8, 1_i8], &
      [2_i8, 1_i8], [2_i8, 1_i8], [1d0, 1d0], [c_loc(x), c_loc(x)], [2_i8, 2_i8], [c_loc(x), c_loc(x)], [2_i8, 2_i8], &
      [1d0, 1d0], [c_loc(c(1, 1, 2)), c_loc(c)], [2_i8, 2_i8], 2_i8, 2_i8, decisions, 2_i8, 0_i8))
    call expect_equal(all(abs(c(:, :, 2) - matmul(x, x) - matmul(x, transpose(x))) <= 0) .and. abs(c(1, 1, 1) - 6) <= 0)
    call ozb_decision_destroy(decisions(1))
    call ozb_decision_destroy(decisions(2))
  end subroutine

  subroutine single_batches()
    real(c_float), target :: x(2, 2), c(2, 2, 2)
    type(c_ptr) :: certificates(2), decisions(2)
    x = reshape([1, 3, 2, 4], [2, 2])
    call expect(ozb_sgemm_batched(ozb_column_major, [ozb_none], [ozb_transpose], two, two, two, [1.0], &
      [c_loc(x), c_loc(x)], two, [c_loc(x), c_loc(x)], two, [0.0], [c_loc(c(1, 1, 2)), c_loc(c)], two, 2_i8, 1_i8, &
      'cr' // c_null_char, certificates))
    call expect_equal(all(abs(c(:, :, 1) - matmul(x, transpose(x))) <= 0) .and. all(abs(c(:, :, 2) - c(:, :, 1)) <= 0))
    call ozb_certificate_destroy(certificates(1))
    call ozb_certificate_destroy(certificates(2))
    ! 2 x 2 and 1 x 1, plus the old C.
    call expect(ozb_decide_s_batched(ozb_column_major, [ozb_none], [ozb_none], two, two, two, [1.0], [c_loc(x)], &
      two, [c_loc(x)], two, [1.0], [c_loc(c)], two, 1_i8, 1_i8, 'dgemm' // c_null_char, ozb_default, decisions(1:1)))
    call expect(ozb_decide_s_batched(ozb_column_major, [ozb_none], [ozb_none], one, one, one, [1.0], [c_loc(x)], &
      two, [c_loc(x)], two, [1.0], [c_loc(c)], two, 1_i8, 1_i8, 'dgemm' // c_null_char, ozb_default, decisions(2:2)))
    call expect(ozb_sgemm_batched_decided(ozb_column_major, [ozb_none, ozb_none], [ozb_none, ozb_none], [2_i8, 1_i8], &
      [2_i8, 1_i8], [2_i8, 1_i8], [1.0, 1.0], [c_loc(x), c_loc(x)], [2_i8, 2_i8], [c_loc(x), c_loc(x)], [2_i8, 2_i8], &
      [1.0, 1.0], [c_loc(c(1, 1, 2)), c_loc(c)], [2_i8, 2_i8], 2_i8, 2_i8, decisions, 2_i8, 0_i8))
    call expect_equal(all(abs(c(:, :, 2) - matmul(x, x) - matmul(x, transpose(x))) <= 0) .and. abs(c(1, 1, 1) - 6) <= 0)
    call ozb_decision_destroy(decisions(1))
    call ozb_decision_destroy(decisions(2))
  end subroutine

  subroutine double_complex_batches()
    complex(c_double_complex), target :: x(2), c(2)
    complex(c_double_complex), parameter :: i = (0, 1), zero = (0, 0)
    type(c_ptr) :: certificates(2), decisions(2)
    x = [(1, 2), (3, 4)]
    call expect(ozb_zgemm_strided_batched(ozb_column_major, ozb_none, ozb_conjugate_transpose, &
      1_i8, 1_i8, 1_i8, i, x, 1_i8, 1_i8, &
      x, 1_i8, 1_i8, zero, c, 1_i8, 1_i8, 2_i8, 'cr' // c_null_char, certificates))
    call expect_equal(all(abs(c - i * x * conjg(x)) <= 0))
    call ozb_certificate_destroy(certificates(1))
    call ozb_certificate_destroy(certificates(2))
    call expect(ozb_decide_z_strided_batched(ozb_column_major, ozb_none, ozb_none, 1_i8, 1_i8, 1_i8, i, x, 1_i8, 1_i8, x, &
      1_i8, 0_i8, zero, c, 1_i8, 1_i8, 2_i8, 'dgemm' // c_null_char, ozb_default, decisions))
    call expect(ozb_zgemm_strided_batched_decided(ozb_column_major, ozb_none, ozb_none, &
      1_i8, 1_i8, 1_i8, i, x, 1_i8, 1_i8, x, &
      1_i8, 0_i8, zero, c, 1_i8, 1_i8, 2_i8, decisions, 2_i8, 0_i8))
    call expect_equal(all(abs(c - i * x * x(1)) <= 0))
    call ozb_decision_destroy(decisions(1))
    call ozb_decision_destroy(decisions(2))

    call expect(ozb_zgemm_batched(ozb_column_major, [ozb_none], [ozb_conjugate_transpose], one, one, one, [i], &
      [c_loc(x(1)), c_loc(x(2))], one, [c_loc(x(1)), c_loc(x(2))], one, [zero], [c_loc(c(2)), c_loc(c(1))], one, 2_i8, &
      1_i8, 'cr' // c_null_char))
    call expect_equal(all(abs(c - i * x(2:1:-1) * conjg(x(2:1:-1))) <= 0))
    call expect(ozb_decide_z_batched(ozb_column_major, [ozb_none], [ozb_none], one, one, one, [i], &
      [c_loc(x), c_loc(x)], &
      one, [c_loc(x(1)), c_loc(x(2))], one, [i], [c_loc(c(1)), c_loc(c(2))], one, 2_i8, 1_i8, 'dgemm' // c_null_char, &
      ozb_default, decisions))
    call expect(ozb_zgemm_batched_decided(ozb_column_major, [ozb_none], [ozb_none], one, one, one, [i], &
      [c_loc(x), c_loc(x)], one, [c_loc(x(1)), c_loc(x(2))], one, [i], [c_loc(c(1)), c_loc(c(2))], one, 2_i8, 1_i8, &
      decisions, 2_i8, 0_i8))
    call expect_equal(all(abs(c - i * x(1) * x + [25, 5]) <= 0))
    call ozb_decision_destroy(decisions(1))
    call ozb_decision_destroy(decisions(2))
  end subroutine

  subroutine single_complex_batches()
    complex(c_float_complex), target :: x(2), c(2)
    complex(c_float_complex), parameter :: i = (0, 1), zero = (0, 0)
    type(c_ptr) :: certificates(2), decisions(2)
    x = [(1, 2), (3, 4)]
    call expect(ozb_cgemm_strided_batched(ozb_column_major, ozb_none, ozb_conjugate_transpose, &
      1_i8, 1_i8, 1_i8, i, x, 1_i8, 1_i8, &
      x, 1_i8, 1_i8, zero, c, 1_i8, 1_i8, 2_i8, 'cr' // c_null_char, certificates))
    call expect_equal(all(abs(c - i * x * conjg(x)) <= 0))
    call ozb_certificate_destroy(certificates(1))
    call ozb_certificate_destroy(certificates(2))
    call expect(ozb_decide_c_strided_batched(ozb_column_major, ozb_none, ozb_none, 1_i8, 1_i8, 1_i8, i, x, 1_i8, 1_i8, x, &
      1_i8, 0_i8, zero, c, 1_i8, 1_i8, 2_i8, 'dgemm' // c_null_char, ozb_default, decisions))
    call expect(ozb_cgemm_strided_batched_decided(ozb_column_major, ozb_none, ozb_none, &
      1_i8, 1_i8, 1_i8, i, x, 1_i8, 1_i8, x, &
      1_i8, 0_i8, zero, c, 1_i8, 1_i8, 2_i8, decisions, 2_i8, 0_i8))
    call expect_equal(all(abs(c - i * x * x(1)) <= 0))
    call ozb_decision_destroy(decisions(1))
    call ozb_decision_destroy(decisions(2))

    call expect(ozb_cgemm_batched(ozb_column_major, [ozb_none], [ozb_conjugate_transpose], one, one, one, [i], &
      [c_loc(x(1)), c_loc(x(2))], one, [c_loc(x(1)), c_loc(x(2))], one, [zero], [c_loc(c(2)), c_loc(c(1))], one, 2_i8, &
      1_i8, 'cr' // c_null_char))
    call expect_equal(all(abs(c - i * x(2:1:-1) * conjg(x(2:1:-1))) <= 0))
    call expect(ozb_decide_c_batched(ozb_column_major, [ozb_none], [ozb_none], one, one, one, [i], &
      [c_loc(x), c_loc(x)], &
      one, [c_loc(x(1)), c_loc(x(2))], one, [i], [c_loc(c(1)), c_loc(c(2))], one, 2_i8, 1_i8, 'dgemm' // c_null_char, &
      ozb_default, decisions))
    call expect(ozb_cgemm_batched_decided(ozb_column_major, [ozb_none], [ozb_none], one, one, one, [i], &
      [c_loc(x), c_loc(x)], one, [c_loc(x(1)), c_loc(x(2))], one, [i], [c_loc(c(1)), c_loc(c(2))], one, 2_i8, 1_i8, &
      decisions, 2_i8, 0_i8))
    call expect_equal(all(abs(c - i * x(1) * x + [25, 5]) <= 0))
    call ozb_decision_destroy(decisions(1))
    call ozb_decision_destroy(decisions(2))
  end subroutine

  subroutine refusals()
    real(c_double), target :: x(2, 2), c(2, 2)
    x = 1
    c = 7
    if (ozb_dgemm_batched(ozb_column_major, [ozb_none], [ozb_none], two, two, two, [1d0], [c_loc(x), c_null_ptr], &
      two, [c_loc(x), c_loc(x)], two, [0d0], [c_loc(c), c_loc(x)], two, 2_i8, 1_i8, 'cr' // c_null_char) &
      /= ozb_invalid_argument) failed = .true.
    if (ozb_string(ozb_last_error()) /= 'product 1: a must not be null') failed = .true.
    call expect_equal(all(abs(c - 7) <= 0))
  end subroutine

end program
