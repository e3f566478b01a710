// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// A fault of the in-memory broker: it answers one kind of Kafka's requests with an error code, or late.
struct RequestFault: Sendable, CustomStringConvertible {
    /// The kinds of requests that services send; a raw value is the request's API key in Kafka's protocol.
    enum Kind: Int16, Sendable {
        case produce = 0
        case fetch = 1
        case listOffsets = 2
        case metadata = 3
        case offsetCommit = 8
        case offsetFetch = 9
        case findCoordinator = 10
        case joinGroup = 11
        case heartbeat = 12
        case syncGroup = 14
        case initProducerID = 22
        case addPartitionsToTransaction = 24
        case addOffsetsToTransaction = 25
        case endTransaction = 26
        case transactionOffsetCommit = 28
    }

    /// Error codes of Kafka's protocol.
    enum Code: Int32, Sendable {
        case notLeader = 6
        case requestTimedOut = 7
        case messageTooLarge = 10
        case coordinatorLoading = 14
        case coordinatorNotAvailable = 15
        case notCoordinator = 16
        case notEnoughReplicas = 19
        case illegalGeneration = 22
        case unknownMember = 25
        case rebalanceInProgress = 27
        case topicAuthorizationFailed = 29
        case groupAuthorizationFailed = 30
        case invalidProducerEpoch = 47
        case invalidTransactionState = 48
        case concurrentTransactions = 51
        case invalidRecord = 87
        case producerFenced = 90
    }

    var kind: Kind
    /// The error code of the responses; nil if a response is delayed instead.
    var code: Code?

    var description: String { "\(self.kind) \(self.code.map { "\($0)" } ?? "delayed")" }

    /// The faults of one kind of request: each of these error codes, and a delay.
    static func faults(_ kind: Kind, _ codes: [Code]) -> [RequestFault] {
        codes.map { RequestFault(kind: kind, code: $0) } + [RequestFault(kind: kind, code: nil)]
    }

    /// Makes the broker reject the next `count` requests of the kind; if the fault has no code, the broker delays one
    /// response by `delay` instead.
    func inject(into broker: EmbeddedBroker, count: Int, delay: Duration) throws {
        if let code = self.code {
            try broker.injectFault(intoRequests: self.kind.rawValue, count: count, error: code.rawValue)
        } else {
            try broker.injectFault(intoRequests: self.kind.rawValue, count: 1, delay: delay)
        }
    }
}

/// Tests with a broker that rejects or delays each kind of request that a service sends.
///
/// They check that no fault permanently stops a `TransactionWriter` or a shell (the loop that consumes inputs, decides
/// and commits). A case mostly waits for timeouts, so the cases of a test run at the same time, each with its own
/// broker.
@Suite(.serialized) struct BrokerRequestFaultTests {
    /// The faults of all requests that make up a transaction.
    static let transactionFaults: [RequestFault] =
        RequestFault.faults(.produce, [.notLeader, .notEnoughReplicas])
        + RequestFault.faults(
            .addPartitionsToTransaction,
            [.notCoordinator, .concurrentTransactions, .topicAuthorizationFailed, .producerFenced])
        + RequestFault.faults(.addOffsetsToTransaction, [.coordinatorLoading, .groupAuthorizationFailed])
        + RequestFault.faults(.transactionOffsetCommit, [.requestTimedOut, .illegalGeneration, .unknownMember])
        + RequestFault.faults(
            .endTransaction, [.coordinatorNotAvailable, .invalidProducerEpoch, .invalidTransactionState])

