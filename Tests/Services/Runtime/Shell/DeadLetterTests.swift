// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of inputs that can never be processed.
///
/// An input that is set aside is written to the dead letter topic. All tests use the same brokers and the same group,
/// so they run one at a time, each on all brokers at once. Each text of a live that is not set aside becomes an item of
/// the live's feed; the items are numbered from 1. The text "huge" becomes an item that no broker accepts, "alarm"
/// makes the live's row due a moment later, "huge alarm" does both, and "deadly" ends the process; see `TallyMachine`.
@Suite(.serialized, .timeLimit(.minutes(1))) struct DeadLetterTests {
    @Test
    func `I16 an input whose result no broker accepts is set aside and answered, and the other inputs are processed`()
        async
    {
        await ConcurrentCase.runBlocking(MachineShellTests.modes) { mode in
            let harness = try ShellHarness(mode)
            let lives = MachineShellTests.lives("huge", count: 3)
            let shell = harness.start("one")
            for live in lives { try harness.sendText("before", in: live) }
            try harness.sendText("huge", in: lives[1])
            for live in lives { try harness.sendText("after", in: live) }
            try harness.flush()
            let numbers = try harness.readFeedNumbers(of: Set(lives)) { found in
                lives.allSatisfy { found[$0]?.contains(2) ?? false }
            }
            for live in lives { #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2]) }
            let deadLetters = try harness.readRecords(of: .deadLetters, in: lives[1]) { !$0.isEmpty }
            #expect(deadLetters.count == 1)
            let letter = try #require(deadLetters.first)
            #expect(letter.header("dead-topic").map { String(decoding: $0, as: UTF8.self) } == "barrage.inbox")
            #expect(letter.header("dead-machine").map { String(decoding: $0, as: UTF8.self) } == "barrage")
            let input = try Wire.decode(BarrageInput.self, from: try #require(letter.value))
            guard case .sendText("huge", _, let caller) = input.command else {
                Issue.record("another input is among the dead letters: \(input)")
                return
            }
            let replies = try harness.readReplies { $0.contains { $0.request == caller.request } }
            let reply = try #require(replies.first { $0.request == caller.request })
            guard case .failure(let error) = reply.outcome else {
                Issue.record("\(reply)")
                return
            }
            #expect(error.code == .overLimit)
            #expect(shell.stop())
        }
    }

    @Test func `I16 a due row whose result no broker accepts is set aside, and the inputs after it are processed`()
        async
    {
        await ConcurrentCase.runBlocking(MachineShellTests.modes) { mode in
            let harness = try ShellHarness(mode)
            let lives = MachineShellTests.lives("due", count: 2)
            let shell = harness.start("one")
            try harness.sendText("huge alarm", in: lives[0])
            try harness.sendText("alarm", in: lives[1])
            try harness.flush()
            // The dead letter of a row has the row's key, see `TallyMachine.Key`.
            let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { records in
                records.contains { $0.key == Array("tally/\(lives[0].text)".utf8) }
            }
            #expect(deadLetters.contains { $0.key == Array("tally/\(lives[0].text)".utf8) })
            for live in lives { try harness.sendText("after", in: live) }
            try harness.flush()
            // The row of the first live was removed, so its count starts again at 1. The second live has the items
            // "alarm", "rang" and "after".
            let numbers = try harness.readFeedNumbers(of: Set(lives)) { found in
                found[lives[0]]?.suffix(1) == [1] && (found[lives[0]]?.count ?? 0) >= 2
                    && found[lives[1]]?.contains(3) ?? false
            }
            #expect(numbers[lives[0]]?.last == 1)
            #expect(numbers[lives[1]]?.last == 3)
            #expect(shell.stop())
        }
    }

    @Test func `I16 an input that ended three owners is set aside by the next one`() async {
        await ConcurrentCase.runBlocking(MachineShellTests.modes) { mode in
            let harness = try ShellHarness(mode)
            let live = MachineShellTests.lives("deadly", count: 1)[0]
            let firstShell = harness.start("one")
            try harness.sendText("before", in: live)
            try harness.flush()
            _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
            try harness.waitForCommit(of: live, uncommittedInputs: 0)
            #expect(firstShell.stop())
            // The state that remains after three owners have died: one with the batch of the input "deadly", and
            // `maxAloneAttempts` while they processed it alone. The inputs "deadly" and "after" are not committed.
            try harness.sendText("deadly", in: live)
            try harness.sendText("after", in: live)
            try harness.flush()
            try harness.writeFailedAttempts(ProcessingAttempts.maxAloneAttempts, in: live, uncommittedInputs: 2)
            let secondShell = harness.start("two")
            let numbers = try harness.readFeedNumbers(of: [live]) { $0[live]?.contains(2) ?? false }
            #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2])
            let deadLetters = try harness.readRecords(of: .deadLetters, in: live) { !$0.isEmpty }
            #expect(deadLetters.contains { String(decoding: $0.value ?? [], as: UTF8.self).contains("deadly") })
            #expect(secondShell.stop())
        }
    }

    // Each input has nearly the maximum size of a record, 1 MiB.
    @Test(arguments: [(1_040_000, 0, 0), (0, 1_040_000, 0), (0, 0, 1_040_000), (340_000, 340_000, 340_000)])
    func `I16 a dead letter fits the broker's limit, wherever the bytes of its input are`(
        keyBytes: Int, valueBytes: Int, headerBytes: Int
    ) {
        let bytes = { (count: Int) in [UInt8](repeating: 0x61, count: count) }
        let input = IncomingRecord(
            topic: "barrage.inbox", partition: 1, offset: 7, timestamp: 1, key: bytes(keyBytes),
            value: bytes(valueBytes),
            headers: [KafkaHeader(name: "traceparent", value: bytes(headerBytes))])
        let letter = DeadLetter(input, machine: "barrage", reason: String(repeating: "😀", count: 5_000)).outgoing()
        // Besides name and value, a header has their lengths, which take at most 16 bytes.
        let size =
            (letter.key?.count ?? 0) + (letter.value?.count ?? 0)
            + letter.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 16 }
        // 1000 bytes are left for the record batch, in which the letter is sent.
        #expect(size < PlazaTopic.maxMessageBytes - 1_000)
        // Each part of the input that is too large is left out; the smallest of these parts has 340,000 bytes.
        let origin = DeadLetterOrigin { name in letter.headers.first { $0.name == name }?.value }
        #expect(origin?.omittedBytes ?? 0 >= 340_000)
        #expect(origin?.offset == 7)
    }
}

extension ShellHarness {
    /// Reads a topic until `isEnough`, or for at most `limit`; returns the records of a live, or with nil all records.
    func readRecords(
        of topic: PlazaTopic, in live: LiveKey?, limit: Milliseconds = .seconds(20),
        until isEnough: ([IncomingRecord]) -> Bool
    ) throws -> [IncomingRecord] {
        let reader = try KafkaConsumer(self.settings, fetchWait: .milliseconds(20))
        defer { reader.close() }
        var starts: [TopicPartition: Int64] = [:]
        for partition in 0..<Self.partitions {
            starts[TopicPartition(topic.rawValue, Int32(partition))] = LogicalOffset.beginning
        }
        try reader.assign(starts)
        var matching: [IncomingRecord] = []
        let deadline = MonotonicClock.now + limit
        while !isEnough(matching), MonotonicClock.now < deadline {
            var records: [IncomingRecord] = []
            _ = try reader.poll(max: 1000, timeout: .milliseconds(200), into: &records)
            matching += records.filter { record in live.map { record.key == Array($0.text.utf8) } ?? true }
        }
        return matching
    }

    /// Reads the replies to the harness's calls until `isEnough`, or for at most 20 s.
    func readReplies(until isEnough: ([Reply]) -> Bool) throws -> [Reply] {
        func decode(_ records: [IncomingRecord]) -> [Reply] {
            records.compactMap { $0.value.flatMap { try? Wire.decode(Reply.self, from: $0) } }
        }
        return decode(try self.readRecords(of: .replies, in: nil) { isEnough(decode($0)) })
    }

    /// Waits until all inputs of the live's partition are committed except the last `uncommittedInputs`.
    ///
    /// With the in-memory broker a commit may fail. It is repeated only while its owner runs.
    ///
    /// - Returns: the committed offset.
    @discardableResult
    func waitForCommit(of live: LiveKey, uncommittedInputs: Int64) throws -> Int64 {
        let partition = Int32(PlazaTopic.partition(of: live.text, among: Self.partitions))
        let group = try KafkaConsumer(self.settings, group: "barrage")
        defer { group.close() }
        let inbox = TopicPartition(PlazaTopic.barrageInbox.rawValue, partition)
        let expectedOffset = try group.endOffset(of: inbox, timeout: .seconds(5)) - uncommittedInputs
        var offset: Int64?
        let deadline = MonotonicClock.now + .seconds(15)
        while offset != expectedOffset, MonotonicClock.now < deadline {
            if offset != nil { Thread.sleep(forTimeInterval: 0.05) }
            offset = try group.committedOffsets(of: [inbox], timeout: .seconds(5))[inbox].flatMap(\.self)?.offset ?? -1
        }
        return try #require(
            offset == expectedOffset ? offset : nil, "the owner committed \(offset ?? -1), not \(expectedOffset)")
    }

    /// Writes the record of attempts that remains after `count` owners have died while they processed one input alone.
    ///
    /// The input is the next one after the group's committed offset. The last `uncommittedInputs` inputs of the
    /// partition are not committed.
    func writeFailedAttempts(_ count: Int, in live: LiveKey, uncommittedInputs: Int64) throws {
        let partition = Int32(PlazaTopic.partition(of: live.text, among: Self.partitions))
        // If the record had the offset of an earlier input, the next owner would process the deadly input and end the
        // test.
        let nextOffset = try self.waitForCommit(of: live, uncommittedInputs: uncommittedInputs)
        // `aloneUntil` is any offset after the input: the next owner processes the inputs before it alone.
        let record = ProcessingAttempts.Record(
            offset: nextOffset, step: 0, count: count, aloneUntil: nextOffset + 10, process: "a dead one")
        let producer = try KafkaProducer(self.settings)
        defer { producer.close(timeout: .seconds(1)) }
        _ = try producer.sendAndWait(
            OutgoingRecord(
                topic: PlazaTopic.barrageState.rawValue, partition: partition,
                key: Array(ProcessingAttempts.key.utf8), value: Wire.encode(record)),
            timeout: .seconds(5))
    }
}
