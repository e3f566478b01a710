// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import Observability

/// The spans of a batch: for each traced input the wait in its topic and the decision, and one for each effect's record.
///
/// They are kept until the batch is durable. A batch that is rolled back is decided again, so its spans are forgotten.
struct BatchSpans {
    private struct Cause: Hashable {
        var partition: Int32
        var offset: Int64
    }

    private let tracer: Tracer
    private let machine: String
    private var decisions: [Cause: TraceContext] = [:]
    /// The spans of decisions and effects, which end when the batch is durable.
    private var pending: [TraceSpan] = []

    /// Creates the spans of a session; nil if nothing is recorded.
    init?(_ tracer: Tracer, machine: String) {
        guard tracer.isOn else { return nil }
        self.tracer = tracer
        self.machine = machine
    }

    /// The time for a span.
    var now: Int64 { self.tracer.now }

    /// Begins the spans of the traced records among `records`, which were decided from `began` on.
    mutating func decided(_ records: ArraySlice<IncomingRecord>, from began: Int64) {
        for record in records {
            guard let context = self.tracer.sampled(record.header(TraceHeader.name)) else { continue }
            let topic = self.tracer.child(of: context)
            let decision = self.tracer.child(of: topic)
            self.decisions[Cause(partition: record.partition, offset: record.offset)] = decision
            let place: [TraceSpan.Attribute] = [
                TraceSpan.Attribute("messaging.system", .text("kafka")),
                TraceSpan.Attribute("messaging.destination.name", .text(record.topic)),
                TraceSpan.Attribute("messaging.destination.partition.id", .text("\(record.partition)")),
                TraceSpan.Attribute("messaging.kafka.message.offset", .integer(record.offset)),
            ]
            self.pending.append(
                TraceSpan(
                    "topic \(record.topic)", .consumer, topic, parentID: context.spanID,
                    start: record.timestamp * 1_000_000, end: began, attributes: place))
            // The end of a decision is the end of its batch; `committed` sets it.
            self.pending.append(
                TraceSpan(
                    "decide \(self.machine)", .internal, decision, parentID: topic.spanID, start: began, end: .max,
                    attributes: place))
        }
    }

    /// The trace header of an effect's record; nil if the input was not decided as a traced one.
    mutating func effectHeader(of topic: String, causedBy record: IncomingRecord) -> [UInt8]? {
        guard let decision = self.decisions[Cause(partition: record.partition, offset: record.offset)] else {
            return nil
        }
        let effect = self.tracer.child(of: decision)
        self.pending.append(
            TraceSpan(
                "effect \(topic)", .producer, effect, parentID: decision.spanID, start: self.tracer.now, end: .max,
                attributes: [TraceSpan.Attribute("messaging.destination.name", .text(topic))]))
        return effect.bytes
    }

    /// Records the spans of a batch that is durable now.
    mutating func committed() {
        if self.pending.isEmpty { return }
        let now = self.tracer.now
        for var span in self.pending {
            if span.end == .max { span.end = max(span.start, now) }
            self.tracer.record(span)
        }
        self.rolledBack()
    }

    /// Forgets the spans of a batch that will be decided again.
    mutating func rolledBack() {
        self.pending.removeAll(keepingCapacity: true)
        self.decisions.removeAll(keepingCapacity: true)
    }
}
