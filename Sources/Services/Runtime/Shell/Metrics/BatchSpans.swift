// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import MachineKit
internal import Observability

/// The spans of a batch.
///
/// Each traced input has two spans: its wait in the inbox, and its decision. Each effect of a traced input has one
/// span. The spans are stored until the batch is durable. A batch that is rolled back is decided again, so its spans
/// are discarded.
struct BatchSpans {
    /// The partition and offset of a traced input.
    private struct InputPosition: Hashable {
        var partition: Int32
        var offset: Int64
    }

    private let tracer: Tracer
    private let machine: String
    /// The trace context of each traced input's decision.
    private var decisions: [InputPosition: TraceContext] = [:]
    /// The spans of the batch; those of decisions and effects end when the batch is durable, and have the end `.max`
    /// until then.
    private var pending: [TraceSpan] = []

    /// Creates an empty collection; nil while tracing is off.
    init?(_ tracer: Tracer, machine: String) {
        guard tracer.isOn else { return nil }
        self.tracer = tracer
        self.machine = machine
    }

    /// The current time in nanoseconds since 1970, as spans contain it.
    var now: Int64 { self.tracer.now }

    /// Adds the spans of the traced records among `records`, whose decision began at `beganAtNanoseconds`.
    mutating func recordsDecided(_ records: ArraySlice<IncomingRecord>, from beganAtNanoseconds: Int64) {
        for record in records {
            guard let context = self.tracer.sampledContext(from: record.header(TraceHeader.name)) else { continue }
            let wait = self.tracer.child(of: context)
            let decision = self.tracer.child(of: wait)
            self.decisions[InputPosition(partition: record.partition, offset: record.offset)] = decision
            let inputAttributes: [TraceSpan.Attribute] = [
                TraceSpan.Attribute("messaging.system", .text("kafka")),
                TraceSpan.Attribute("messaging.destination.name", .text(record.topic)),
                TraceSpan.Attribute("messaging.destination.partition.id", .text("\(record.partition)")),
                TraceSpan.Attribute("messaging.kafka.message.offset", .integer(record.offset)),
            ]
            self.pending.append(
                TraceSpan(
                    "topic \(record.topic)", .consumer, wait, parentID: context.spanID,
                    start: record.timestamp.milliseconds.saturatingMultiply(1_000_000), end: beganAtNanoseconds,
                    attributes: inputAttributes))
            // The span of the decision ends when the batch is durable; `batchCommitted` sets its end.
            self.pending.append(
                TraceSpan(
                    "decide \(self.machine)", .internal, decision, parentID: wait.spanID, start: beganAtNanoseconds,
                    end: .max,
                    attributes: inputAttributes))
        }
    }

    /// Adds the span of an effect.
    ///
    /// - Returns: the trace header of the effect's record; nil if `record`, the causing input, is not traced.
    mutating func effectHeader(of topic: String, causedBy record: IncomingRecord) -> [UInt8]? {
        guard let decision = self.decisions[InputPosition(partition: record.partition, offset: record.offset)] else {
            return nil
        }
        let effect = self.tracer.child(of: decision)
        self.pending.append(
            TraceSpan(
                "effect \(topic)", .producer, effect, parentID: decision.spanID, start: self.tracer.now, end: .max,
                attributes: [TraceSpan.Attribute("messaging.destination.name", .text(topic))]))
        return effect.bytes
    }

    /// Ends the spans of a batch that is durable now, and passes them to the tracer.
    mutating func batchCommitted() {
        if self.pending.isEmpty { return }
        let now = self.tracer.now
        for var span in self.pending {
            if span.end == .max { span.end = max(span.start, now) }
            self.tracer.record(span)
        }
        self.discardSpans()
    }

    /// Discards the spans of a batch that will be decided again.
    mutating func batchRolledBack() { self.discardSpans() }

    private mutating func discardSpans() {
        self.pending.removeAll(keepingCapacity: true)
        self.decisions.removeAll(keepingCapacity: true)
    }
}
