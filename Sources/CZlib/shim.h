// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <zlib.h>

// deflateInit2 and inflateInit2 are macros that add zlib's version and the structure's size.

/// Raw deflate, without zlib's header and checksum.
static inline int plaza_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

/// Reads raw deflate of any window.
static inline int plaza_inflate_init(z_stream *stream) {
    return inflateInit2(stream, -15);
}
