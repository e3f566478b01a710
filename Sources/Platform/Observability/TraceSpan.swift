// SPDX-License-Identifier: Apache-2.0

/// One hop of a trace, with its beginning and its end.
///
/// Spans hold no payloads, names of users or tokens: collectors are shared, and keep what they get.
package struct TraceSpan: Sendable, Equatable {
    /// What the hop did, with the numbers of OTLP's `SpanKind`.
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case server = 2
        case producer = 4
        case consumer = 5
    }

    /// The value of an attribute.
    package enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int64)
    }

    /// One attribute.
    package struct Attribute: Sendable, Equatable {
        package var name: String
        package var value: Value

        package init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The trace's id and the span's own.
    package var context: TraceContext
    /// The span that caused this one; nil if this span begins the trace.
    package var parentID: UInt64?
    package var name: String
    package var kind: Kind
    /// Nanoseconds since 1970, by the clock of this host or, for records, of the broker.
    package var start: Int64
    /// Nanoseconds since 1970; never before `start`, even if the times come from two clocks that differ.
    package var end: Int64
    package var attributes: [Attribute]
    /// Why the hop failed; nil if it did not.
    package var failure: String?

    package init(
        _ name: String, _ kind: Kind, _ context: TraceContext, parentID: UInt64?, start: Int64, end: Int64,
        attributes: [Attribute] = [], failure: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parentID = parentID
        self.start = start
        self.end = max(start, end)
        self.attributes = attributes
        self.failure = failure
    }
}

/// The finished spans that wait to be sent; when the buffer is full, new spans are dropped and counted.
///
/// New spans are dropped instead of the oldest ones, because that costs nothing while a collector is slow for long.
package struct SpanBuffer: Sendable {
    private let capacity: Int
    private var spans: [TraceSpan] = []
    /// How many spans were dropped since the last `takeDropped`.
    private var dropped = 0

    /// - Parameter capacity: the maximum number of spans that wait.
    package init(capacity: Int) { self.capacity = capacity }

    /// The number of spans that wait.
    package var count: Int { self.spans.count }

    /// Adds a span, or drops it if the buffer is full.
    package mutating func append(_ span: TraceSpan) {
        if self.spans.count < self.capacity { self.spans.append(span) } else { self.dropped += 1 }
    }

    /// Removes and returns the oldest spans, at most `max`.
    package mutating func take(max: Int) -> [TraceSpan] {
        let taken = Array(self.spans.prefix(max))
        self.spans.removeFirst(taken.count)
        return taken
    }

    /// The number of spans that were dropped since the last call.
    package mutating func takeDropped() -> Int {
        defer { self.dropped = 0 }
        return self.dropped
    }
}
