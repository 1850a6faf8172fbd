/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OZBOUND_DROP_IN_SITES_H
#define OZBOUND_DROP_IN_SITES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../drop_in.h"

/* Sites by return address and name, in an open-addressed table of pointers. Reading it takes no lock. */
enum { ozd_places = 1024 };
extern _Atomic(struct ozd_site*) ozd_sites[ozd_places];

static inline size_t ozd_place_of(const struct ozd_name* name, const void* from) {
  const uintptr_t key = (uintptr_t)from + (uintptr_t)name;
  return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

/* Finds the native routine of a site, and stores the site. Ends the process if there is none. */
struct ozd_site* ozd_add_site(const struct ozd_name* name, const void* from);

static inline struct ozd_site* ozd_site_of(const struct ozd_name* name, const void* from) {
  for (size_t i = 0, at = ozd_place_of(name, from); i < ozd_places; ++i) {
    struct ozd_site* const site = atomic_load_explicit(&ozd_sites[(at + i) % ozd_places], memory_order_acquire);
    if (site == NULL) break;
    if (__builtin_expect(site->from == from && site->name == name, 1)) return site;
  }
  return ozd_add_site(name, from);
}

/* Writes the path of a file in this library's folder. */
void ozd_beside(const char* file, char* path, size_t size);

#endif
