// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// Tests of inputs that end the process: "deadly" at once, and "deadly alarm" when the row of its live is due.
///
/// An owner is the process that has acquired a partition and handles the inputs there.
///
/// An input that is set aside is written to the dead letter topic and not processed. Each text that is not set aside
/// becomes an item of its live's feed, and the items of a live are numbered from 1 (see `TallyMachine`).
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
struct DeadlyInputTests {
    /// Each text that ends an owner, combined with the names of one instance and of two instances of the service.
    private static let cases = ["deadly", "deadly alarm"].flatMap { text in
        [["one"], ["one", "two"]].map { (text: text, instances: $0) }
    }

    @Test
    func
        `I16 an input or a due row that ends its owner is set aside, and the other lives are served again within 15 s`()
        async
    {
        await ConcurrentCase.runBlocking(Self.cases) { text, instances in
            // An owner writes a record of attempts when it acquires the partition. A death counts only if the offset in
            // this record is still the committed offset, and an input is set aside after three deaths that count. The
            // first owner has committed a batch since it wrote its record. Therefore its death does not count, and four
            // owners die. With two instances, the second one may acquire the partition just before the input. Then the
            // first death counts, too, and three owners die.
            let deaths = instances.count == 1 ? 4...4 : 3...4
            try Self.expectSetAside(text, instances, startsBeforeInput: true, deaths: deaths)
        }
    }

    @Test func `I16 an input in the first batch of the first owner is set aside after the third death`() async throws {
        try await runOnDedicatedThread {
            try Self.expectSetAside("deadly", ["one"], startsBeforeInput: false, deaths: 3...3)
        }
    }

    /// Sends `text` to the first of twelve lives, among texts to all lives, and checks that the input is set aside
    /// in time.
    ///
    /// - Parameters:
    ///   - text: the text that ends its owner, as an input or when its row is due.
    ///   - instances: the instances that serve the lives, each supervised.
    ///   - startsBeforeInput: whether the instances have processed a batch before `text` is sent.
    ///   - deaths: how many processes die.
    /// - Throws: an error of the broker.
    private static func expectSetAside(
        _ text: String, _ instances: [String], startsBeforeInput: Bool, deaths: ClosedRange<Int>
    ) throws {
        // Each case has its own broker, because its inputs must not end the shells of other tests.
        let kafka = try RealKafka()
        defer { withExtendedLifetime(kafka) {} }
        let harness = try ShellHarness(.full, on: TopicBroker(kafka, clientID: "deadly"))
        let lives = MachineShellTests.newLives("deadly", count: 12)
        let brokers = harness.settings.brokers
        let startServices = {
            SupervisedProcesses("TallyService", instances) { [brokers, $0, "full", "\(ShellHarness.partitions)"] }
        }
        for live in lives { try harness.sendText("before", in: live) }
        try harness.flush()
        var services: SupervisedProcesses?
        defer { services?.stop() }
        if startsBeforeInput {
            services = startServices()
            _ = try harness.readItemNumbers(of: Set(lives)) { $0.count == lives.count }
        }
        for live in lives { try harness.sendText("with", in: live) }
        try harness.sendText(text, in: lives[0])
        for live in lives { try harness.sendText("after", in: live) }
        try harness.flush()
        let startedAt = MonotonicClock.now
        if !startsBeforeInput { services = startServices() }
        let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { !$0.isEmpty }
        #expect(deadLetters.count == 1)
        #expect(deadLetters.allSatisfy { String(decoding: $0.value ?? [], as: UTF8.self).contains(text) })
        // The fourth text of each live becomes the item 4.
        for live in lives { try harness.sendText("later", in: live) }
        try harness.flush()
        let numbers = try harness.readItemNumbers(of: Set(lives)) { found in
            lives.dropFirst().allSatisfy { found[$0]?.contains(4) ?? false }
        }
        let outage = MonotonicClock.now - startedAt
        for live in lives.dropFirst() { #expect(numbers[live] == [1, 2, 3, 4]) }
        #expect(deaths.contains(services?.deathCount ?? 0), "\(services?.deathCount ?? 0) processes died")
        print("\(instances.count) instances, \(text): back after \(outage.count) ms")
        #expect(outage < .seconds(15))
    }
}
