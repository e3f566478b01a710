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
/// The records cover every field, key and header of the topics that services and gateways read. The rows cover every
/// field of the rows that services restore when they start.
extension BoundaryTableTests {
    /// Each inbox, and the file of its golden records without `.json`.
    private static let inboxes: [(PlazaTopic, String)] = [
        (.directoryInbox, "directory-inbox"), (.audienceInbox, "audience-inbox"), (.barrageInbox, "barrage-inbox"),
        (.seatInbox, "seat-inbox"), (.connectionInbox, "connection-inbox"),
    ]
    /// Each other topic that is read, and the file of its golden records without `.json`.
    private static let outputTopics: [(PlazaTopic, String)] = [
        (.rooms, "rooms"), (.stages, "stages"), (.audienceCounts, "audience-counts"), (.apps, "apps"),
        (.roomFeed, "room-feed"), (.userNotices, "user-notices"), (.replies, "replies"), (.webhooks, "webhooks"),
    ]

    @Test(.timeLimit(.minutes(6)))
    func `I16 no damaged record, key or header ends a process or stops a partition`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let began = ContinuousClock.now
            let partitions = cluster.options.partitions
            let brokers = cluster.state.kafka
            let driver = try await runOnDedicatedThread {
                Result { SendableDriver(try RecordDriver(brokers: brokers, partitions: partitions)) }
            }.get()
            for (topic, goldenFile) in Self.inboxes + Self.outputTopics {
                let cases = RecordCases(topic: topic, partitions: partitions, goldenFile: goldenFile)
                let missingReplies = try await runOnDedicatedThread {
                    Result { try driver.value.sendInGroups(cases) }
                }.get()
                #expect(missingReplies.isEmpty, "\(missingReplies.joined(separator: "\n"))")
                // The cluster does not restart processes, so an ended process stays visible.
                for process in cluster.processes {
                    #expect(
                        process.restarts == 0 && process.lastExitDescription == nil,
                        "\(process.name) ended: \(topic.rawValue)")
                }
            }
            print("\(driver.value.sentCount) records, \(ContinuousClock.now - began)")
            // Far fewer would mean that golden records were not found.
            #expect(driver.value.sentCount > 50_000, "too few records were sent")
            let letters = try await runOnDedicatedThread {
                Result { try DeadLetterBox(brokers: brokers).letters() }
            }.get()
            for letter in letters {
                let caseName = letter.record.header(RecordCases.nameHeader) ?? []
                Issue.record("dead letter: \(String(decoding: caseName, as: UTF8.self)): \(letter.origin.reason)")
            }
            driver.value.close()
            try await harness.playScenario()
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `I16 no damaged row keeps a service from starting again or stops a partition`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { cluster in
            let harness = try ClusterHarness(cluster)
            let partitions = cluster.options.partitions
            let brokers = cluster.state.kafka
            let driver = try await runOnDedicatedThread {
                Result { SendableDriver(try RecordDriver(brokers: brokers, partitions: partitions)) }
            }.get()
            for (topic, corpus) in RowCases.corpora {
                let cases = try RowCases(topic: topic, partitions: partitions, corpus: corpus).cases()
                try await runOnDedicatedThread { Result { try driver.value.send(cases) } }.get()
            }
            print("\(driver.value.sentCount) rows")
            // Far fewer would mean that rows of the corpora were not found.
            #expect(driver.value.sentCount > 10_000, "too few rows were sent")
            // A gateway restores no rows.
            for kind in ServiceKind.allCases where kind != .gateway {
                let name = "\(kind.rawValue)-1"
                try await cluster.kill(name)
                try await cluster.restart(name)
            }
            try await cluster.waitUntilReady(within: .seconds(90))
            let pids = cluster.processes.map(\.pid)
            for (topic, goldenFile) in Self.inboxes {
                let cases = RecordCases(topic: topic, partitions: partitions, goldenFile: goldenFile)
                // One call to each partition is enough. The number of its group is of no use here.
                let unansweredSessions = try await runOnDedicatedThread {
                    Result {
                        let sessions = try driver.value.sendCalls(cases, group: 0)
                        return try driver.value.unanswered(sessions, within: .seconds(60)).sorted()
                    }
                }.get()
                #expect(unansweredSessions.isEmpty, "no reply: \(unansweredSessions)")
            }
            // Some rows are due only after a while, so a damaged row can still end a process during the scenario.
            try await harness.playScenario()
            #expect(
                cluster.processes.map(\.pid) == pids, "\(cluster.processes.map { ($0.name, $0.lastExitDescription) })")
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
    /// - Returns: a text for each call without a reply, with the group of cases before the call.
    func sendInGroups(_ cases: RecordCases) throws -> [String] {
        let groups = [cases.garbageCases()] + (try cases.fieldCases())
        // The sessions of the calls.
        var sessions: Set<String> = []
        for (index, group) in groups.enumerated() {
            try self.send(group)
            sessions.formUnion(try self.sendCalls(cases, group: index))
        }
        return try self.unanswered(sessions, within: .seconds(60)).sorted().map { session in
            // A session ends with the number of its group; see `sendCalls`.
            let index = session.split(separator: "-").last.flatMap { Int($0) } ?? 0
            let group = groups[index]
            return "no reply: \(session), after \(group.first?.name ?? "") to \(group.last?.name ?? "")"
        }
    }
}
