// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

extension Wire {
    /// Decodes JSON that a client sent by HTTP; a call by WebSocket is a `CallFrame`.
    ///
    /// The combining marks are counted before the names of objects are hashed, because hashing many marks takes long.
    ///
    /// - Throws: `notJSON`; or `badField` if a name or a string has more than `String.maxMarks` combining marks in
    ///   a row.
    package static func decodeClientJSON(_ bytes: [UInt8]) throws(WireError) -> JSONValue {
        try Self.decode(from: Self.scanClientJSON(bytes, at: "the body"), at: 0)
    }

    /// Checks JSON of a client before another decoder decodes it, which hashes names and compares texts.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - path: what the text is, for the error.
    /// - Throws: `notJSON`; or `badField` if a name or a string has more than `String.maxMarks` combining marks in
    ///   a row.
    package static func checkClientJSON(_ bytes: [UInt8], at path: String) throws(WireError) {
        _ = try self.scanClientJSON(bytes, at: path)
    }

    private static func scanClientJSON(_ bytes: [UInt8], at path: String) throws(WireError) -> StrictJSON {
        guard let json = StrictJSON(bytes) else { throw .notJSON }
        guard !json.hasLongMarkRun(at: 0) else {
            throw .badField(path: path, message: "has more than \(String.maxMarks) combining marks in a row")
        }
        return json
    }
}
