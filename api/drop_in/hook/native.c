/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the native BLAS: the one to which the dynamic linker would have bound the caller without this library. No lock is held
 * around dlopen or dlsym: another thread may be inside dlopen, in a constructor that multiplies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sites.h"

_Atomic(struct ozd_site*) ozd_sites[ozd_places];

static const void* base_of(const void* address) {
  Dl_info info;
  return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* The symbol of this name in a handle's scope, unless it is this library's own. */
static void* foreign(void* handle, const char* name) {
  void* const found = dlsym(handle, name);
  return found != NULL && base_of(found) != base_of(ozd_sites) ? found : NULL;
}

/* The same in a file that is already loaded. */
static void* of_loaded(const char* file, const char* name) {
  void* const handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return NULL;
  void* const found = foreign(handle, name);
  dlclose(handle);
  return found;
}

/* The names of all loaded files. They are searched only after dl_iterate_phdr, which holds a lock that dlopen takes too. */
struct names {
  char** of;
  size_t count, room;
};
static int note_name(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct names* const names = data;
  if (info->dlpi_name == NULL || info->dlpi_name[0] == 0) return 0;
  if (names->count == names->room) {
    const size_t room = 2 * names->room + 64;
    char** const more = realloc(names->of, room * sizeof *more);
    if (more == NULL) return 1;
    names->of = more, names->room = room;
  }
  char* const copy = strdup(info->dlpi_name);
  if (copy != NULL) names->of[names->count++] = copy;
  return 0;
}

static void* of_any_loaded(const char* name) {
  struct names names = {NULL, 0, 0};
  dl_iterate_phdr(note_name, &names);
  void* found = NULL;
  for (size_t i = 0; i < names.count; ++i) {
    if (found == NULL) found = of_loaded(names.of[i], name);
    free(names.of[i]);
  }
  free(names.of);
  return found;
}

/* Searches the file that OZBOUND_BLAS names. */
static void* of_variable(const char* file, const char* name) {
  void* const handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  void* const found = handle != NULL ? foreign(handle, name) : NULL;
  if (found == NULL) {
    const char* const error = handle == NULL ? dlerror() : NULL;
    fprintf(stderr, "ozbound: OZBOUND_BLAS: %s%s\n", error != NULL ? error : file, error != NULL ? "" : " has no such routine");
    _exit(2);
  }
  return found;
}

/* Searches in this order: the named file; the global scope after this library; the caller's own scope; any loaded object, for
 * calls through a pointer, tail calls and generated code; the system's BLAS. */
static void* native_for(const char* name, const struct link_map* caller) {
  const char* const named = secure_getenv("OZBOUND_BLAS");
  if (named != NULL && named[0] != 0) return of_variable(named, name);
  void* found = foreign(RTLD_NEXT, name);
  if (found == NULL && caller != NULL && caller->l_name[0] != 0) found = of_loaded(caller->l_name, name);
  if (found == NULL) found = of_any_loaded(name);
  if (found != NULL) return found;
  void* const handle = dlopen("libblas.so.3", RTLD_LAZY | RTLD_LOCAL);
  return handle != NULL ? foreign(handle, name) : NULL;
}

/* Keeps the library of an address loaded. A site points into its native library. And if a library were closed, another caller
 * at the same address would be taken for the old one. */
static void pin(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) != 0 && info.dli_fname != NULL && info.dli_fname[0] != 0)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The path of the program, for which the linker has no name. */
static char* program(void) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return strdup("the program");
  path[length] = 0;
  return strdup(path);
}

struct ozd_site* ozd_add_site(const struct ozd_name* name, const void* from) {
  struct ozd_site* const site = calloc(1, sizeof *site);
  if (site == NULL) abort();
  site->from = from;
  site->name = name;
  struct link_map* caller = NULL;
  Dl_info info;
  if (dladdr1(from, &info, (void**)&caller, RTLD_DL_LINKMAP) != 0) {
    site->object = caller != NULL && caller->l_name[0] != 0 ? strdup(caller->l_name) : program();
    site->offset = (unsigned long)((const char*)from - (const char*)info.dli_fbase);
  }
  if (site->object == NULL) site->object = "code that no library has";
  void* const native = native_for(name->name, caller);
  if (native == NULL) {
    fprintf(stderr, "ozbound: %s calls %s, which no BLAS of this process has: OZBOUND_BLAS may name one\n", site->object,
            name->name);
    abort();
  }
  pin(native);
  pin(from);
  memcpy(&site->native, &native, sizeof native);
  for (size_t i = 0, at = ozd_place_of(name, from); i < ozd_places; ++i) {
    struct ozd_site* other = NULL;
    if (atomic_compare_exchange_strong(&ozd_sites[(at + i) % ozd_places], &other, site)) return site;
    if (other->from == from && other->name == name) return other; /* another thread was first; `site` is leaked */
  }
  return site; /* the table is full: the site is not stored */
}

void ozd_beside(const char* file, char* path, size_t size) {
  Dl_info info;
  const char* const own = dladdr(ozd_sites, &info) != 0 ? info.dli_fname : "";
  const char* const slash = strrchr(own, '/');
  snprintf(path, size, "%.*s%s", slash != NULL ? (int)(slash - own + 1) : 0, own, file);
}
