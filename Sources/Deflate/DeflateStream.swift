// SPDX-License-Identifier: Apache-2.0
internal import CZlib

/// A stream of raw deflate that grows piece by piece: each piece can be read as soon as it is there, and what was said
/// in an earlier one costs next to nothing when it is said again.
///
/// Not thread-safe; some 50 KB of memory each.
@safe package final class DeflateStream {
    /// 8 KB of history: what is compressed here is shorter.
    private static let windowBits: Int32 = 13
    private static let memoryLevel: Int32 = 5
    /// Quick rather than small: the gain lies in the history.
    private static let level: Int32 = 3

    // zlib keeps a pointer back to the structure, so it must not move; freed in deinit.
    private let stream: UnsafeMutablePointer<z_stream>
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// An empty stream.
    package init() {
        unsafe self.stream = .allocate(capacity: 1)
        unsafe self.stream.initialize(to: z_stream())
        let code = unsafe plaza_deflate_init(self.stream, Self.level, Self.windowBits, Self.memoryLevel)
        precondition(code == Z_OK, "zlib cannot begin a stream: code \(code)")
    }

    deinit {
        unsafe deflateEnd(self.stream)
        unsafe self.stream.deinitialize(count: 1)
        unsafe self.stream.deallocate()
    }

    /// Compresses `bytes`.
    ///
    /// - Returns: the stream's next piece, whole: all pieces up to it, one after another, can be inflated.
    package func append(_ bytes: [UInt8]) -> [UInt8] {
        var piece: [UInt8] = []
        unsafe bytes.withUnsafeBufferPointer { input in
            // zlib reads the input and never writes it; its structure is older than const.
            unsafe self.stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe self.stream.pointee.avail_in = UInt32(input.count)
            var isFull = true
            while isFull {
                unsafe self.buffer.withUnsafeMutableBufferPointer { output in
                    unsafe self.stream.pointee.next_out = output.baseAddress
                    unsafe self.stream.pointee.avail_out = UInt32(output.count)
                    let code = unsafe deflate(self.stream, Z_SYNC_FLUSH)
                    // Z_BUF_ERROR: the last turn filled the buffer exactly, and nothing was left to say.
                    precondition(code == Z_OK || code == Z_BUF_ERROR, "zlib cannot go on: code \(code)")
                    let count = unsafe output.count - Int(self.stream.pointee.avail_out)
                    unsafe piece.append(contentsOf: output[..<count])
                    isFull = unsafe self.stream.pointee.avail_out == 0
                }
            }
        }
        return piece
    }
}
