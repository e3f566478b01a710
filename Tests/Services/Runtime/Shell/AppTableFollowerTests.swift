// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing

@testable import ServiceShell

/// The follower of the apps' settings, on a thread of its own, against a broker.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AppTableFollowerTests {
    /// A follower that runs, and the lines that it logs.
    private final class Running {
        let follower: AppTableFollower
        private let harness: ShellHarness
        private let producer: KafkaProducer
        private let thread: DedicatedThread
        private let logged: WakeSignal

        /// Starts a follower once `before` was written to the topic.
        init(_ before: [AppRecord] = []) throws {
            let harness = try ShellHarness(.embedded)
            let logged = WakeSignal()
            self.harness = harness
            self.logged = logged
            self.producer = try KafkaProducer(harness.settings)
            for record in before { try self.producer.send(Self.outgoing(record)) }
            try self.producer.flush(timeout: .seconds(10))
            let log = Log(service: "test", level: .warning, sink: { _ in logged.wakeUp() })
            let settings = ShellSettings(
                kafka: harness.settings, instance: "test-1", partitions: ShellHarness.partitions, mode: .embedded)
            let follower = AppTableFollower(settings, log: log)
            self.follower = follower
            self.thread = DedicatedThread("test") { follower.run() }
        }

        private static func outgoing(_ record: AppRecord) -> OutgoingRecord {
            TopicRecord(.app(record)).outgoing(partitions: ShellHarness.partitions)
        }

        /// Writes records of one app, and waits until the follower has read them: it tells of the unreadable one that
        /// comes behind them.
        func write(_ records: AppRecord...) throws {
            for record in records { try self.producer.send(Self.outgoing(record)) }
            var last = Self.outgoing(try #require(records.last))
            last.value = Array("no record".utf8)
            try self.producer.send(last)
            try #require(self.logged.wait(timeout: .seconds(20)))
        }

        func waitUntilReady() throws {
            self.follower.waitUntilLoaded(timeout: .seconds(20))
            try #require(self.follower.isReady && self.follower.isLive)
        }

        func stop() -> Bool {
            self.follower.stop()
            return self.thread.join(timeout: .seconds(10))
        }
    }

    private static func record(_ app: AppID, _ revision: Int64, words: [String]) -> AppRecord {
        var settings = AppSettings()
        settings.words = words
        return AppRecord(app: app, revision: revision, settings: settings)
    }

    @Test func `all that the topic held is known before a machine begins, the last of each app`() throws {
        let apps = (0..<20).map { AppID("app-\($0)") }
        let running = try Running(
            apps.flatMap { [Self.record($0, 1, words: ["old"]), Self.record($0, 2, words: ["new", $0.text])] })
        try running.waitUntilReady()
        for app in apps { #expect(running.follower.snapshot[app].words == ["new", app.text]) }
        #expect(running.follower.snapshot.apps.count == 20)
        #expect(running.stop())
    }

    @Test func `an empty topic is known as soon as its ends were seen, and a wait then is over at once`() throws {
        let running = try Running()
        try running.waitUntilReady()
        #expect(running.follower.snapshot.apps.isEmpty)
        // Several shells may wait for one follower.
        for _ in 0..<3 { running.follower.waitUntilLoaded(timeout: .seconds(60)) }
        #expect(running.stop())
    }

    @Test func `a later change is known soon, an older one is none, and what cannot be read is left out and told`()
        throws
    {
        let running = try Running([Self.record("demo", 5, words: ["five"]), Self.record("shop", 1, words: ["one"])])
        try running.waitUntilReady()
        let before = running.follower.snapshot
        try running.write(Self.record("demo", 6, words: ["six"]))
        #expect(running.follower.snapshot["demo"].words == ["six"])
        #expect(before["demo"].words == ["five"], "a batch keeps the settings with which it began")
        try running.write(Self.record("demo", 7, words: ["seven"]), Self.record("demo", 4, words: ["four"]))
        #expect(running.follower.snapshot["demo"].words == ["seven"])
        #expect(running.follower.snapshot.revision(of: "demo") == 7)
        #expect(running.follower.snapshot["shop"].words == ["one"])
        #expect(running.stop())
    }

    @Test func `a follower without a broker is not ready, and ends when it is told to`() throws {
        let kafka = KafkaSettings(brokers: "127.0.0.1:\(try FreePort.find())", clientID: "nobody") { _, _, _ in }
        let settings = ShellSettings(kafka: kafka, instance: "test-1", partitions: 2, mode: .embedded)
        let follower = AppTableFollower(settings, log: .none)
        let thread = DedicatedThread("test") { follower.run() }
        #expect(!follower.isReady)
        follower.stop()
        // Who waits for it is let go.
        follower.waitUntilLoaded(timeout: .seconds(60))
        #expect(!follower.isReady)
        #expect(thread.join(timeout: .seconds(20)))
    }
}