    @Test(.timeLimit(.minutes(1)))
    func `I8 a transaction with a rejected or delayed request ends in time, and the next transaction succeeds`() async {
        await ConcurrentCase.runBlocking(Self.transactionFaults) { fault in
            let fixture = try WriterFixture()
            let writer = try fixture.makeWriter(timeout: Milliseconds(1000))
            try writer.prepare()
            try fixture.commit("before", by: writer)

            // After these errors the Kafka client does not repeat the request, so the transaction fails.
            let codesWithoutRepetition: Set<RequestFault.Code> = [
                .topicAuthorizationFailed, .groupAuthorizationFailed, .producerFenced,
                .illegalGeneration, .unknownMember, .invalidProducerEpoch, .invalidTransactionState,
            ]
            let mustFail = fault.code.map(codesWithoutRepetition.contains) ?? false
            // With any other error the broker rejects both the request and its first repetition, and the second
            // repetition succeeds.
            try fault.inject(into: fixture.broker, count: mustFail ? 1 : 2, delay: .seconds(4))
            let startedAt = MonotonicClock.now
            var failure: KafkaError?
            do throws(KafkaError) {
                try fixture.commit("meanwhile", by: writer)
            } catch {
                failure = error
            }
            // The writer makes at most three calls: for the offsets, the commit and the abort. It repeats each of them
            // for at most 1 s, and the last attempt takes at most 2 s: 3 * (1 s + 2 s) = 9 s.
            #expect(MonotonicClock.now - startedAt < .seconds(10))
            // With a delayed response the commit may fail or not.
            if fault.code != nil { #expect((failure != nil) == mustFail, "\(failure.debugDescription)") }

            if let failure, failure.isFatal || failure.kind == .fenced {
                writer.close()
                let nextWriter = try fixture.makeWriter()
                try Self.prepare(nextWriter)
                try fixture.commit("after", by: nextWriter)
                nextWriter.close()
            } else {
                try fixture.commit("after", by: writer)
                writer.close()
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `I16 the error of a transaction says why the broker rejected a record, and the next one succeeds`() async {
        // The broker rejects a record of this size with this code, and the error has this kind. A topic that rejects
        // even 100 bytes as too large is configured wrongly.
        let rejections: [(code: RequestFault.Code, bytes: Int, kind: KafkaError.Kind)] = [
            (.messageTooLarge, 40_000, .messageTooLarge), (.messageTooLarge, 100, .invalidConfiguration),
            (.invalidRecord, 100, .invalidRecord), (.topicAuthorizationFailed, 40_000, .accessDenied),
        ]
        await ConcurrentCase.runBlocking(rejections) { code, bytes, kind in
            let fixture = try WriterFixture()
            let writer = try fixture.makeWriter()
            try writer.prepare()
            try fixture.commit("before", by: writer)
            let produce = RequestFault.Kind.produce.rawValue
            try fixture.broker.injectFault(intoRequests: produce, count: 1, error: code.rawValue)
            let error = #expect(throws: KafkaError.self) {
                try fixture.commit(String(repeating: "r", count: bytes), by: writer)
            }
            #expect(error?.kind == kind && error?.isFatal == false, "\(error.debugDescription)")
            try fixture.commit("after", by: writer)
            writer.close()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `I8 a new writer gets its producer id although the broker first rejects or delays the request`() async {
        let faults =
            RequestFault.faults(.initProducerID, [.coordinatorLoading, .notCoordinator])
            + RequestFault.faults(.findCoordinator, [.coordinatorNotAvailable])
        await ConcurrentCase.runBlocking(faults) { fault in
            let fixture = try WriterFixture()
            try fault.inject(into: fixture.broker, count: 3, delay: .seconds(3))
            let writer = try fixture.makeWriter()
            try Self.prepare(writer)
            writer.close()
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `I8 a shell starts and continues although the broker rejects and delays each of its requests`()
        async
    {
        await ConcurrentCase.run([
            ConcurrentCase("a shell that starts") {
                try await runOnDedicatedThread { try Self.startShellDespiteFaults() }
            },
            ConcurrentCase("a shell that works") {
                try await runOnDedicatedThread { try Self.continueShellDespiteFaults() }
            },
        ])
    }

    /// Injects the faults before the shell starts.
    private static func startShellDespiteFaults() throws {
        let topicBroker = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topicBroker.embedded)
        let harness = try ShellHarness(.embedded, on: topicBroker)
        let live = MachineShellTests.newLive("start")
        let faults: [RequestFault] =
            RequestFault.faults(.metadata, [.notLeader])
            + RequestFault.faults(.listOffsets, [.notLeader, .requestTimedOut])
            + RequestFault.faults(.offsetFetch, [.coordinatorLoading, .notCoordinator])
            + RequestFault.faults(.findCoordinator, [.coordinatorNotAvailable])
            + RequestFault.faults(.joinGroup, [.coordinatorNotAvailable, .notCoordinator, .unknownMember])
            + RequestFault.faults(.syncGroup, [.notCoordinator, .rebalanceInProgress])
        for fault in faults { try fault.inject(into: broker, count: 2, delay: .seconds(2)) }
        let shell = harness.startShell("one")
        for number in 1...5 { try harness.sendText("\(number)", in: live) }
        try harness.flush()
        // One read takes at most 30 s, and the shell may need longer to start.
        var numbers: [Int64] = []
        let deadline = MonotonicClock.now + .seconds(90)
        while (numbers.last ?? 0) < 5, MonotonicClock.now < deadline {
            numbers = try harness.readItemNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= 5 }[live] ?? []
        }
        #expect(MachineShellTests.withoutRepeats(numbers) == [1, 2, 3, 4, 5])
        #expect(shell.stop())
    }

    /// Injects the faults one after the other while the shell works.
    private static func continueShellDespiteFaults() throws {
        let topicBroker = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topicBroker.embedded)
        let harness = try ShellHarness(.embedded, on: topicBroker)
        let live = MachineShellTests.newLive("work")
        let shell = harness.startShell("one")
        try harness.sendText("first", in: live)
        try harness.flush()
        try harness.waitForItems(1, in: live)
        var sentCount: Int64 = 1
        let faults: [RequestFault] =
            RequestFault.faults(.produce, [.notLeader, .requestTimedOut, .notEnoughReplicas])
            + RequestFault.faults(.fetch, [.notLeader, .requestTimedOut])
            + RequestFault.faults(.offsetCommit, [.coordinatorLoading, .notCoordinator, .requestTimedOut])
            + RequestFault.faults(.heartbeat, [.coordinatorNotAvailable, .rebalanceInProgress, .unknownMember])
        for fault in faults {
            // Four requests are rejected, because some of them may be requests of the test's own clients.
            try fault.inject(into: broker, count: 4, delay: .seconds(2))
            for _ in 0..<3 { try harness.sendTextAndWait("text", in: live) }
            sentCount += 3
            let lastNumber = sentCount
            let numbers = try harness.readItemNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= lastNumber }[live] ?? []
            #expect(
                MachineShellTests.withoutRepeats(numbers).last ?? 0 >= lastNumber,
                "after \(fault), expected \(lastNumber) items: \(numbers)")
        }
        #expect(shell.stop())
    }

    /// Repeats `prepare` for up to 20 s, as a shell does from session to session.
    private static func prepare(_ writer: TransactionWriter) throws {
        let deadline = MonotonicClock.now + .seconds(20)
        while true {
            do throws(KafkaError) {
                return try writer.prepare()
            } catch {
                guard !error.isFatal, MonotonicClock.now < deadline else { throw error }
            }
        }
    }
}
