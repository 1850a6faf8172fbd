/* SPDX-License-Identifier: BSD-3-Clause */
/* program CASE PLUGIN [PLUGIN]: a program without a BLAS that multiplies by plug-ins opened locally, like Python's modules. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

typedef uint64_t products_function(int);

static jmp_buf out_of_xerbla;
static int leaves_xerbla;

/* The program's own handler, which the reference BLAS calls for wrong arguments. */
void xerbla_(const char* name, const int* argument, size_t length) {
  (void)length;
  if (leaves_xerbla) longjmp(out_of_xerbla, 1);
  fprintf(stderr, "xerbla %.5s %d\n", name, *argument);
}

static void* open_locally(const char* file) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  return handle;
}

typedef void any_function(void);
static any_function* function_of(void* handle, const char* name) {
  any_function* function;
  void* const found = dlsym(handle, name);
  memcpy(&function, &found, sizeof function);
  return function;
}

static products_function* products_of(void* handle) { return (products_function*)function_of(handle, "products"); }

static products_function* products;
static void say(const char* where, int size) {
  printf("%s %016llx\n", where, (unsigned long long)products(size)), fflush(stdout);
}

static void at_exit(void) { say("at exit", 60); }
__attribute__((destructor)) static void destroy(void) {
  if (products != NULL && getenv("MULTIPLY_IN_DESTRUCTOR") != NULL) say("destructor", 60);
}

static void* in_thread(void* result) {
  for (int i = 0; i < 5; ++i) *(uint64_t*)result = products(60);
  return NULL;
}

static void threads(void) {
  enum { count = 100 };
  pthread_t thread[count];
  uint64_t result[count];
  for (int i = 0; i < count; ++i) pthread_create(&thread[i], NULL, in_thread, &result[i]);
  for (int i = 0; i < count; ++i) pthread_join(thread[i], NULL);
  for (int i = 1; i < count; ++i)
    if (result[i] != result[0]) puts("threads differ");
  printf("threads %016llx\n", (unsigned long long)result[0]);
}

static void forks(void) {
  const pid_t child = fork();
  if (child == 0) {
    say("child", 60);
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  say("parent", 60);
  printf("status %d\n", status);
}

static void* open_in_thread(void* file) { return open_locally(file); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const which = argv[1];
  if (strcmp(which, "constructor") == 0) {
    products = products_of(open_locally(argv[2]));
    pthread_t thread;
    pthread_create(&thread, NULL, open_in_thread, argv[3]);
    usleep(100000); /* until the thread is inside dlopen */
    say("main", 60);
    void* handle;
    pthread_join(thread, &handle);
    dlclose(handle);
    say("main", 60);
    return 0;
  }
  if (strcmp(which, "exit") == 0) atexit(at_exit); /* before the first call, so it runs after that call's handlers */
  void* const handle = open_locally(argv[2]);
  products = products_of(handle);
  if (strcmp(which, "bits") == 0) {
    for (int size = 1; size <= 200; size += size / 3 + 1) say("bits", size);
  } else if (strcmp(which, "exit") == 0) {
    say("main", 60);
    atexit(at_exit);
  } else if (strcmp(which, "threads") == 0) {
    threads();
  } else if (strcmp(which, "fork") == 0) {
    forks();
  } else if (strcmp(which, "fork after") == 0) {
    say("before", 60);
    forks();
  } else if (strcmp(which, "cblas") == 0) {
    ((void (*)(int))function_of(handle, "by_cblas"))(5);
  } else if (strcmp(which, "odd") == 0) {
    function_of(handle, "odd_calls")();
  } else if (strcmp(which, "killed") == 0) {
    say("main", 60);
    raise(SIGKILL);
  } else if (strcmp(which, "upward") == 0 || strcmp(which, "flush") == 0) {
    if (which[0] == 'u') fesetround(FE_UPWARD);
#ifdef __x86_64__
    if (which[0] == 'f') _mm_setcsr(_mm_getcsr() | 0x8040);
    const unsigned before = _mm_getcsr() & ~0x3fu;
    products(150);
    printf("%s\n", (_mm_getcsr() & ~0x3fu) == before ? "the same mode" : "another mode");
#else
    products(150);
    puts("the same mode");
#endif
  } else if (strcmp(which, "flags") == 0) {
    say("main", 60);
    feclearexcept(FE_ALL_EXCEPT);
    function_of(handle, "exact_call")();
    printf("flags %x\n", (unsigned)fetestexcept(FE_ALL_EXCEPT));
  } else if (strcmp(which, "jump") == 0) {
    for (int i = 0; i < 3; ++i)
      if (setjmp(out_of_xerbla) == 0) leaves_xerbla = 1, function_of(handle, "refused_call")();
    leaves_xerbla = 0;
    say("main", 60);
  } else if (strcmp(which, "descriptors") == 0) {
    say("main", 60);
    for (int file = 3; file < 256; ++file) close(file);
    const int own = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 5; ++i) say("main", 60);
    dprintf(own, "the program's own\n");
  } else if (strcmp(which, "closed") == 0) {
    say("main", 60);
    products = NULL;
    dlclose(handle);
    products = products_of(open_locally(argv[2]));
    say("main", 60);
  } else {
    return 2;
  }
  return 0;
}
