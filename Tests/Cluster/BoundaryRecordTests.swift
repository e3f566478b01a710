// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import KafkaClient
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// Tests with damaged records and rows, written straight to the topics of a running cluster.
///
/// The damaged records cover every field, key and header of the topics that services and gateways read. The damaged
/// rows cover every field of the rows that services restore when they start.
extension BoundaryTableTests {
    /// Each inbox, and the name of the file of its golden records, without `.json`.
    private static let inboxes: [(topic: PlazaTopic, goldenFile: String)] = [
        (.directoryInbox, "directory-inbox"), (.audienceInbox, "audience-inbox"), (.barrageInbox, "barrage-inbox"),
        (.seatInbox, "seat-inbox"), (.connectionInbox, "connection-inbox"),
    ]
    /// Each topic that gateways or the webhook sender read, and the name of the file of its golden records.
    private static let outputTopics: [(topic: PlazaTopic, goldenFile: String)] = [
        (.rooms, "rooms"), (.stages, "stages"), (.audienceCounts, "audience-counts"), (.apps, "apps"),
        (.roomFeed, "room-feed"), (.userNotices, "user-notices"), (.replies, "replies"), (.webhooks, "webhooks"),
    ]

    @Test(.timeLimit(.minutes(6)))
    func `I16 no damaged record, key or header ends a process or stops a partition`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let began = ContinuousClock.now
            let partitions = cluster.options.partitions
            let brokers = cluster.state.kafka
            let driver = try await runOnDedicatedThread {
                Result { SendableDriver(try RecordDriver(brokers: brokers, partitions: partitions)) }
            }.get()
            for (topic, goldenFile) in Self.inboxes + Self.outputTopics {
                let cases = RecordCases(topic: topic, partitions: partitions, goldenFile: goldenFile)
                let failureTexts = try await runOnDedicatedThread {
                    Result { try driver.value.sendCasesAndCalls(cases) }
                }.get()
                #expect(failureTexts.isEmpty, "\(failureTexts.joined(separator: "\n"))")
                // The cluster does not restart processes, so an ended process stays visible.
                for process in cluster.processes {
                    #expect(
                        process.restarts == 0 && process.lastExitDescription == nil,
                        "\(process.name) ended after the cases of the topic \(topic.rawValue)")
                }
            }
            print("\(driver.value.sentCaseCount) records, \(ContinuousClock.now - began)")
            // All golden records give well over 50,000 cases; with fewer, some golden records were not found.
            #expect(driver.value.sentCaseCount > 50_000, "too few records were sent")
            let deadLetters = try await runOnDedicatedThread {
                Result { try DeadLetterBox(brokers: brokers).letters() }
            }.get()
            for letter in deadLetters {
                let caseName = String(decoding: letter.record.header(RecordCases.nameHeader) ?? [], as: UTF8.self)
                Issue.record("a service failed at the record \(caseName): \(letter.origin.reason)")
            }
            driver.value.close()
            try await harness.playScenario()
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `I16 a damaged row neither prevents the restart of a service nor stops a partition`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let partitions = cluster.options.partitions
            let brokers = cluster.state.kafka
            let driver = try await runOnDedicatedThread {
                Result { SendableDriver(try RecordDriver(brokers: brokers, partitions: partitions)) }
            }.get()
            for (topic, folder) in RowCases.corpora {
                let cases = try RowCases(topic: topic, partitions: partitions, corpus: folder).cases()
                try await runOnDedicatedThread { Result { try driver.value.send(cases) } }.get()
            }
            print("\(driver.value.sentCaseCount) rows")
            // All corpora give well over 10,000 cases; with fewer, some rows were not found.
            #expect(driver.value.sentCaseCount > 10_000, "too few rows were sent")
            // Kills and restarts each service, so that it restores the rows. A gateway restores no rows.
            for kind in ServiceKind.allCases where kind != .gateway {
                let name = "\(kind.rawValue)-1"
                try await cluster.kill(name)
                try await cluster.restart(name)
            }
            try await cluster.waitUntilReady(within: .seconds(90))
            let pidsAfterRestart = cluster.processes.map(\.pid)
            for (topic, goldenFile) in Self.inboxes {
                let cases = RecordCases(topic: topic, partitions: partitions, goldenFile: goldenFile)
                // Sends one call to each partition. The rows were not sent in groups, so the group is always 0.
                let unansweredSessions = try await runOnDedicatedThread {
                    Result {
                        let sessions = try driver.value.sendCalls(cases, group: 0)
                        return try driver.value.sessionsWithoutReply(of: sessions, within: .seconds(60)).sorted()
                    }
                }.get()
                #expect(unansweredSessions.isEmpty, "no reply to the calls of the sessions \(unansweredSessions)")
            }
            // The due times of some rows come only after a while, so a damaged row could end a process even now.
            try await harness.playScenario()
            #expect(
                cluster.processes.map(\.pid) == pidsAfterRestart,
                "a process ended: \(cluster.processes.map { ($0.name, $0.lastExitDescription) })")
            driver.value.close()
        }
    }
}

/// Passes a driver from one dedicated thread to the next; only one thread uses it at a time.
private struct SendableDriver: @unchecked Sendable {
    let value: RecordDriver

    init(_ value: RecordDriver) { self.value = value }
}

extension RecordDriver {
    /// Writes all cases of a topic in groups, and after each group a call to each partition.
    ///
    /// - Returns: a text for each call without a reply; it names the group of cases before this call.
    func sendCasesAndCalls(_ cases: RecordCases) throws -> [String] {
        let groups = [cases.garbageCases()] + (try cases.fieldCases())
        var callSessions: Set<String> = []
        for (index, group) in groups.enumerated() {
            try self.send(group)
            callSessions.formUnion(try self.sendCalls(cases, group: index))
        }
        let unansweredSessions = try self.sessionsWithoutReply(of: callSessions, within: .seconds(60)).sorted()
        return unansweredSessions.map { session in
            // The name of a session ends with the number of the group before its call, such as `-3`.
            let index = session.split(separator: "-").last.flatMap { Int($0) } ?? 0
            let group = groups[index]
            let (first, last) = (group.first?.name ?? "", group.last?.name ?? "")
            return "no reply to the call of \(session), which followed the cases \(first) to \(last)"
        }
    }
}
