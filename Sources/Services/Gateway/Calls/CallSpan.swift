// SPDX-License-Identifier: Apache-2.0
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The span of a traced call, from its record to its answer; the record's header names it to the next hops.
struct CallSpan: Sendable {
    private let context: TraceContext
    private let parentID: UInt64?
    private let start: Int64

    /// Begins the span of a call: below the trace that an HTTP client sent, or as the first of a new trace; nil if the
    /// call is not in the sample.
    ///
    /// - Parameters:
    ///   - tracer: the tracer.
    ///   - record: the call's record, whose header is set.
    init?(_ tracer: Tracer, _ record: inout TopicRecord) {
        self.start = tracer.now
        if let index = record.headers.firstIndex(where: { $0.name == TraceContext.headerName }) {
            guard let parent = tracer.sampled(record.headers[index].value) else { return nil }
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

    /// Records the span of a call that has its outcome.
    func end(_ method: String, _ outcome: Outcome, _ tracer: Tracer) {
        var failure: String?
        if case .failure(let error) = outcome { failure = error.code.name }
        tracer.record(
            TraceSpan(
                "call \(method)", .server, self.context, parentID: self.parentID, start: self.start, end: tracer.now,
                attributes: [TraceSpan.Attribute("rpc.method", .text(method))], failure: failure))
    }
}
