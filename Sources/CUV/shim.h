// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pthread.h>
#include <uv.h>
// Hidden behind _GNU_SOURCE, which a module cannot set for a header that another module owns.
extern int pthread_setname_np(pthread_t thread, const char *name);
/// Names the calling thread, so that tools show which loop is which. At most 15 bytes; the rest is cut by the caller.
static inline void plaza_name_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }
