// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// Tests of inputs that end the process: the text "deadly" at once, "deadly alarm" when the row of its live is due.
///
/// An input that is set aside is written to the dead letter topic.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
struct DeadlyInputTests {
    /// The text that ends an owner, and the names of the instances of the service.
    private static let cases = ["deadly", "deadly alarm"].flatMap { text in
        [["one"], ["one", "two"]].map { (text: text, instances: $0) }
    }

    @Test
    func
        `I16 an input or a due row that ends its owner is set aside, and the other lives are served again within 15 s`()
        async
    {
        await ConcurrentCase.runBlocking(Self.cases) { text, instances in
            // The input is set aside after three deaths with a record of attempts at the committed offset. The first
            // owner has committed a batch since it acquired the partition, so its record is of an earlier offset, and
            // a fourth owner dies. Of two instances, the second may acquire the partition just before the input. It has
            // then committed nothing, so its death counts already, and three owners die.
            let deaths = instances.count == 1 ? 4...4 : 3...4
            try Self.expectSetAside(text, instances, startsBeforeInput: true, deaths: deaths)
        }
    }

    @Test func `I16 an input in the first batch of its first owner is set aside after the third death`() async throws {
        try await runOnDedicatedThread {
            try Self.expectSetAside("deadly", ["one"], startsBeforeInput: false, deaths: 3...3)
        }
    }

    /// Sends three texts to each of twelve lives, and `text` to the first of them in the middle of a batch.
    ///
    /// - Parameters:
    ///   - text: the text that ends its owner, as an input or when its row is due.
    ///   - instances: the instances that serve the lives, each supervised.
    ///   - startsBeforeInput: whether the instances have processed a batch before `text` is sent.
    ///   - deaths: how many processes may die.
    /// - Throws: an error of the broker.
    private static func expectSetAside(
        _ text: String, _ instances: [String], startsBeforeInput: Bool, deaths: ClosedRange<Int>
    ) throws {
        // Each case has its own broker, because its inputs must not end the shells of other tests.
        let kafka = try LiveKafka()
        defer { withExtendedLifetime(kafka) {} }
        let harness = try ShellHarness(.full, on: TopicBroker(kafka, clientID: "deadly"))
        let lives = MachineShellTests.lives("deadly", count: 12)
        let brokers = harness.settings.brokers
        let makeServices = {
            SupervisedProcesses("TallyService", instances) { [brokers, $0, "full", "\(ShellHarness.partitions)"] }
        }
        for live in lives { try harness.sendText("before", in: live) }
        try harness.flush()
        var services: SupervisedProcesses?
        defer { services?.stop() }
        if startsBeforeInput {
            services = makeServices()
            _ = try harness.readFeedNumbers(of: Set(lives)) { $0.count == lives.count }
        }
        for live in lives { try harness.sendText("with", in: live) }
        try harness.sendText(text, in: lives[0])
        for live in lives { try harness.sendText("after", in: live) }
        try harness.flush()
        let start = MonotonicClock.now
        if !startsBeforeInput { services = makeServices() }
        let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { !$0.isEmpty }
        #expect(deadLetters.count == 1)
        #expect(deadLetters.allSatisfy { String(decoding: $0.value ?? [], as: UTF8.self).contains(text) })
        // The fourth text of each live; the feed numbers a live's items from 1.
        for live in lives { try harness.sendText("later", in: live) }
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: Set(lives)) { found in
            lives.dropFirst().allSatisfy { found[$0]?.contains(4) ?? false }
        }
        let outage = MonotonicClock.now - start
        for live in lives.dropFirst() { #expect(numbers[live] == [1, 2, 3, 4]) }
        #expect(deaths.contains(services?.deathCount ?? 0), "\(services?.deathCount ?? 0) processes died")
        print("\(instances.count) instances, \(text): back after \(outage.count) ms")
        #expect(outage < .seconds(15))
    }
}
