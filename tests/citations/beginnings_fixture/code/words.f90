!> Whom it tells.
integer :: x  ! Which it is
