// SPDX-License-Identifier: Apache-2.0

extension Wire {
    /// Decodes JSON that a client sent by HTTP; a call by WebSocket is a `CallFrame`.
    ///
    /// The names of a decoded object are hashed. Therefore the combining marks are counted before.
    ///
    /// - Throws: `notJSON`; or `badField` if a name or a string has more than `StrictJSON.maxMarks` combining marks in
    ///   a row.
    package static func decodeClientJSON(_ bytes: [UInt8]) throws(WireError) -> JSONValue {
        guard let json = StrictJSON(bytes) else { throw .notJSON }
        guard !json.hasLongMarkRun(at: 0) else {
            throw .badField(
                path: "the body", message: "has more than \(StrictJSON.maxMarks) combining marks in a row")
        }
        return try Self.decode(from: json, at: 0)
    }
}
