// SPDX-License-Identifier: Apache-2.0
internal import CZlib

/// Why compressed bytes cannot be inflated.
package enum InflationError: Error, Equatable, Sendable {
    /// The bytes are not raw deflate data, or they end inside a piece.
    case corrupt
    /// The result would exceed the limit.
    case tooLong(limit: Int)
}

/// Decompresses the output of a `DeflateStream`.
package enum Inflation {
    /// The last bytes of each piece: the empty stored block that zlib writes for `Z_SYNC_FLUSH`.
    private static let pieceEnd: [UInt8] = [0x00, 0x00, 0xff, 0xff]

    /// Decompresses the concatenated pieces of a stream.
    ///
    /// - Parameters:
    ///   - bytes: raw deflate, from the stream's beginning to the end of a piece.
    ///   - limit: the maximum size of the result, in bytes.
    /// - Returns: the original bytes.
    /// - Throws: `InflationError` when the bytes are not such a stream or the result exceeds `limit`.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws(InflationError) -> [UInt8] {
        // zlib would accept bytes that end inside a piece, as the beginning of a longer stream.
        guard bytes.isEmpty || bytes.suffix(Self.pieceEnd.count) == Self.pieceEnd[...] else { throw .corrupt }
        var stream = unsafe z_stream()
        // zlib keeps a pointer to the structure, so the structure stays in this stack frame.
        let outcome = unsafe withUnsafeMutablePointer(to: &stream) { pointer -> Result<[UInt8], InflationError> in
            guard unsafe plaza_inflate_init(pointer) == Z_OK else { return .failure(.corrupt) }
            defer { unsafe inflateEnd(pointer) }
            return unsafe Self.inflate(bytes, with: pointer, limit: limit)
        }
        return try outcome.get()
    }

    private static func inflate(
        _ bytes: [UInt8], with stream: UnsafeMutablePointer<z_stream>, limit: Int
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
                    // zlib left room in the buffer, so it has written all output. It must also have read all input.
                    return unsafe stream.pointee.avail_in == 0 ? .success(result) : .failure(.corrupt)
                }
            }
        }
    }
}

/// zlib's `inflate`, which our method of the same name would hide.
@unsafe private func zlibInflate(_ stream: UnsafeMutablePointer<z_stream>) -> Int32 {
    unsafe inflate(stream, Z_SYNC_FLUSH)
}
