// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/property.hpp"

// Every property of the library; all_properties.cpp lists them.

namespace ozbound::properties {

Property exact_splitting();
Property error_free_products();
Property rounded_once();

Property residue_products();
Property no_wrap();
Property reconstruction_exact();
Property residue_bound();

Property bounds_hold();
Property targets_met();
Property certificates();
Property correct_rounding();
Property exact_zero();

Property any_engine();
Property any_workspace();
Property any_storage();
Property any_environment();

Property inner_permutation();
Property transposition();
Property row_column_scaling();
Property inner_scaling();
Property blocks_of_c();
Property sign();
Property inner_zeros();

Property special_values();
Property special_neighbours();
Property unread_operands();

Property complex_products();
Property complex_rounding();
Property complex_targets();
Property complex_certificates();

}  // namespace ozbound::properties
