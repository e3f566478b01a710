// SPDX-License-Identifier: Apache-2.0

/// One operation of a trace, with its start and end time.
///
/// A collector may be shared, and stores what it receives. Therefore spans contain no payloads, user names or tokens.
package struct TraceSpan: Sendable, Equatable {
    /// The kind of the operation, with the numbers of OTLP's `SpanKind`.
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

    /// The ids of the trace and of this span.
    package var context: TraceContext
    /// The span that caused this one; nil if this span begins the trace.
    package var parentID: UInt64?
    package var name: String
    package var kind: Kind
    /// The start time in nanoseconds since 1970, by the clock of this host or, for records, of the broker.
    package var start: Int64
    /// The end time in nanoseconds since 1970; never before `start`, even if the two times come from different clocks.
    package var end: Int64
    package var attributes: [Attribute]
    /// Why the operation failed; nil if it succeeded.
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
/// Dropping the oldest spans instead would move the whole buffer for each new span while a collector is slow.
package struct SpanBuffer: Sendable {
    private let capacity: Int
    private var spans: [TraceSpan] = []
    /// How many spans were dropped since the last `takeDroppedCount`.
    private var droppedCount = 0

    /// - Parameter capacity: the maximum number of spans that wait.
    package init(capacity: Int) { self.capacity = capacity }

    /// The number of spans that wait.
    package var count: Int { self.spans.count }

    /// Adds a span, or drops it if the buffer is full.
    package mutating func append(_ span: TraceSpan) {
        if self.spans.count < self.capacity { self.spans.append(span) } else { self.droppedCount += 1 }
    }

    /// Removes and returns the oldest spans, at most `max`.
    package mutating func take(max: Int) -> [TraceSpan] {
        let taken = Array(self.spans.prefix(max))
        self.spans.removeFirst(taken.count)
        return taken
    }

    /// Returns the number of spans that were dropped since the last call.
    package mutating func takeDroppedCount() -> Int {
        defer { self.droppedCount = 0 }
        return self.droppedCount
    }
}
