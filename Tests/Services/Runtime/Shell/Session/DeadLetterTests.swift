// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire
import TallyMachine
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of inputs that can never be processed.
///
/// An input that is set aside is written to the dead letter topic and not processed. A shell is an instance's loop that
/// consumes inputs, decides and commits. Each test with shells runs on the in-memory broker and, if it is installed, on
/// a real Kafka. All tests on the real Kafka use the same consumer group, so the tests run one at a time.
///
/// The machine is `TallyMachine`. Each text that is not set aside becomes an item of its live's feed, and the items of
/// a live are numbered from 1. Some texts have a meaning:
/// - "huge" becomes an item that no broker accepts;
/// - "alarm" makes the live's row due 300 ms later, and the due row becomes the item "rang";
/// - "huge alarm" makes the row due too, and the due row becomes an item that no broker accepts;
/// - "deadly" ends the process.
@Suite(.serialized, .timeLimit(.minutes(1))) struct DeadLetterTests {
    @Test
    func `I16 an input whose item no broker accepts is set aside and answered, and the other inputs are processed`()
        async
    {
        await ConcurrentCase.runBlocking(MachineShellTests.kafkaModes) { kafkaMode in
            let harness = try ShellHarness(kafkaMode)
            let lives = MachineShellTests.newLives("huge", count: 3)
            let shell = harness.startShell("one")
            for live in lives { try harness.sendText("before", in: live) }
            try harness.sendText("huge", in: lives[1])
            for live in lives { try harness.sendText("after", in: live) }
            try harness.flush()
            let numbers = try harness.readItemNumbers(of: Set(lives)) { found in
                lives.allSatisfy { found[$0]?.contains(2) ?? false }
            }
            // The items "before" and "after". The in-memory broker may have an item twice.
            for live in lives { #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2]) }
            let deadLetters = try harness.readRecords(of: .deadLetters, in: lives[1]) { !$0.isEmpty }
            #expect(deadLetters.count == 1)
            let deadLetter = try #require(deadLetters.first)
            #expect(deadLetter.header("dead-topic").map { String(decoding: $0, as: UTF8.self) } == "barrage.inbox")
            #expect(deadLetter.header("dead-machine").map { String(decoding: $0, as: UTF8.self) } == "barrage")
            let input = try Wire.decode(BarrageInput.self, from: try #require(deadLetter.value))
            guard case .sendText("huge", _, let caller) = input.command else {
                Issue.record("expected the input \"huge\" as the dead letter, got \(input)")
                return
            }
            let replies = try harness.readReplies { $0.contains { $0.request == caller.request } }
            let reply = try #require(replies.first { $0.request == caller.request })
            guard case .failure(let error) = reply.outcome else {
                Issue.record("expected a failure as the reply, got \(reply)")
                return
            }
            #expect(error.code == .overLimit)
            #expect(shell.stop())
        }
    }

    @Test func `I7 a batch that is rejected because of one partition loses no input of another`() async {
        await ConcurrentCase.runBlocking(MachineShellTests.kafkaModes) { kafkaMode in
            let harness = try ShellHarness(kafkaMode)
            // One live in each of two partitions.
            let lives = MachineShellTests.newLives("two", count: 20)
            let first = lives[0]
            let second = try #require(
                lives.first { harness.partition(of: $0, .barrageInbox) != harness.partition(of: first, .barrageInbox) })
            // All inputs are there before the shell starts, so that it polls those of both partitions together.
            for text in ["1", "rejected", "2", "3"] {
                for live in [first, second] { try harness.sendText(text, in: live) }
            }
            try harness.flush()
            let shell = harness.startShell("one", makeProcessor: { RejectingProcessor($0) })
            let numbers = try harness.readItemNumbers(of: [first, second]) { found in
                [first, second].allSatisfy { found[$0]?.contains(3) ?? false }
            }
            for live in [first, second] { #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2, 3]) }
            let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { records in
                [first, second].allSatisfy { live in records.contains { $0.key == Array(live.text.utf8) } }
            }
            for live in [first, second] { #expect(deadLetters.count { $0.key == Array(live.text.utf8) } == 1) }
            #expect(shell.stop())
        }
    }

    @Test func `I16 a due row whose item no broker accepts is set aside, and the inputs after the row are processed`()
        async
    {
        await ConcurrentCase.runBlocking(MachineShellTests.kafkaModes) { kafkaMode in
            let harness = try ShellHarness(kafkaMode)
            let lives = MachineShellTests.newLives("due", count: 2)
            let shell = harness.startShell("one")
            try harness.sendText("huge alarm", in: lives[0])
            try harness.sendText("alarm", in: lives[1])
            try harness.flush()
            // The dead letter of a row has the row's key.
            let rowKey = Array(TallyMachine.Key(lives[0]).text.utf8)
            let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { records in
                records.contains { $0.key == rowKey }
            }
            #expect(deadLetters.contains { $0.key == rowKey })
            for live in lives { try harness.sendText("after", in: live) }
            try harness.flush()
            // The row of the first live had the count of the live's items, and was set aside. Therefore the item
            // "huge alarm" has the number 1, and the item "after" has the number 1 again. The second live has the items
            // "alarm", "rang" and "after".
            let numbers = try harness.readItemNumbers(of: Set(lives)) { found in
                let (first, second) = (found[lives[0]] ?? [], found[lives[1]] ?? [])
                return first.count >= 2 && first.last == 1 && second.contains(3)
            }
            #expect(numbers[lives[0]]?.last == 1)
            #expect(numbers[lives[1]]?.last == 3)
            #expect(shell.stop())
        }
    }

    /// Makes a live whose first input, "before", has been processed and committed by a shell that has stopped since.
    private static func liveWithOneItem(_ name: String, _ harness: ShellHarness) throws -> LiveKey {
        let live = MachineShellTests.newLive(name)
        let shell = harness.startShell("one")
        try harness.sendText("before", in: live)
        try harness.flush()
        try harness.waitForItems(1, in: live)
        try harness.waitForCommit(of: live, uncommittedInputs: 0)
        #expect(shell.stop())
        return live
    }

    @Test func `I16 an input at which three owners died is set aside by the next owner`() async {
        await ConcurrentCase.runBlocking(MachineShellTests.kafkaModes) { kafkaMode in
            let harness = try ShellHarness(kafkaMode)
            let live = try Self.liveWithOneItem("deadly", harness)
            // The test writes the record of attempts that three owners of the partition leave behind if they die at the
            // input "deadly". The first owner dies while it processes a batch with this input. The further two
            // (`maxAloneAttempts`) die while they process the input alone. No owner commits "deadly" or "after".
            try harness.sendText("deadly", in: live)
            try harness.sendText("after", in: live)
            try harness.flush()
            try harness.writeFailedAttempts(ProcessingAttempts.maxAloneAttempts, in: live, uncommittedInputs: 2)
            let secondShell = harness.startShell("two")
            let numbers = try harness.readItemNumbers(of: [live]) { $0[live]?.contains(2) ?? false }
            // The items "before" and "after". The in-memory broker may have an item twice.
            #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == [1, 2])
            let deadLetters = try harness.readRecords(of: .deadLetters, in: live) { !$0.isEmpty }
            #expect(deadLetters.contains { String(decoding: $0.value ?? [], as: UTF8.self).contains("deadly") })
            #expect(secondShell.stop())
        }
    }

    @Test func `I16 a backlog after a death is processed in chunks, and its one bad input is set aside`() async {
        await ConcurrentCase.runBlocking(MachineShellTests.kafkaModes) { kafkaMode in
            let harness = try ShellHarness(kafkaMode)
            let live = try Self.liveWithOneItem("backlog", harness)
            let inputCount = 400
            for number in 1...inputCount { try harness.sendText(number == 250 ? "huge" : "\(number)", in: live) }
            try harness.flush()
            // The test writes the record of attempts of an owner that died with its first batch, and that has processed
            // no input alone.
            try harness.writeFailedAttempts(0, in: live, uncommittedInputs: Int64(inputCount))
            let secondShell = harness.startShell("two")
            // The item "before", and one item of each input but "huge".
            let numbers = try harness.readItemNumbers(of: [live]) { $0[live]?.contains(Int64(inputCount)) ?? false }
            #expect(MachineShellTests.withoutRepeats(numbers[live] ?? []) == (1...Int64(inputCount)).map { $0 })
            let deadLetters = try harness.readRecords(of: .deadLetters, in: live) { !$0.isEmpty }
            #expect(deadLetters.contains { String(decoding: $0.value ?? [], as: UTF8.self).contains("huge") })
            #expect(secondShell.stop())
            // The shell writes a record for each of 13 chunks (400 inputs / 32) and for each of the 32 inputs of the
            // chunk that failed. If it processed all inputs one by one, it would write 400 records.
            let attempts = try harness.readRecords(of: .barrageState, in: nil, timeout: .seconds(2)) { _ in false }
                .filter { $0.key == Array(ProcessingAttempts.key.utf8) }
            #expect(attempts.count < 120, "\(attempts.count) records of attempts")
        }
    }

    // Each input has nearly the maximum size of a record, 1 MiB = 1,048,576 bytes.
    @Test(arguments: [(1_040_000, 0, 0), (0, 1_040_000, 0), (0, 0, 1_040_000), (340_000, 340_000, 340_000)])
    func `I16 a dead letter fits the broker's limit, wherever the bytes of its input are`(
        keyBytes: Int, valueBytes: Int, headerBytes: Int
    ) {
        func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "a"), count: count) }
        let input = IncomingRecord(
            topic: "barrage.inbox", partition: 1, offset: 7, timestamp: Timestamp(milliseconds: 1),
            key: bytes(keyBytes),
            value: bytes(valueBytes),
            headers: [KafkaHeader(name: "traceparent", value: bytes(headerBytes))])
        // The reason has 20,000 bytes of UTF-8.
        let reason = String(repeating: "😀", count: 5_000)
        let deadLetter = DeadLetter(input, machine: "barrage", reason: reason).outgoing()
        // A header consists of its name, its value and their lengths, which take at most 16 bytes.
        let sizeOfHeaders = deadLetter.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 16 }
        let size = (deadLetter.key?.count ?? 0) + (deadLetter.value?.count ?? 0) + sizeOfHeaders
        #expect(size < PlazaTopic.maxMessageBytes - 1_000, "1000 bytes are left for the fields of the record batch")
        // Key, value or headers that are too large are left out, and their bytes are counted. The smallest of them has
        // 340,000 bytes.
        let origin = DeadLetterOrigin { name in deadLetter.headers.first { $0.name == name }?.value }
        #expect(origin?.omittedBytes ?? 0 >= 340_000)
        #expect(origin?.offset == 7)
    }
}

