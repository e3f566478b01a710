// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress

/// A PROXY header, version 2, that is received in one piece, and in several pieces: both must give the same header.
///
/// The first byte selects the size of the pieces; the other bytes are what a proxy, or whoever claims to be one, sends.
public enum ProxyHeaderFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        guard let sizeByte = input.first else { return }
        let bytes = Array(input.dropFirst())
        let wholeResult = Self.read(bytes, pieceBytes: max(1, bytes.count))
        precondition(wholeResult == Self.read(bytes, pieceBytes: Int(sizeByte) + 1), "the header depends on the pieces")
        guard case .success(let header?) = wholeResult else { return }
        precondition((16...ProxyHeaderReader.maxBytes).contains(header.usedBytes), "the length is outside its limits")
        // The bytes after the header belong to the client, so the header is the same without them.
        let headerAlone = Self.read(Array(bytes[..<header.usedBytes]), pieceBytes: 1)
        precondition(wholeResult == headerAlone, "the bytes after the header change it")
        let truncated = Self.read(Array(bytes[..<(header.usedBytes - 1)]), pieceBytes: 1)
        precondition(truncated == .success(nil), "the header is complete before its last byte")
        if let client = header.client {
            precondition(IPAddress("\(client)") == client, "the address changes when its text is parsed")
        }
    }

    /// Reads bytes in pieces; `usedBytes` of the result counts from the first piece, and nil is an incomplete header.
    private static func read(
        _ bytes: [UInt8], pieceBytes: Int
    ) -> Result<ProxyHeaderReader.Header?, ProxyHeaderError> {
        var reader = ProxyHeaderReader()
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            let end = min(bytes.count, start + pieceBytes)
            do throws(ProxyHeaderError) {
                guard let header = try reader.consume(bytes.span.extracting(start..<end)) else { continue }
                return .success(.init(client: header.client, usedBytes: start + header.usedBytes))
            } catch {
                return .failure(error)
            }
        }
        return .success(nil)
    }
}
