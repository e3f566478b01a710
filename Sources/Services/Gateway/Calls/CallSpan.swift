// SPDX-License-Identifier: Apache-2.0
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The span of a traced call, from the writing of its record to its reply; the record's header passes the trace on to
/// the service that decides the call.
struct CallSpan: Sendable {
    private let context: TraceContext
    private let parentID: UInt64?
    /// When the span began, in nanoseconds since 1970.
    private let start: Int64

    /// Begins the span of a call; nil if the call is not among the share of calls that are traced.
    ///
    /// The span is a child of the trace context that an HTTP client sent, or the first span of a new trace.
    ///
    /// - Parameters:
    ///   - tracer: The tracer.
    ///   - record: The call's record. Its trace header is replaced or added, so that it names this span.
    init?(_ tracer: Tracer, _ record: inout TopicRecord) {
        self.start = tracer.now
        if let index = record.headers.firstIndex(where: { $0.name == TraceContext.headerName }) {
            guard let parent = tracer.sampledContext(from: record.headers[index].value) else { return nil }
            self.context = tracer.child(of: parent)
            self.parentID = parent.spanID
            record.headers[index].value = self.context.bytes
        } else {
            guard let context = tracer.startTrace() else { return nil }
            self.context = context
            self.parentID = nil
            record.headers.append((TraceContext.headerName, context.bytes))
        }
    }

    /// Ends the span with the call's outcome, and records it.
    func end(_ method: String, _ outcome: Outcome, _ tracer: Tracer) {
        var failure: String?
        if case .failure(let error) = outcome { failure = error.code.name }
        tracer.record(
            TraceSpan(
                "call \(method)", .server, self.context, parentID: self.parentID, start: self.start, end: tracer.now,
                attributes: [TraceSpan.Attribute("rpc.method", .text(method))], failure: failure))
    }
}