extension ShellHarness {
    /// Reads a topic from its beginning until `isEnough` is true, or until the timeout.
    ///
    /// - Returns: the records whose key is the live's; with nil as the live, all records.
    func readRecords(
        of topic: PlazaTopic, in live: LiveKey?, timeout: Milliseconds = .seconds(20),
        until isEnough: ([IncomingRecord]) throws -> Bool
    ) throws -> [IncomingRecord] {
        let reader = try KafkaConsumer(self.settings, fetchWait: .milliseconds(20))
        defer { reader.close() }
        var starts: [TopicPartition: Int64] = [:]
        for partition in 0..<Self.partitions {
            starts[TopicPartition(topic.rawValue, Int32(partition))] = LogicalOffset.beginning
        }
        try reader.assign(starts)
        let liveKey = live.map { Array($0.text.utf8) }
        var matching: [IncomingRecord] = []
        let deadline = MonotonicClock.now + timeout
        while try !isEnough(matching), MonotonicClock.now < deadline {
            var records: [IncomingRecord] = []
            _ = try reader.poll(max: 1000, timeout: .milliseconds(200), into: &records)
            matching += records.filter { liveKey == nil || $0.key == liveKey }
        }
        return matching
    }

    /// Reads the replies to all calls until `isEnough` is true, or for at most 20 s.
    func readReplies(until isEnough: ([Reply]) -> Bool) throws -> [Reply] {
        func decode(_ records: [IncomingRecord]) throws -> [Reply] {
            try records.map { try Wire.decode(Reply.self, from: $0.value ?? []) }
        }
        return try decode(self.readRecords(of: .replies, in: nil) { isEnough(try decode($0)) })
    }

