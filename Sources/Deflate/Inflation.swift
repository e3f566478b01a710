// SPDX-License-Identifier: Apache-2.0
internal import CZlib

/// Why compressed bytes cannot be read.
package enum InflationError: Error, Equatable, Sendable {
    /// They are no raw deflate, or end within a piece.
    case corrupt
    /// They would become longer than allowed.
    case tooLong(limit: Int)
}

/// Reads what a `DeflateStream` wrote.
package enum Inflation {
    /// Inflates the pieces of a stream, put together.
    ///
    /// - Parameters:
    ///   - bytes: raw deflate, from the stream's beginning to the end of a piece.
    ///   - limit: the longest result that is accepted, in bytes.
    /// - Returns: what was compressed.
    /// - Throws: `InflationError`, when the bytes are no such stream or their content is longer than `limit`.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws(InflationError) -> [UInt8] {
        var stream = unsafe z_stream()
        // The structure stays in this frame for as long as zlib points to it.
        let outcome = unsafe withUnsafeMutablePointer(to: &stream) { pointer -> Result<[UInt8], InflationError> in
            guard unsafe plaza_inflate_init(pointer) == Z_OK else { return .failure(.corrupt) }
            defer { unsafe inflateEnd(pointer) }
            return unsafe Self.run(pointer, bytes, limit)
        }
        return try outcome.get()
    }

    private static func run(
        _ stream: UnsafeMutablePointer<z_stream>, _ bytes: [UInt8], _ limit: Int
    ) -> Result<[UInt8], InflationError> {
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        return unsafe bytes.withUnsafeBufferPointer { input in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            while true {
                let (code, count) = unsafe buffer.withUnsafeMutableBufferPointer { output in
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(output.count)
                    let code = unsafe zlibInflate(stream)
                    return unsafe (code, output.count - Int(stream.pointee.avail_out))
                }
                guard code == Z_OK || code == Z_BUF_ERROR else { return .failure(.corrupt) }
                guard result.count + count <= limit else { return .failure(.tooLong(limit: limit)) }
                result.append(contentsOf: buffer[..<count])
                if count < buffer.count {
                    // Everything that can be said was said; a piece ends on a byte, so nothing may be left over.
                    return unsafe stream.pointee.avail_in == 0 ? .success(result) : .failure(.corrupt)
                }
            }
        }
    }
}

/// `inflate` of zlib, beside our own method of that name.
@unsafe private func zlibInflate(_ stream: UnsafeMutablePointer<z_stream>) -> Int32 {
    unsafe inflate(stream, Z_SYNC_FLUSH)
}
