// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import Foundation
import KafkaClient
import TestSupport
import Testing

/// Tests of real processes whose connections are secured: Kafka with TLS and a user, Redis with a user.
@Suite(
    .serialized,
    .enabled(if: RealKafka.isAvailable && PrivateAuthority.isAvailable, "set KAFKA_HOME and install openssl"),
    .timeLimit(.minutes(3)))
struct SecureClusterTests {
    /// The broker that all tests of the suite use, or the error because of which it did not start.
    private static let sharedKafka = Result { try SecureKafka() }
    private static let redisPassword = "the-Redis-secret"

    /// The Redis user of audience-presence with the permissions that docs/SECURITY.md tells operators to give.
    static let redisUser =
        "user liveplaza on >\(redisPassword) resetchannels ~{audience.* "
        + "-@all +@read +@write -@dangerous +evalsha +script|load +info"

    /// The options of a cluster that uses `kafka`.
    ///
    /// The test's own process logs in by PLAIN, the services by `mechanism`. Both use `password`, or the right password
    /// if it is nil.
    private static func options(
        _ kafka: SecureKafka, mechanism: KafkaSecurity.Mechanism = .plain, password: String? = nil
    ) throws -> ClusterOptions {
        var options = TestCluster.options()
        let authority = kafka.authority
        let user = SecureKafka.user(of: mechanism)
        // The random number keeps the files of the suite's tests apart.
        let fileName = "kafka.password.\(UInt32.random(in: .min ... .max))"
        let passwordFile = try authority.writeSecretFile(fileName, password ?? user.password)
        options.broker = .external("127.0.0.1:\(kafka.saslPort)")
        options.kafkaSecurity = kafka.settings(.plain, password: password).security
        options.kafkaArguments = [
            "--kafka-security", "sasl_ssl", "--kafka-sasl-mechanism", mechanism.rawValue, "--kafka-user",
            user.name, "--kafka-password-file", passwordFile, "--kafka-ca-file", authority.certificate,
        ]
        return options
    }

