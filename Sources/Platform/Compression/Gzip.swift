// SPDX-License-Identifier: Apache-2.0
internal import CZlib

/// Compresses whole byte strings to gzip (RFC 1952), for HTTP's `Content-Encoding`.
package enum Gzip {
    /// zlib's best level, for content that is compressed once and sent often.
    private static let level: Int32 = 9

    /// Compresses `bytes`; the same bytes always give the same result.
    ///
    /// - Parameter bytes: less than 4 GiB.
    /// - Returns: a whole gzip file.
    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count <= UInt32.max, "too large for one call of zlib")
        var stream = unsafe z_stream()
        // zlib keeps a pointer to the structure, so the structure stays in this stack frame.
        return unsafe withUnsafeMutablePointer(to: &stream) { pointer in unsafe Self.compress(bytes, with: pointer) }
    }

    private static func compress(_ bytes: [UInt8], with stream: UnsafeMutablePointer<z_stream>) -> [UInt8] {
        let initCode = unsafe plaza_gzip_init(stream, Self.level)
        precondition(initCode == Z_OK, "zlib cannot create a stream: code \(initCode)")
        defer { unsafe deflateEnd(stream) }
        // The bound holds for a stream without flushes, so one call is enough.
        var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(stream, UInt(bytes.count))))
        let count = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { space in
                // zlib does not write to the input; the field only lacks `const` in C.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(input.count)
                unsafe stream.pointee.next_out = space.baseAddress
                unsafe stream.pointee.avail_out = UInt32(space.count)
                let code = unsafe deflate(stream, Z_FINISH)
                precondition(code == Z_STREAM_END, "zlib cannot compress: code \(code)")
                return unsafe space.count - Int(stream.pointee.avail_out)
            }
        }
        output.removeLast(output.count - count)
        return output
    }
}