    /// Waits until the owner has committed all inputs of the live's partition except the last `uncommittedInputs`.
    ///
    /// Call this method before the owner is stopped. A commit on the in-memory broker may fail, and a stopped owner
    /// does not repeat the commit.
    ///
    /// - Returns: the committed offset.
    @discardableResult
    func waitForCommit(of live: LiveKey, uncommittedInputs: Int64) throws -> Int64 {
        let partition = Int32(PlazaTopic.partition(of: live.text, among: Self.partitions))
        let group = try KafkaConsumer(self.settings, group: AppendedFeed.group)
        defer { group.close() }
        let inbox = TopicPartition(PlazaTopic.barrageInbox.rawValue, partition)
        let expectedOffset = try group.endOffset(of: inbox, timeout: .seconds(5)) - uncommittedInputs
        var offset: Int64?
        let deadline = MonotonicClock.now + .seconds(15)
        while offset != expectedOffset, MonotonicClock.now < deadline {
            if offset != nil { Thread.sleep(forTimeInterval: 0.05) }
            let committed = try group.committedOffsets(of: [inbox], timeout: .seconds(5))[inbox] ?? nil
            offset = committed?.offset ?? -1
        }
        return try #require(
            offset == expectedOffset ? offset : nil,
            "expected the committed offset \(expectedOffset), got \(offset ?? -1)")
    }

    /// Writes the record of attempts that `count` owners leave behind if they die while they process one input alone;
    /// with a count of 0, the record of an owner that died with a whole batch.
    ///
    /// The input is the first of the partition's last `uncommittedInputs` inputs, which are not committed.
    func writeFailedAttempts(_ count: Int, in live: LiveKey, uncommittedInputs: Int64) throws {
        let partition = Int32(PlazaTopic.partition(of: live.text, among: Self.partitions))
        // A record with an earlier offset would be ignored. The next owner would then process the deadly input and end
        // the test's process.
        let inputOffset = try self.waitForCommit(of: live, uncommittedInputs: uncommittedInputs)
        // Step 0 is the input itself, because no row is due before it. Until the offset `aloneUntil`, which may be any
        // offset after the input, the next owner processes each input alone.
        let record = ProcessingAttempts.Record(
            offset: inputOffset, step: 0, count: count, aloneUntil: count == 0 ? nil : inputOffset + 10,
            process: "a dead process")
        let producer = try KafkaProducer(self.settings)
        defer { producer.close(timeout: .seconds(1)) }
        _ = try producer.sendAndWait(
            OutgoingRecord(
                topic: PlazaTopic.barrageState.rawValue, partition: partition,
                key: Array(ProcessingAttempts.key.utf8), value: Wire.encode(record)),
            timeout: .seconds(5))
    }
}