    @Test
    func `the demo scenario passes over secured connections, and no secret is in a command line, environment or log`()
        async throws
    {
        let kafka = try await runOnDedicatedThread { try Self.sharedKafka.get() }
        // Debian's librdkafka cannot log in by SCRAM at Kafka 4, so the processes load a newer one.
        let libraryDirectory = try #require(
            await runOnDedicatedThread { PythonPackages.newerLibrdkafka },
            "the packages of Tests/requirements.txt are not there")
        let aclFile = try kafka.authority.writeSecretFile("users.acl", "user default off\n\(Self.redisUser)\n")
        let passwordFile = try kafka.authority.writeSecretFile("redis.password", Self.redisPassword + "\n")
        let redis = try await runOnDedicatedThread { try RealRedis(arguments: ["--aclfile", aclFile]) }
        var options = try Self.options(kafka, mechanism: .scramSHA512)
        options.environment["LD_LIBRARY_PATH"] = libraryDirectory
        options.extraArguments[.audiencePresence] = [
            "--redis", "127.0.0.1:\(redis.port)", "--redis-user", "liveplaza", "--redis-password-file", passwordFile,
        ]
        try await TestCluster.with(options) { cluster in
            try await ClusterHarness(cluster).playScenario()
            let metrics = try Self.metrics(of: "audience-presence-1", in: cluster)
            let leasesAway = Self.value("audience_leases_away{partition=\"0\"}", in: metrics)
            #expect(leasesAway == 0, "presence must reach its leases in Redis")
            #expect(metrics.contains("redis_pipelines_total{outcome=\"failed\"} 0"), "\(metrics)")
            #expect(!metrics.contains("redis_pipelines_total{outcome=\"done\"} 0"), "presence must have used Redis")
            let secrets = [SecureKafka.scramUser.password, Self.redisPassword]
            for process in cluster.processes {
                let pid = try #require(process.pid)
                for name in ["cmdline", "environ"] {
                    let text = try Self.readText(at: "/proc/\(pid)/\(name)")
                    #expect(!secrets.contains(where: text.contains), "\(name) of \(process.name) has a secret")
                }
                let log = try Self.readText(at: process.log)
                #expect(!secrets.contains(where: log.contains), "the log of \(process.name) has a secret")
            }
            // The command gets no option about the login: it reads Kafka's user, password file and authority in the
            // run directory.
            let command = [
                try ProgramFinder().path(of: "plaza"), "dead-letters", "--run-dir", cluster.directory.path,
            ]
            let (end, output) = try await runOnDedicatedThread {
                try TestProcess.run(command, environment: ["LD_LIBRARY_PATH": libraryDirectory], errors: .output)
            }
            #expect(end == .exited(0) && output.contains("no dead letters"), "\(output)")
            try await Self.killRedisAndCheckMetrics(redis, cluster)
        }
    }

    /// The metrics page of a process.
    private static func metrics(of process: String, in cluster: LocalCluster) throws -> String {
        let port = try #require(try cluster.process(named: process).opsPort)
        return try #require(HealthProbe.http(host: "127.0.0.1", port: port, path: "/metrics")).body
    }

    /// The value of a series in metrics in Prometheus's text format; nil if the series is missing.
    private static func value(_ series: String, in metrics: String) -> Double? {
        let prefix = series + " "
        let line = metrics.split(separator: "\n").first { $0.hasPrefix(prefix) }
        return line.flatMap { Double($0.dropFirst(prefix.count)) }
    }

    /// Kills Redis, and checks metrics that alerts use: presence must report that it cannot reach its leases.
    private static func killRedisAndCheckMetrics(_ redis: RealRedis, _ cluster: LocalCluster) async throws {
        await runOnDedicatedThread { redis.kill() }
        let deadline = ContinuousClock.now + .seconds(20)
        var areLeasesAway = false
        while !areLeasesAway, ContinuousClock.now < deadline {
            let metrics = try Self.metrics(of: "audience-presence-1", in: cluster)
            areLeasesAway = (0..<cluster.options.partitions).contains {
                Self.value("audience_leases_away{partition=\"\($0)\"}", in: metrics) == 1
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(areLeasesAway, "presence must report in time that it cannot reach its leases")
        // Alerts use these series, too. Each must exist, and its value must show that no loop hangs.
        let presenceMetrics = try Self.metrics(of: "audience-presence-1", in: cluster)
        #expect(try #require(Self.value("shell_waiting_seconds{machine=\"audience\"}", in: presenceMetrics)) < 10)
        let gatewayMetrics = try Self.metrics(of: "gateway-1", in: cluster)
        #expect(try #require(Self.value("gateway_shard_turn_age_seconds{shard=\"0\"}", in: gatewayMetrics)) < 5)
        let fanoutMetrics = try Self.metrics(of: "barrage-fanout-1", in: cluster)
        #expect(try #require(Self.value("shell_append_waiting_seconds{machine=\"barrage\"}", in: fanoutMetrics)) < 5)
    }

    private static func readText(at path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test func `a service with a wrong password ends at once and reports why`() async throws {
        let kafka = try await runOnDedicatedThread { try Self.sharedKafka.get() }
        let options = try Self.options(kafka, password: "open sesame")
        let command =
            [
                try ProgramFinder().path(of: "room-directory"), "--kafka", "127.0.0.1:\(kafka.saslPort)",
                "--instance", "wrong-1",
            ] + options.kafkaArguments
        let began = ContinuousClock.now
        let (end, output) = try await runOnDedicatedThread { try TestProcess.run(command, errors: .output) }
        #expect(end == .exited(1))
        #expect(ContinuousClock.now - began < .seconds(15))
        #expect(output.contains("authenticationFailed"), "\(output)")
        #expect(!output.contains("open sesame"), "the output must not contain the password")
    }

    @Test func `a cluster with a wrong password or certificate authority does not start, and the error says why`()
        async throws
    {
        let kafka = try await runOnDedicatedThread { try Self.sharedKafka.get() }
        let otherAuthority = try await runOnDedicatedThread { try PrivateAuthority() }
        let optionsOfWrongPassword = try Self.options(kafka, password: "open sesame")
        var optionsOfOtherAuthority = try Self.options(kafka)
        optionsOfOtherAuthority.kafkaSecurity.caFile = otherAuthority.certificate
        for (options, expectedReason) in [
            (optionsOfWrongPassword, "authenticationFailed"), (optionsOfOtherAuthority, "tlsFailed"),
        ] {
            let cluster = LocalCluster(options)
            let error = await #expect(throws: ClusterError.self) { try await cluster.start() }
            guard case .kafkaRefuses(_, let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            let errorText = error.map { "\($0)" } ?? ""
            #expect(reason.contains(expectedReason))
            #expect(!errorText.contains("open sesame"), "the error must not contain the password")
            try? FileManager.default.removeItem(atPath: cluster.directory.path)
        }
    }
}
