// SPDX-License-Identifier: Apache-2.0

/// A span of a trace, as W3C's `traceparent` header describes it; `tracestate` is ignored.
package struct TraceContext: Sendable, Hashable, CustomStringConvertible {
    /// The name of the HTTP header, the Kafka header and the frame field.
    package static let headerName = "traceparent"

    /// The upper half of the trace's id.
    package let traceHigh: UInt64
    /// The lower half of the trace's id.
    package let traceLow: UInt64
    /// The id of this span.
    package let spanID: UInt64
    /// Whether this trace is recorded, as the caller that began it decided.
    package let isSampled: Bool

    /// Starts a new trace with its first span.
    ///
    /// - Parameters:
    ///   - isSampled: whether the trace is recorded.
    ///   - generator: the source of the ids.
    package init(isSampled: Bool, using generator: inout some RandomNumberGenerator) {
        self.traceHigh = Self.identifier(using: &generator)
        self.traceLow = Self.identifier(using: &generator)
        self.spanID = Self.identifier(using: &generator)
        self.isSampled = isSampled
    }

    private init(traceHigh: UInt64, traceLow: UInt64, spanID: UInt64, isSampled: Bool) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Parses the value of a header; nil when it is malformed.
    ///
    /// For a malformed header the caller starts a new trace.
    package init?(_ text: String) { self.init(parsing: text.utf8) }

    /// Parses the bytes of a header's value; nil when they are malformed.
    ///
    /// A header of a later version is parsed as version 00, and its additional fields are ignored, as W3C requires.
    package init?(parsing bytes: some Collection<UInt8>) {
        // The first 55 bytes are version (2), trace id (32), span id (16) and flags (2), with a dash between two
        // fields. A 56th byte shows that more follows.
        let head = Array(bytes.prefix(56))
        guard head.count >= 55 else { return nil }
        let dash = UInt8(ascii: "-")
        guard head[2] == dash, head[35] == dash, head[52] == dash else { return nil }
        guard let version = Self.parseHex(head[0..<2]), version != 0xff else { return nil }
        // Only a later version may have more, after a dash.
        guard head.count == 55 || (version > 0 && head[55] == dash) else { return nil }
        guard let high = Self.parseHex(head[3..<19]), let low = Self.parseHex(head[19..<35]) else { return nil }
        guard let span = Self.parseHex(head[36..<52]), let flags = Self.parseHex(head[53..<55]) else { return nil }
        guard high | low != 0, span != 0 else { return nil }
        self.init(traceHigh: high, traceLow: low, spanID: span, isSampled: flags & 1 == 1)
    }

    /// The context of a child span of this one.
    package func child(using generator: inout some RandomNumberGenerator) -> TraceContext {
        TraceContext(
            traceHigh: self.traceHigh, traceLow: self.traceLow, spanID: Self.identifier(using: &generator),
            isSampled: self.isSampled)
    }

    /// The trace's id as 32 hexadecimal digits.
    package var traceID: String { Self.hexadecimal(self.traceHigh) + Self.hexadecimal(self.traceLow) }

    /// The header's value.
    package var description: String {
        "00-\(self.traceID)-\(Self.hexadecimal(self.spanID))-\(self.isSampled ? "01" : "00")"
    }

    /// The header's value as bytes.
    package var bytes: [UInt8] { Array(self.description.utf8) }

    /// A random id.
    private static func identifier(using generator: inout some RandomNumberGenerator) -> UInt64 {
        // Zero is invalid as a trace id or a span id.
        max(1, generator.next())
    }

    /// The number that lower-case hexadecimal digits stand for; nil for other characters.
    private static func parseHex(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }

    /// An id as 16 hexadecimal digits.
    static func hexadecimal(_ id: UInt64) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
