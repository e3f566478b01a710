// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weak, so that only a Thread Sanitizer build finds them.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);
/// Tells Thread Sanitizer of an ordering that it cannot see; does nothing in other builds.
static inline void plaza_tsan_acquire(void *address) { if (__tsan_acquire) __tsan_acquire(address); }
/// The releasing half of `plaza_tsan_acquire`.
static inline void plaza_tsan_release(void *address) { if (__tsan_release) __tsan_release(address); }
