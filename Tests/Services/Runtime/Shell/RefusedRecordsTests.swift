// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing

@testable import KafkaClient
@testable import ServiceShell

/// What a broker's refusal of records says about an input.
@Suite struct RefusedRecordsTests {
    private static func delivery(_ kind: KafkaError.Kind?, _ topic: String = "room.feed", bytes: Int = 100) -> Delivery
    {
        Delivery(
            token: 0, topic: topic, partition: 0, offset: -1, bytes: bytes,
            error: kind.map { KafkaError($0, "the reason") })
    }

    private static func reason(_ deliveries: [Delivery]) -> KafkaError? {
        var records = RefusedRecords()
        for delivery in deliveries { records.add(delivery) }
        return records.reason
    }

    @Test func `other failures than a refusal have no reason here`() {
        #expect(Self.reason([]) == nil)
        #expect(Self.reason([Self.delivery(nil), Self.delivery(.timedOut), Self.delivery(.other)]) == nil)
    }

    @Test func `I16 a large record that is refused as too large is the fault of its input`() {
        let error = Self.reason([
            Self.delivery(.other), Self.delivery(.messageTooLarge, bytes: RefusedRecords.alwaysAcceptedBytes + 1),
        ])
        #expect(error?.kind == .messageTooLarge)
        #expect(error.flatMap { InputFailure($0) }?.replyCode == .overLimit)
        #expect(error?.message.contains("room.feed") == true)
    }

    @Test func `I16 many small records are compared with the limit as one batch`() {
        let batch = (0..<200).map { _ in Self.delivery(.messageTooLarge) }
        #expect(Self.reason(batch)?.kind == .messageTooLarge)
        // Records of another topic, or refused for another reason, are no part of that batch.
        let others = batch.map { Self.delivery(.messageTooLarge, "replies", bytes: $0.bytes) }
        #expect(Self.reason([Self.delivery(.messageTooLarge)] + others)?.kind == .invalidConfiguration)
    }

    @Test func `I16 an invalid record is the fault of its input`() {
        let error = Self.reason([Self.delivery(.invalidRecord)])
        #expect(error.flatMap { InputFailure($0) }?.replyCode == .failed)
    }

    @Test(arguments: [KafkaError.Kind.accessDenied, .messageTooLarge])
    func `I16 a topic that refuses even small records is no fault of an input`(_ kind: KafkaError.Kind) {
        let error = Self.reason([Self.delivery(kind)])
        #expect(error?.needsOperator == true)
        #expect(error.map { InputFailure($0) == nil } == true)
    }
}
