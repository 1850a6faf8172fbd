!> Whom it tells.
