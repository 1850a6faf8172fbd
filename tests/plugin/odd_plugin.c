/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins that must be refused, each for the reason ODD_KIND; in C99, as the table's header must be C99. */

#include <stddef.h>
#include <string.h>

#include "ozbound/plugin/table.h"

enum { other_version = 1, other_release, other_size, other_magic, no_table, no_device, no_function };

#if ODD_KIND != 7

static int32_t obstacle(struct ozbound_plugin_string* why, struct ozbound_plugin_call* call) {
  static const char text[] = "there is no\ndevice here";
  (void)call;
  why->text.data = text;
  why->text.size = sizeof text - 1;
  why->result = NULL;
  return OZBOUND_PLUGIN_OK;
}

static void free_result(struct ozbound_plugin_result* result) { (void)result; }

__attribute__((visibility("default"))) const struct ozbound_plugin_table* ozbound_plugin(uint32_t version);

const struct ozbound_plugin_table* ozbound_plugin(uint32_t version) {
  static struct ozbound_plugin_table table;
  memset(&table, 0, sizeof table);
  table.magic = ODD_KIND == other_magic ? 1u : OZBOUND_PLUGIN_MAGIC;
  table.version = version + (ODD_KIND == other_version ? 1u : 0u);
  table.size = sizeof table + (ODD_KIND == other_size ? 8u : 0u);
  table.release = ODD_KIND == other_release ? "7.8.9" : OZBOUND_VERSION;
  table.obstacle = obstacle;
  table.free_result = free_result;
  return ODD_KIND == no_table ? NULL : &table;
}

#else

int ozbound_nothing(void);
int ozbound_nothing(void) { return 0; }

#endif
