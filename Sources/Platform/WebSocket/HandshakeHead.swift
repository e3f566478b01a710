// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The start line and fields of an HTTP/1.1 message (RFC 9112); only the syntax that a handshake needs.
package struct HandshakeHead: Equatable, Sendable {
    /// The start line, without its CRLF.
    package var startLine: String
    /// The header fields in order.
    package var fields: [Field]

    /// One header field.
    package struct Field: Equatable, Sendable {
        /// The field's name in lower case.
        package var name: String
        /// The field's value without the white space around it.
        package var value: String

        /// Makes a field.
        ///
        /// Neither name nor value may contain line breaks.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The maximum number of fields of a head.
    package static let maxFields = 64

    /// The values of all fields with the name `name`, which must be in lower case.
    package func values(_ name: String) -> [String] {
        self.fields.filter { $0.name == name }.map(\.value)
    }

    /// Whether the comma-separated list field `name` contains `token`; both must be in lower case.
    ///
    /// The case of the field's value is ignored.
    func hasToken(_ token: String, in name: String) -> Bool {
        self.listItems(name).contains { $0.lowercased() == token }
    }

    /// The items of a comma-separated list field, from all fields with that name.
    func listItems(_ name: String) -> [String] {
        self.values(name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: Self.trimmed($0), as: UTF8.self) }
        }.filter { !$0.isEmpty }
    }

    /// Parses a whole head, including the empty line at its end.
    ///
    /// - Throws: `HandshakeHeadError.malformed`, or `.tooLarge` for too many fields.
    init(parsing bytes: [UInt8]) throws(HandshakeHeadError) {
        var lines: [ArraySlice<UInt8>] = []
        var unparsed = bytes[...]
        while let lineFeed = unparsed.firstIndex(of: UInt8(ascii: "\n")) {
            guard lineFeed > unparsed.startIndex, unparsed[lineFeed - 1] == UInt8(ascii: "\r") else { throw .malformed }
            let line = unparsed[unparsed.startIndex..<lineFeed - 1]
            if line.isEmpty { break }
            // `>` and not `>=`, because `lines` contains the start line besides the fields.
            if lines.count > Self.maxFields { throw .tooLarge }
            lines.append(line)
            unparsed = unparsed[(lineFeed + 1)...]
        }
        guard let first = lines.first, !first.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { throw .malformed }
        self.startLine = String(decoding: first, as: UTF8.self)
        self.fields = []
        for line in lines.dropFirst() { self.fields.append(try Self.parseField(line)) }
    }

    /// Parses one field.
    private static func parseField(_ line: ArraySlice<UInt8>) throws(HandshakeHeadError) -> Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { throw .malformed }
        let name = line[..<colon]
        let value = Self.trimmed(line[(colon + 1)...])
        // White space before the colon and folded lines are rejected, because they enable request smuggling. Of the
        // control characters, a value may contain only the tab (9).
        guard name.allSatisfy(Self.isTokenByte) else { throw .malformed }
        if value.contains(where: { ($0 < 0x20 && $0 != 9) || $0 == 0x7F }) { throw .malformed }
        // No value that this server reads has other characters than ASCII.
        let text = String(ascii: value)
        return Field(name: String(decoding: name, as: UTF8.self).lowercased(), value: text)
    }

    /// Whether a byte may be in a token (RFC 9110, section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The bytes without the spaces and tabs around them.
    private static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return bytes[bytes.endIndex...] }
        return bytes[first...last]
    }
}

/// Why a head could not be parsed.
package enum HandshakeHeadError: Error, Hashable, Sendable {
    /// The syntax of the head is not that of HTTP/1.1.
    case malformed
    /// The head is longer or has more fields than the limits allow.
    case tooLarge
}

/// Collects the bytes of a head that is received in pieces, up to a size limit.
package struct HandshakeHeadReader: Sendable {
    /// The maximum size of a head in bytes.
    package let maxBytes: Int
    private var received: [UInt8] = []

    /// Makes a reader that has received no byte yet.
    package init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Adds the next received piece.
    ///
    /// - Returns: The head, and the number of bytes of this piece that belong to the head; nil until the head is
    ///   complete.
    /// - Throws: `HandshakeHeadError`. After an error the reader must not be used any more.
    package mutating func consume(
        _ bytes: Span<UInt8>
    ) throws(HandshakeHeadError) -> (head: HandshakeHead, usedBytes: Int)? {
        for index in bytes.indices {
            if self.received.count == self.maxBytes { throw .tooLarge }
            self.received.append(bytes[index])
            guard bytes[index] == UInt8(ascii: "\n"), self.received.suffix(4).elementsEqual("\r\n\r\n".utf8) else {
                continue
            }
            return (try HandshakeHead(parsing: self.received), index + 1)
        }
        return nil
    }
}
