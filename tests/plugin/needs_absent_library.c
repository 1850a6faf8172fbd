/* SPDX-License-Identifier: BSD-3-Clause */
#include "ozbound/plugin/table.h"

int ozbound_absent(void);
const struct ozbound_plugin_table* ozbound_plugin(uint32_t version);
const struct ozbound_plugin_table* ozbound_plugin(uint32_t version) {
  (void)version;
  return ozbound_absent() != 0 ? (const struct ozbound_plugin_table*)0 : (const struct ozbound_plugin_table*)1;
}
