// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of `AppTableFollower`, which reads the apps' settings from the topic `apps` of a broker.
///
/// Each record has the settings of one app and their revision. The settings here are a list of words.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AppTableFollowerTests {
    /// A follower that runs on a dedicated thread, and a signal for each line that it logs.
    private final class RunningFollower {
        let follower: AppTableFollower
        private let harness: ShellHarness
        private let producer: KafkaProducer
        private let thread: DedicatedThread
        private let lineLogged: WakeSignal

        /// Writes `initialRecords` to the topic, then starts a follower.
        init(_ initialRecords: [AppRecord] = []) throws {
            let harness = try ShellHarness(.embedded)
            let lineLogged = WakeSignal()
            self.harness = harness
            self.lineLogged = lineLogged
            self.producer = try KafkaProducer(harness.settings)
            for record in initialRecords { try self.producer.send(Self.outgoing(record)) }
            try self.producer.flush(timeout: .seconds(10))
            let log = Log(service: "test", level: .warning, sink: { _ in lineLogged.wakeUp() })
            let settings = ShellSettings(
                kafka: harness.settings, instance: "test-1", partitions: ShellHarness.partitions, mode: .embedded)
            let follower = AppTableFollower(settings, log: log)
            self.follower = follower
            self.thread = DedicatedThread("test") { follower.run() }
        }

        private static func outgoing(_ record: AppRecord) -> OutgoingRecord {
            TopicRecord(.app(record)).outgoing(partitions: ShellHarness.partitions)
        }

        /// Writes records of one app, and waits until the follower has read them.
        ///
        /// A malformed record is written after the records, with the same key and therefore in the same partition. When
        /// the follower logs this record, it has read all records before.
        func write(_ records: AppRecord...) throws {
            for record in records { try self.producer.send(Self.outgoing(record)) }
            var malformedRecord = Self.outgoing(try #require(records.last))
            malformedRecord.value = Array("no record".utf8)
            try self.producer.send(malformedRecord)
            try #require(self.lineLogged.wait(timeout: .seconds(20)))
        }

        /// Waits until the follower has read the topic to its end.
        func waitUntilReady() throws {
            self.follower.waitUntilLoaded(timeout: .seconds(20))
            try #require(self.follower.isReady && self.follower.isLive)
        }

        /// Stops the follower; returns whether its thread ended within 10 s.
        func stop() -> Bool {
            self.follower.stop()
            return self.thread.join(timeout: .seconds(10))
        }
    }

    private static func record(_ app: AppID, revision: Int64, words: [String]) -> AppRecord {
        var settings = AppSettings()
        settings.words = words
        return AppRecord(app: app, revision: revision, settings: settings)
    }

    @Test func `the follower is ready once it has read the last record of each app`() throws {
        let apps = (0..<20).map { AppID("app-\($0)") }
        let oldRecords = apps.map { Self.record($0, revision: 1, words: ["old"]) }
        let newRecords = apps.map { Self.record($0, revision: 2, words: ["new", $0.text]) }
        let running = try RunningFollower(oldRecords + newRecords)
        try running.waitUntilReady()
        for app in apps { #expect(running.follower.snapshot[app].words == ["new", app.text]) }
        #expect(running.follower.snapshot.apps.count == 20)
        #expect(running.stop())
    }

    @Test
    func
        `the follower of an empty topic is ready once it has read the partitions' ends; then each wait returns at once`()
        throws
    {
        let running = try RunningFollower()
        try running.waitUntilReady()
        #expect(running.follower.snapshot.apps.isEmpty)
        // A service has one follower, and several of its threads may wait for it.
        for _ in 0..<3 { running.follower.waitUntilLoaded(timeout: .seconds(60)) }
        #expect(running.stop())
    }

    @Test
    func `a newer record replaces the settings, an older one is ignored, and a malformed one is skipped and logged`()
        throws
    {
        let running = try RunningFollower([
            Self.record("demo", revision: 5, words: ["five"]), Self.record("shop", revision: 1, words: ["one"]),
        ])
        try running.waitUntilReady()
        let snapshotBefore = running.follower.snapshot
        try running.write(Self.record("demo", revision: 6, words: ["six"]))
        #expect(running.follower.snapshot["demo"].words == ["six"])
        #expect(snapshotBefore["demo"].words == ["five"], "a snapshot does not change after it was taken")
        // The record of revision 4 is older and has no effect.
        try running.write(
            Self.record("demo", revision: 7, words: ["seven"]), Self.record("demo", revision: 4, words: ["four"]))
        #expect(running.follower.snapshot["demo"].words == ["seven"])
        #expect(running.follower.snapshot.revision(of: "demo") == 7)
        #expect(running.follower.snapshot["shop"].words == ["one"])
        #expect(running.stop())
    }

    @Test func `a follower without a broker is not ready, and ends when it is stopped`() throws {
        let kafka = KafkaSettings(brokers: "127.0.0.1:\(try FreePort.find())", clientID: "nobody") { _, _, _ in }
        let settings = ShellSettings(kafka: kafka, instance: "test-1", partitions: 2, mode: .embedded)
        let follower = AppTableFollower(settings, log: .none)
        let thread = DedicatedThread("test") { follower.run() }
        #expect(!follower.isReady)
        follower.stop()
        // After `stop` a wait returns at once.
        follower.waitUntilLoaded(timeout: .seconds(60))
        #expect(!follower.isReady)
        #expect(thread.join(timeout: .seconds(20)))
    }
}
