// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <zlib.h>

// deflateInit2 and inflateInit2 are macros, which Swift cannot call.

/// Initializes a stream that compresses to raw deflate, without zlib's header and checksum.
static inline int plaza_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    // A negative number of window bits selects raw deflate.
    return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

/// Initializes a stream that decompresses raw deflate with any window size.
static inline int plaza_inflate_init(z_stream *stream) {
    // 15 is the largest window, 32 KB; a negative number selects raw deflate.
    return inflateInit2(stream, -15);
}

/// Initializes a stream that compresses to gzip, with its header and checksum.
static inline int plaza_gzip_init(z_stream *stream, int level) {
    // 15 is the largest window, 32 KB, and 16 selects the format gzip; 9 is the highest memory level.
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
