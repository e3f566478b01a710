// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// A kind of request in Kafka's protocol, and the fault of its responses: an error code or a delay.
struct RequestFault: Sendable, CustomStringConvertible {
    /// The kinds that services send, by their API keys.
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

    /// Error numbers of Kafka's protocol.
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
    /// Nil delays the response instead.
    var code: Code?

    var description: String { "\(self.kind) \(self.code.map { "\($0)" } ?? "delayed")" }

    /// Each of these error codes and a delay, for requests of this kind.
    static func faults(_ kind: Kind, _ codes: [Code]) -> [RequestFault] {
        codes.map { RequestFault(kind: kind, code: $0) } + [RequestFault(kind: kind, code: nil)]
    }

    /// Makes the broker reject the next `count` requests, or delay one response.
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
/// No fault stops a writer or a shell for good. A case mostly waits for timeouts, so the cases of a test run at the
/// same time, each with its own broker.
@Suite(.serialized) struct BrokerRequestFaultTests {
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
    func `I8 a transaction ends or fails in time, and the next one succeeds`() async {
        await ConcurrentCase.runBlocking(Self.transactionFaults) { fault in
            let fixture = try WriterFixture()
            let writer = try fixture.makeWriter(timeout: Milliseconds(1000))
            try writer.prepare()
            try fixture.commit("before", by: writer)

            // The errors after which the client does not repeat the request.
            let lastingCodes: Set<RequestFault.Code> = [
                .topicAuthorizationFailed, .groupAuthorizationFailed, .producerFenced,
                .illegalGeneration, .unknownMember, .invalidProducerEpoch, .invalidTransactionState,
            ]
            let isLasting = fault.code.map(lastingCodes.contains) ?? false
            // Of other errors the repeated request meets one, too.
            try fault.inject(into: fixture.broker, count: isLasting ? 1 : 2, delay: .seconds(4))
            let start = MonotonicClock.now
            var failure: KafkaError?
            do throws(KafkaError) {
                try fixture.commit("meanwhile", by: writer)
            } catch {
                failure = error
            }
            // At most three calls: for the offsets, the commit and the abort. Each is repeated for at most 1 s, and its
            // last attempt takes at most 2 s: 3 * (1 s + 2 s) = 9 s.
            #expect(MonotonicClock.now - start < .seconds(10))
            // After a delay the commit may have failed or not.
            if fault.code != nil { #expect((failure != nil) == isLasting, "\(failure.debugDescription)") }

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
    func `I16 the error of a transaction says why the broker refused a record, and the next one succeeds`() async {
        // A topic that refuses even 100 bytes as too large is configured wrongly
        // (`RefusedRecords.alwaysAcceptedBytes`).
        let refusals: [(code: RequestFault.Code, bytes: Int, kind: KafkaError.Kind)] = [
            (.messageTooLarge, 40_000, .messageTooLarge), (.messageTooLarge, 100, .invalidConfiguration),
            (.invalidRecord, 100, .invalidRecord), (.topicAuthorizationFailed, 40_000, .accessDenied),
        ]
        await ConcurrentCase.runBlocking(refusals) { code, bytes, kind in
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
    func `I8 a new writer gets its producer id although the broker first refuses`() async {
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
            ConcurrentCase("its start") { try await runOnDedicatedThread { try Self.startDespiteFaults() } },
            ConcurrentCase("its work") {
                try await runOnDedicatedThread { try Self.continueDespiteFaults() }
            },
        ])
    }

    private static func startDespiteFaults() throws {
        let topicBroker = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topicBroker.embedded)
        let harness = try ShellHarness(.embedded, on: topicBroker)
        let live = MachineShellTests.lives("start", count: 1)[0]
        let faults: [RequestFault] =
            RequestFault.faults(.metadata, [.notLeader])
            + RequestFault.faults(.listOffsets, [.notLeader, .requestTimedOut])
            + RequestFault.faults(.offsetFetch, [.coordinatorLoading, .notCoordinator])
            + RequestFault.faults(.findCoordinator, [.coordinatorNotAvailable])
            + RequestFault.faults(.joinGroup, [.coordinatorNotAvailable, .notCoordinator, .unknownMember])
            + RequestFault.faults(.syncGroup, [.notCoordinator, .rebalanceInProgress])
        for fault in faults { try fault.inject(into: broker, count: 2, delay: .seconds(2)) }
        let shell = harness.start("one")
        for number in 1...5 { try harness.sendText("\(number)", in: live) }
        try harness.flush()
        var numbers: [Int64] = []
        let deadline = MonotonicClock.now + .seconds(90)
        while (numbers.last ?? 0) < 5, MonotonicClock.now < deadline {
            numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= 5 }[live] ?? []
        }
        #expect(MachineShellTests.withoutRepeats(numbers) == [1, 2, 3, 4, 5])
        #expect(shell.stop())
    }

    private static func continueDespiteFaults() throws {
        let topicBroker = try TopicBroker(isReal: false, clientID: "shell-test")
        let broker = try #require(topicBroker.embedded)
        let harness = try ShellHarness(.embedded, on: topicBroker)
        let live = MachineShellTests.lives("work", count: 1)[0]
        let shell = harness.start("one")
        try harness.sendText("first", in: live)
        try harness.flush()
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        var sentCount: Int64 = 1
        let faults: [RequestFault] =
            RequestFault.faults(.produce, [.notLeader, .requestTimedOut, .notEnoughReplicas])
            + RequestFault.faults(.fetch, [.notLeader, .requestTimedOut])
            + RequestFault.faults(.offsetCommit, [.coordinatorLoading, .notCoordinator, .requestTimedOut])
            + RequestFault.faults(.heartbeat, [.coordinatorNotAvailable, .rebalanceInProgress, .unknownMember])
        for fault in faults {
            // More than one, because the test's own clients send such requests, too, and may get some of the faults.
            try fault.inject(into: broker, count: 4, delay: .seconds(2))
            for _ in 0..<3 { try harness.sendTextAndWait("text", in: live) }
            sentCount += 3
            let lastNumber = sentCount
            let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.max() ?? 0) >= lastNumber }[live] ?? []
            #expect(
                MachineShellTests.withoutRepeats(numbers).last ?? 0 >= lastNumber,
                "\(fault): \(numbers)")
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
