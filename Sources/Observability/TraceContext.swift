// SPDX-License-Identifier: Apache-2.0

/// Where a piece of work stands in a trace, as W3C's `traceparent` header tells it; `tracestate` is ignored.
package struct TraceContext: Sendable, Hashable, CustomStringConvertible {
    /// The header's name, also as a Kafka header and a frame field.
    package static let headerName = "traceparent"

    /// The upper half of the trace's id.
    package let traceHigh: UInt64
    /// The lower half of the trace's id.
    package let traceLow: UInt64
    /// The id of this span.
    package let spanID: UInt64
    /// Whether the caller records this trace.
    package let isSampled: Bool

    /// Starts a trace.
    ///
    /// - Parameters:
    ///   - isSampled: whether it is recorded.
    ///   - generator: where the ids come from.
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

    /// Reads a header's text; nothing when it is not one, and then a new trace begins.
    package init?(_ text: String) { self.init(parsing: text.utf8) }

    /// Reads a header's bytes; nothing when they are none.
    ///
    /// A version that is not known yet is read as version 00, with whatever follows left out, as W3C asks.
    package init?(parsing bytes: some Collection<UInt8>) {
        // 2 + 1 + 32 + 1 + 16 + 1 + 2: version, trace, span, flags.
        let fixed = Array(bytes.prefix(56))
        guard fixed.count >= 55 else { return nil }
        let dash = UInt8(ascii: "-")
        guard fixed[2] == dash, fixed[35] == dash, fixed[52] == dash else { return nil }
        guard let version = Self.hex(fixed[0..<2]), version != 0xff else { return nil }
        guard version == 0 ? fixed.count == 55 : fixed.count == 55 || fixed[55] == dash else { return nil }
        guard let high = Self.hex(fixed[3..<19]), let low = Self.hex(fixed[19..<35]) else { return nil }
        guard let span = Self.hex(fixed[36..<52]), let flags = Self.hex(fixed[53..<55]) else { return nil }
        guard high | low != 0, span != 0 else { return nil }
        self.init(traceHigh: high, traceLow: low, spanID: span, isSampled: flags & 1 == 1)
    }

    /// The context of a piece of work inside this one.
    package func child(using generator: inout some RandomNumberGenerator) -> TraceContext {
        TraceContext(
            traceHigh: self.traceHigh, traceLow: self.traceLow, spanID: Self.identifier(using: &generator),
            isSampled: self.isSampled)
    }

    /// The trace's id as 32 hexadecimal digits.
    package var traceID: String { Self.text(self.traceHigh) + Self.text(self.traceLow) }

    /// The header's value.
    package var description: String {
        "00-\(self.traceID)-\(Self.text(self.spanID))-\(self.isSampled ? "01" : "00")"
    }

    /// The header's value as bytes.
    package var bytes: [UInt8] { Array(self.description.utf8) }

    private static func identifier(using generator: inout some RandomNumberGenerator) -> UInt64 {
        // Zero means "none", in each of the ids.
        max(1, generator.next())
    }

    private static func hex(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 48...57: value = value << 4 | UInt64(digit - 48)
            case 97...102: value = value << 4 | UInt64(digit - 87)
            default: return nil
            }
        }
        return value
    }

    private static func text(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
