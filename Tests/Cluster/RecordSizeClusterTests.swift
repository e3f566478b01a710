// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import KafkaClient
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// Tests that no user can make a row larger than the broker's maximum message size, which would stop its partition.
///
/// They use a real Kafka. Without one, the first test uses the embedded broker, whose clients have the same limit.
@Suite(.serialized) struct RecordSizeClusterTests {
    /// A ban's reason of control characters, which a reason must not have.
    ///
    /// JSON writes each of them with six bytes.
    private static let reasonOfControlCharacters = String(repeating: #"\u0001"#, count: SanctionLimits.reasonBytes)
    /// The longest allowed reason: the limit counts the bytes in JSON, which writes each quotation mark with two bytes.
    private static let longestReason = String(repeating: #"\""#, count: SanctionLimits.reasonBytes / 2)

    /// The body of a request that bans the users of a group for good; a group has as many users as a call may name.
    private static func banBody(group: Int, reason: String) -> String {
        // The numbers begin at 1000, so that each has four digits and each id 32 bytes.
        let firstNumber = 1000 + group * SanctionLimits.usersPerCall
        let users = (0..<SanctionLimits.usersPerCall).map { "\"user-with-a-long-name-of-32-\(firstNumber + $0)\"" }
        return "{\"users\":[\(users.joined(separator: ","))],\"duration\":-1,\"reason\":\"\(reason)\"}"
    }

    /// Rules: R17.2, R17.4, R17.6.
    @Test(.timeLimit(.minutes(5)))
    func `I16 bans, metadata and updates never stop the partition of a live, however large they are`() async throws {
        let options = TestCluster.options(kafkaBrokers: TestCluster.kafkaHome == nil ? nil : 1)
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let base = try #require(cluster.gateways.first).http
            let serverToken = harness.token("shop", isServer: true)
            func send(_ method: String, _ path: String, _ body: String) async throws -> (status: Int, text: String) {
                let answer = try await harness.sendRequest(method, path, body, of: base, token: serverToken)
                return (answer.status, answer.text)
            }
            func expectStatus(
                _ status: Int, _ method: String, _ path: String, _ body: String,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let answer = try await send(method, path, body)
                #expect(answer.status == status, "\(path): \(answer.text)", sourceLocation: sourceLocation)
            }
            try await expectStatus(201, "POST", "/v1/lives", #"{"live":"concert","owner":"alice"}"#)
            // The attack: requests for bans whose reason has control characters. Each is rejected.
            for group in 0..<50 {
                let (status, text) = try await send(
                    "POST", "/v1/lives/concert/bans", Self.banBody(group: group, reason: Self.reasonOfControlCharacters)
                )
                #expect(status == 400 && text.contains("\(ReplyCode.badParameter.code)"), "\(text)")
            }
            try await expectStatus(400, "PATCH", "/v1/lives/concert", #"{"coverURL":"\u0001"}"#)
            // A live may have 1,000 bans, and all may have the longest reason. The groups 0 to 49 are banned.
            for group in 0..<SanctionLimits.perLive / SanctionLimits.usersPerCall {
                try await expectStatus(
                    200, "POST", "/v1/lives/concert/bans", Self.banBody(group: group, reason: Self.longestReason))
            }
            // No further group can be banned.
            let (status, text) = try await send(
                "POST", "/v1/lives/concert/bans", Self.banBody(group: 50, reason: "more"))
            #expect(status == 409 && text.contains("\(ReplyCode.overLimit.code)"), "\(text)")
            // A live may have 16 KiB of metadata: eight values of the longest length, 2 KiB. JSON writes each quotation
            // mark with two bytes.
            let longestValue = String(repeating: #"\""#, count: Limits.metadataValueBytes)
            let metadata = (0..<8).map { "\"k\($0)\":\"\(longestValue)\"" }.joined(separator: ",")
            try await expectStatus(200, "PATCH", "/v1/lives/concert/metadata", "{\"metadata\":{\(metadata)}}")
            for number in 0..<20 {
                try await expectStatus(200, "PATCH", "/v1/lives/concert", #"{"notice":"\#(number)"}"#)
            }
            // The partition still works after a restart of its owner: the live has its bans, and other lives can be
            // created.
            try await cluster.kill("room-directory-1")
            try await cluster.restart("room-directory-1")
            try await cluster.waitUntilReady(within: .seconds(30))
            // Reads the bans page by page; a next offset of 0 means that there is no further page.
            var offset = 0
            var bannedUserCount = 0
            repeat {
                let (_, page) = try await send("GET", "/v1/lives/concert/bans?offset=\(offset)", "")
                let answer = try Wire.decode(JSONValue.self, from: Array(page.utf8))
                let sanctions = answer.members["result"]?.members["sanctions"]?.members["page"]?.members ?? [:]
                guard case .array(let bans)? = sanctions["items"],
                    case .integer(let nextOffset)? = sanctions["nextOffset"]
                else {
                    Issue.record("no page of bans: \(page)")
                    return
                }
                bannedUserCount += bans.count
                offset = Int(nextOffset)
            } while offset > 0
            #expect(bannedUserCount == SanctionLimits.perLive)
            for number in 0..<20 {
                try await expectStatus(
                    201, "POST", "/v1/lives", "{\"live\":\"live-\(number)\",\"owner\":\"owner-\(number)\"}")
            }
            try await expectStatus(200, "DELETE", "/v1/lives/concert", "")
            try await expectStatus(201, "POST", "/v1/lives", #"{"live":"after","owner":"alice"}"#)
        }
    }

    /// Rules: R17.6.
    @Test(
        .enabled(if: TestCluster.kafkaHome != nil, "\(TestCluster.whyNoKafka)"), .timeLimit(.minutes(3)),
        // Settings of a topic that services must reject, as name and value.
        arguments: ["max.message.bytes 1000000", "message.timestamp.type CreateTime"])
    func `topics accept records of 1 MiB and use the broker's time; no service starts on a topic with other settings`(
        badSetting: String
    ) async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let serviceRun = try await runOnDedicatedThread {
                let admin = try KafkaAdmin(KafkaSettings(brokers: cluster.state.kafka, clientID: "test") { _, _, _ in })
                for topic in try admin.describeTopics(PlazaTopic.allCases.map(\.rawValue)) {
                    #expect(topic.config["max.message.bytes"] == "1048576", "\(topic.name)")
                    #expect(topic.config["message.timestamp.type"] == "LogAppendTime", "\(topic.name)")
                }
                // Changes one topic with Kafka's own tool.
                let topic = PlazaTopic.webhooks.rawValue
                let nameAndValue = badSetting.split(separator: " ").map(String.init)
                let (name, value) = (nameAndValue[0], nameAndValue[1])
                let change = try TestProcess.run(
                    [
                        try #require(TestCluster.kafkaHome) + "/bin/kafka-configs.sh", "--bootstrap-server",
                        cluster.state.kafka, "--entity-type", "topics", "--entity-name", topic, "--alter",
                        "--add-config", "\(name)=\(value)",
                    ], environment: ["LOG_DIR": cluster.directory.kafkaDirectory], errors: .output)
                try #require(change.end == .exited(0), "\(change.output)")
                // The broker learns of the change a moment later, from the controller.
                while try admin.describeTopics([topic]).first?.config[name] != value {}
                let command = [
                    try ProgramFinder().path(of: "room-directory"), "--kafka", cluster.state.kafka, "--instance",
                    "room-directory-9", "--apps", cluster.state.apps, "--partitions", "\(cluster.state.partitions)",
                ]
                return try TestProcess.run(command, errors: .output)
            }
            #expect(serviceRun.end == .exited(1))
            #expect(serviceRun.output.contains("The topic webhooks has \(badSetting)"), "\(serviceRun.output)")
        }
    }
}
