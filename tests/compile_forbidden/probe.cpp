// SPDX-License-Identifier: BSD-3-Clause
#include OZB_PROBED_HEADER
