! SPDX-License-Identifier: BSD-3-Clause
! Ozbound for Fortran: the functions of ozbound.h, under the same names; ozbound.h documents them. Compile this file together
! with your own.
!
! Handles are type(c_ptr). Input texts end with c_null_char; ozb_string converts an output text to a Fortran string. Arguments
! that may be null in C (certificate, certificates) are optional. Matrices in Fortran's order are column-major: pass
! ozb_column_major, and the first extent as the leading dimension. Batches by pointers take arrays of c_loc(matrix), with
! matrices that are targets. An argument shared by all products is an array of one element: [n].
module ozbound
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! The version of this module; ozb_version() returns the version of the library at run time.
  integer(c_int), parameter :: ozb_version_major = 0, ozb_version_minor = 2, ozb_version_patch = 0

  integer(c_int), parameter :: ozb_success = 0, ozb_does_not_hold = 1, ozb_invalid_argument = 2, ozb_cannot_certify = 3, &
    ozb_out_of_memory = 4, ozb_internal_error = 5, ozb_cancelled = 6
  integer(c_int), parameter :: ozb_row_major = 101, ozb_column_major = 102
  integer(c_int), parameter :: ozb_default = 0, ozb_no_native = 1, ozb_count_products = 2, ozb_no_residues = 4
  integer(c_int), parameter :: ozb_none = 111, ozb_transpose = 112, ozb_conjugate_transpose = 113

  interface
    integer(c_int) function ozb_dgemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_sgemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_decide_d(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        choices, decision) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decision
    end function

    integer(c_int) function ozb_decide_s(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        choices, decision) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decision
    end function

    integer(c_int) function ozb_dgemm_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        decision, workspace, certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: c(*)
      type(c_ptr), value :: decision
      integer(c_int64_t), value :: workspace
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_sgemm_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        decision, workspace, certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: c(*)
      type(c_ptr), value :: decision
      integer(c_int64_t), value :: workspace
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_zgemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_decide_z(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        choices, decision) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decision
    end function

    integer(c_int) function ozb_zgemm_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        decision, workspace, certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: c(*)
      type(c_ptr), value :: decision
      integer(c_int64_t), value :: workspace
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_cgemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_decide_c(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, &
        choices, decision) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decision
    end function

    integer(c_int) function ozb_cgemm_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        decision, workspace, certificate) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: c(*)
      type(c_ptr), value :: decision
      integer(c_int64_t), value :: workspace
      type(c_ptr), intent(out), optional :: certificate
    end function

    integer(c_int) function ozb_dgemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, &
        stride_b, beta, c, ldc, stride_c, batch_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_sgemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, &
        stride_b, beta, c, ldc, stride_c, batch_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_zgemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, &
        stride_b, beta, c, ldc, stride_c, batch_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_cgemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, &
        stride_b, beta, c, ldc, stride_c, batch_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_decide_d_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, &
        ldb, stride_b, beta, c, ldc, stride_c, batch_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_decide_s_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, &
        ldb, stride_b, beta, c, ldc, stride_c, batch_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_decide_z_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, &
        ldb, stride_b, beta, c, ldc, stride_c, batch_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_decide_c_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, &
        ldb, stride_b, beta, c, ldc, stride_c, batch_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b, choices
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(in) :: c(*)
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_dgemm_strided_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, &
        b, ldb, stride_b, beta, c, ldc, stride_c, batch_count, decisions, decision_count, workspace, &
        certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: c(*)
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_sgemm_strided_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, &
        b, ldb, stride_b, beta, c, ldc, stride_c, batch_count, decisions, decision_count, workspace, &
        certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: c(*)
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_zgemm_strided_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, &
        b, ldb, stride_b, beta, c, ldc, stride_c, batch_count, decisions, decision_count, workspace, &
        certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: c(*)
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_cgemm_strided_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, &
        b, ldb, stride_b, beta, c, ldc, stride_c, batch_count, decisions, decision_count, workspace, &
        certificates) bind(c)
      import
      integer(c_int), value :: layout, op_a, op_b
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch_count
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: c(*)
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_dgemm_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      real(c_double), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_sgemm_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      real(c_float), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_zgemm_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      complex(c_double_complex), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_cgemm_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      complex(c_float_complex), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_decide_d_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, choices
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      real(c_double), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_decide_s_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, choices
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      real(c_float), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_decide_z_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, choices
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      complex(c_double_complex), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_decide_c_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
        batch_count, shape_count, target, choices, decisions) bind(c)
      import
      integer(c_int), value :: layout, choices
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      complex(c_float_complex), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      character(kind=c_char), intent(in) :: target(*)
      type(c_ptr), intent(out) :: decisions(*)
    end function

    integer(c_int) function ozb_dgemm_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, &
        ldc, batch_count, shape_count, decisions, decision_count, workspace, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      real(c_double), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_sgemm_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, &
        ldc, batch_count, shape_count, decisions, decision_count, workspace, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      real(c_float), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_zgemm_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, &
        ldc, batch_count, shape_count, decisions, decision_count, workspace, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      complex(c_double_complex), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_cgemm_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, &
        ldc, batch_count, shape_count, decisions, decision_count, workspace, certificates) bind(c)
      import
      integer(c_int), value :: layout
      integer(c_int), intent(in) :: op_a(*), op_b(*)
      integer(c_int64_t), intent(in) :: m(*), n(*), k(*), lda(*), ldb(*), ldc(*)
      complex(c_float_complex), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(in) :: a(*), b(*), c(*)
      integer(c_int64_t), value :: batch_count, shape_count
      type(c_ptr), intent(in) :: decisions(*)
      integer(c_int64_t), value :: decision_count, workspace
      type(c_ptr), intent(inout), optional :: certificates(*)
    end function

    integer(c_int) function ozb_decision_json(decision, json) bind(c)
      import
      type(c_ptr), value :: decision
      type(c_ptr), intent(out) :: json
    end function

    integer(c_int) function ozb_decision_from_json(json, decision) bind(c)
      import
      character(kind=c_char), intent(in) :: json(*)
      type(c_ptr), intent(out) :: decision
    end function

    integer(c_int) function ozb_decision_workspace(decision, least, full) bind(c)
      import
      type(c_ptr), value :: decision
      integer(c_int64_t), intent(out) :: least, full
    end function

    integer(c_int) function ozb_decision_workspace_z(decision, alpha, beta, least, full) bind(c)
      import
      type(c_ptr), value :: decision
      complex(c_double_complex), intent(in) :: alpha, beta
      integer(c_int64_t), intent(out) :: least, full
    end function

    subroutine ozb_decision_destroy(decision) bind(c)
      import
      type(c_ptr), value :: decision
    end subroutine

    integer(c_int) function ozb_certificate_holds(certificate, holds) bind(c)
      import
      type(c_ptr), value :: certificate
      integer(c_int), intent(out) :: holds
    end function

    integer(c_int) function ozb_certificate_ratio(certificate, ratio) bind(c)
      import
      type(c_ptr), value :: certificate
      real(c_double), intent(out) :: ratio
    end function

    integer(c_int) function ozb_certificate_largest_bound(certificate, bound) bind(c)
      import
      type(c_ptr), value :: certificate
      real(c_double), intent(out) :: bound
    end function

    integer(c_int) function ozb_certificate_bound(certificate, i, j, c, bound) bind(c)
      import
      type(c_ptr), value :: certificate
      integer(c_int64_t), value :: i, j
      real(c_double), value :: c
      real(c_double), intent(out) :: bound
    end function

    integer(c_int) function ozb_certificate_bound_z(certificate, i, j, c, bound) bind(c)
      import
      type(c_ptr), value :: certificate
      integer(c_int64_t), value :: i, j
      complex(c_double_complex), intent(in) :: c
      real(c_double), intent(out) :: bound(2)
    end function

    integer(c_int) function ozb_certificate_json(certificate, json) bind(c)
      import
      type(c_ptr), value :: certificate
      type(c_ptr), intent(out) :: json
    end function

    subroutine ozb_certificate_destroy(certificate) bind(c)
      import
      type(c_ptr), value :: certificate
    end subroutine

    integer(c_int) function ozb_machine_cpu(threads, machine) bind(c)
      import
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: machine
    end function

    integer(c_int) function ozb_machine_cuda(threads, machine) bind(c)
      import
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: machine
    end function

    integer(c_int) function ozb_machine_detect(threads, machine) bind(c)
      import
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: machine
    end function

    integer(c_int) function ozb_machine_backends(machine, text) bind(c)
      import
      type(c_ptr), value :: machine
      type(c_ptr), intent(out) :: text
    end function

    integer(c_int) function ozb_set_machine(machine, place) bind(c)
      import
      type(c_ptr), value :: machine
      integer(c_int), value :: place
    end function

    subroutine ozb_machine_destroy(machine) bind(c)
      import
      type(c_ptr), value :: machine
    end subroutine

    integer(c_int) function ozb_cancellation_create(cancellation) bind(c)
      import
      type(c_ptr), intent(out) :: cancellation
    end function

    subroutine ozb_cancellation_request(cancellation) bind(c)
      import
      type(c_ptr), value :: cancellation
    end subroutine

    subroutine ozb_set_cancellation(cancellation) bind(c)
      import
      type(c_ptr), value :: cancellation
    end subroutine

    subroutine ozb_cancellation_destroy(cancellation) bind(c)
      import
      type(c_ptr), value :: cancellation
    end subroutine

    type(c_ptr) function ozb_version() bind(c)
      import
    end function

    type(c_ptr) function ozb_status_text(status) bind(c)
      import
      integer(c_int), value :: status
    end function

    type(c_ptr) function ozb_last_error() bind(c)
      import
    end function
  end interface

contains

  !> The text that a C string is; empty for a null pointer.
  function ozb_string(text) result(string)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: string
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: length, i
    interface
      integer(c_size_t) function strlen(text) bind(c)
        import
        type(c_ptr), value :: text
      end function
    end interface
    length = 0
    if (c_associated(text)) length = strlen(text)
    allocate(character(length) :: string)
    if (length == 0) return
    call c_f_pointer(text, letters, [length])
    do i = 1, length
      string(i:i) = letters(i)
    end do
  end function

end module ozbound
