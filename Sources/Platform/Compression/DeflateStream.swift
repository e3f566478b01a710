// SPDX-License-Identifier: Apache-2.0
internal import CZlib

/// A raw deflate stream that is written and read in pieces.
///
/// As soon as a piece is written, it can be inflated (decompressed) together with the pieces before it. A text takes
/// almost no space if it also occurs in the last 8 KB before, in the same or an earlier piece.
///
/// A stream is not thread-safe and takes about 50 KB of memory.
@safe package final class DeflateStream {
    /// Base-2 logarithm of the history in bytes: 8 KB.
    private static let windowBits: Int32 = 13
    /// zlib's trade-off between memory and speed, from 1 to 9.
    private static let memoryLevel: Int32 = 5
    /// A low and fast compression level, because the history saves far more space than a higher level would.
    private static let level: Int32 = 3

    // zlib keeps a pointer to the structure, so it must not move; `deinit` frees it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// An empty stream.
    package init() {
        unsafe self.stream = .allocate(capacity: 1)
        unsafe self.stream.initialize(to: z_stream())
        let code = unsafe plaza_deflate_init(self.stream, Self.level, Self.windowBits, Self.memoryLevel)
        precondition(code == Z_OK, "zlib cannot create a stream: code \(code)")
    }

    deinit {
        unsafe deflateEnd(self.stream)
        unsafe self.stream.deinitialize(count: 1)
        unsafe self.stream.deallocate()
    }

    /// Compresses `bytes`.
    ///
    /// - Returns: the next piece of the stream; the concatenation of all pieces so far can be inflated.
    package func append(_ bytes: [UInt8]) -> [UInt8] {
        var piece: [UInt8] = []
        unsafe bytes.withUnsafeBufferPointer { input in
            // zlib does not write to the input; the field only lacks `const` in C.
            unsafe self.stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe self.stream.pointee.avail_in = UInt32(input.count)
            var isBufferFull = true
            while isBufferFull {
                unsafe self.buffer.withUnsafeMutableBufferPointer { output in
                    unsafe self.stream.pointee.next_out = output.baseAddress
                    unsafe self.stream.pointee.avail_out = UInt32(output.count)
                    let code = unsafe deflate(self.stream, Z_SYNC_FLUSH)
                    // Z_BUF_ERROR: the previous round filled the buffer exactly, and nothing is left to write.
                    precondition(code == Z_OK || code == Z_BUF_ERROR, "zlib cannot compress: code \(code)")
                    let count = unsafe output.count - Int(self.stream.pointee.avail_out)
                    unsafe piece.append(contentsOf: output[..<count])
                    isBufferFull = unsafe self.stream.pointee.avail_out == 0
                }
            }
        }
        return piece
    }
}
