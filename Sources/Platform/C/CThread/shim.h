// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pthread.h>
// The system header declares this function only if _GNU_SOURCE is defined. A module cannot define that macro for a
// header that another module owns.
extern int pthread_setname_np(pthread_t thread, const char *name);
/// Names the calling thread for debuggers and `ps -T`. The name must have at most 15 bytes.
static inline void plaza_name_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }

// These symbols are weak, because only a build with Thread Sanitizer contains them.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);
/// Declares an ordering that Thread Sanitizer cannot see; does nothing in other builds.
static inline void plaza_tsan_acquire(void *address) { if (__tsan_acquire) __tsan_acquire(address); }
/// The release that a later `plaza_tsan_acquire` of the same address pairs with.
static inline void plaza_tsan_release(void *address) { if (__tsan_release) __tsan_release(address); }
