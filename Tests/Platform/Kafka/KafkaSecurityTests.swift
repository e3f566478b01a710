// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Settings
import TestSupport
import Testing

/// Clients of a real Kafka with users, and with TLS whose certificates a private authority signs.
@Suite(
    .serialized,
    .enabled(if: LiveKafka.isAvailable && PrivateAuthority.isAvailable, "set KAFKA_HOME and install openssl"),
    .timeLimit(.minutes(2)))
struct KafkaSecurityTests {
    private static let sharedKafka = Result { try SecureKafka() }

    /// The Kafka that all tests of this suite share; the first call starts it.
    private static func server() throws -> SecureKafka { try Self.sharedKafka.get() }

    /// Makes a topic, writes a record in a transaction, and reads it as a member of a group.
    private static func useAllClients(_ settings: KafkaSettings) throws {
        let topic = "secure-\(UInt32.random(in: .min ... .max))"
        let admin = try KafkaAdmin(settings)
        try admin.waitUntilReachable(timeout: .seconds(10))
        try admin.createTopics([TopicSpec(name: topic, partitions: 1)])
        let producer = try KafkaProducer(settings, transactionalID: topic)
        try producer.initTransactions(timeout: .seconds(20))
        try producer.beginTransaction()
        try producer.send(OutgoingRecord(topic, 0, "over a secured connection"))
        try producer.commitTransaction(timeout: .seconds(10))
        let consumer = try KafkaConsumer(settings, group: topic)
        try consumer.subscribe(topic) { _ in }
        let read = try #require(try consumer.poll { records, _ in !records.isEmpty })
        #expect(read.records.map(\.text) == ["over a secured connection"])
        consumer.close()
        producer.close(timeout: .seconds(1))
    }

    /// The mechanisms by which the loaded librdkafka can log in at this Kafka.
    private static let mechanisms: [KafkaSecurity.Mechanism] =
        KafkaLibrary.hasStrictSCRAM ? [.plain, .scramSHA512] : [.plain]

    @Test(.enabled(if: !KafkaLibrary.hasStrictSCRAM, "the loaded librdkafka can log in by SCRAM"))
    func `the error names an old librdkafka when SCRAM is rejected`() async throws {
        try await runOnDedicatedThread {
            let error = try #require(Self.securityError(try Self.server().settings(.scramSHA512)))
            #expect(error.kind == .authenticationFailed)
            #expect(error.message.contains("librdkafka \(KafkaLibrary.version) cannot log in by SCRAM"), "\(error)")
        }
    }

    @Test(arguments: Self.mechanisms)
    func `producers, consumers and admin clients work over TLS with a user`(mechanism: KafkaSecurity.Mechanism)
        async throws
    {
        try await runOnDedicatedThread { try Self.useAllClients(try Self.server().settings(mechanism)) }
    }

    @Test func `without a user, a client with a certificate works over TLS, and a client without one is rejected`()
        async throws
    {
        try await runOnDedicatedThread {
            let server = try Self.server()
            var security = KafkaSecurity()
            security.transport = .ssl
            security.caFile = server.authority.certificate
            let brokers = "127.0.0.1:\(server.tlsPort)"
            let settingsWithoutCertificate = KafkaSettings(
                brokers: brokers, clientID: "stranger", security: security
            ) { _, _, _ in }
            // The broker may end each connection without a reason; then the client tries again until the timeout.
            #expect(Self.securityError(settingsWithoutCertificate, timeout: .seconds(4)) != nil)
            security.certificateFile = server.authority.clientCertificate
            security.keyFile = server.authority.clientKey
            try Self.useAllClients(
                KafkaSettings(brokers: brokers, clientID: "known", security: security) { _, _, _ in })
        }
    }

    /// Connects an admin client, and returns the error; nil if the server accepts the client.
    ///
    /// The default timeout is for slow machines: a server that refuses a client ends the wait at once.
    private static func securityError(
        _ settings: KafkaSettings, timeout: Duration = .seconds(30)
    ) -> KafkaError? {
        do throws(KafkaError) {
            try KafkaAdmin(settings).waitUntilReachable(timeout: timeout)
            return nil
        } catch { return error }
    }

    @Test(arguments: [KafkaSecurity.Mechanism.scramSHA512, .plain])
    func `a wrong password is reported after at most four attempts, and no text contains it`(
        mechanism: KafkaSecurity.Mechanism
    ) async throws {
        try await runOnDedicatedThread {
            let server = try Self.server()
            let lines = Locked<[String]>([])
            let settings = server.settings(mechanism, password: "open sesame") { _, _, text in
                lines.withLock { $0.append(text) }
            }
            func failureCount() -> Int {
                server.kafka.log.split(separator: "\n").count { $0.contains("Failed authentication") }
            }
            let earlierFailures = failureCount()
            let startedAt = ContinuousClock.now
            let error = try #require(Self.securityError(settings))
            // `securityError` would wait for 30 s if the error were not reported.
            #expect(ContinuousClock.now - startedAt < .seconds(20))
            #expect(error.kind == .authenticationFailed && error.needsOperator && !error.isRetriable, "\(error)")
            // A client pauses for at most 500 ms between two attempts, so another one would be made in this second.
            DedicatedThread.sleep(for: .milliseconds(1000))
            let attempts = failureCount() - earlierFailures
            #expect((1...4).contains(attempts), "\(attempts) attempts")
            #expect(!("\(error)" + lines.withLock { $0.joined() }).contains("open sesame"))
            #expect(!"\(settings)".contains("open sesame"))
        }
    }

    @Test func `a wrong password is reported to a running client, which makes few attempts`() async throws {
        try await runOnDedicatedThread {
            let server = try Self.server()
            let kinds = Locked<[KafkaError.Kind]>([])
            var settings = server.settings(.plain, password: "open sesame")
            settings.onError = { error in kinds.withLock { $0.append(error.kind) } }
            func failureCount() -> Int { server.kafka.log.split(separator: "\n").count { $0.contains("Failed auth") } }
            let earlierFailures = failureCount()
            let startedAt = ContinuousClock.now
            let producer = try KafkaProducer(settings)
            func isReported() -> Bool { kinds.withLock { $0 }.contains(.authenticationFailed) }
            while !isReported(), ContinuousClock.now - startedAt < .seconds(20) {
                DedicatedThread.sleep(for: .milliseconds(50))
            }
            #expect(isReported())
            // Without pauses there would be hundreds of attempts in this time.
            DedicatedThread.sleep(for: .seconds(5))
            producer.close(timeout: .zero)
            // The pauses grow until there are at most two attempts in a second. At the beginning there are a few more.
            let seconds = (ContinuousClock.now - startedAt) / .seconds(1)
            let attempts = failureCount() - earlierFailures
            #expect(attempts >= 1 && Double(attempts) <= 6 + 2 * seconds, "\(attempts) attempts in \(seconds) s")
        }
    }

    @Test func `a broker's certificate of an unknown authority, or for another host, is rejected`()
        async throws
    {
        try await runOnDedicatedThread {
            let server = try Self.server()
            let unknownAuthority = try PrivateAuthority()
            let unknownSettings = server.settings(.plain, caFile: unknownAuthority.certificate)
            let unknownError = try #require(Self.securityError(unknownSettings))
            #expect(unknownError.kind == .tlsFailed && unknownError.needsOperator, "\(unknownError)")

            // The certificate is for 127.0.0.1.
            var otherHostSettings = server.settings(.plain)
            otherHostSettings.brokers = "localhost:\(server.saslPort)"
            let otherHostError = try #require(Self.securityError(otherHostSettings))
            #expect(otherHostError.kind == .tlsFailed, "\(otherHostError)")
        }
    }

    @Test func `a client with TLS fails at a listener without TLS`() async throws {
        try await runOnDedicatedThread {
            let server = try Self.server()
            var settings = server.settings(.plain)
            settings.brokers = server.kafka.bootstrap
            // librdkafka since 2.6 reports such a listener as a broken connection, and tries again until the timeout.
            let error = try #require(Self.securityError(settings, timeout: .seconds(4)))
            #expect([.tlsFailed, .brokerDown, .timedOut].contains(error.kind), "\(error)")
        }
    }
}

/// The settings that an operator gives for connections to Kafka.
@Suite struct KafkaSecuritySettingsTests {
    private static func readSettings(_ arguments: [String], _ environment: [String: String] = [:])
        -> (security: KafkaSecurity, problems: String)
    {
        var reader = SettingsReader(
            program: "gateway", summary: "", arguments: arguments, environment: environment)
        let security = KafkaSecurity(&reader)
        do throws(SettingsError) {
            try reader.finish()
            return (security, "")
        } catch { return (security, error.description) }
    }

    @Test func `without settings, connections are plain`() {
        let (security, problems) = Self.readSettings([])
        #expect(security == KafkaSecurity() && problems.isEmpty)
    }

    @Test func `a user and a password log in with SCRAM-SHA-512 by default`() {
        let (security, problems) = Self.readSettings(
            ["--kafka-security", "sasl_ssl", "--kafka-user", "alice"], ["LIVEPLAZA_KAFKA_PASSWORD": "secret word"])
        #expect(problems.isEmpty, "\(problems)")
        #expect(security.transport == .saslSSL && security.mechanism == .scramSHA512)
        #expect(security.user == "alice" && security.password == Secret("secret word"))
        #expect(!"\(security)".contains("secret word"))
    }

    @Test(
        arguments: [
            (["--kafka-security", "sasl_ssl"], "--kafka-user"),
            (["--kafka-security", "sasl_ssl", "--kafka-user", "a"], "--kafka-password-file"),
            (["--kafka-user", "a"], "sasl_ssl"),
            (["--kafka-ca-file", "/nowhere.pem"], "--kafka-ca-file needs ssl or sasl_ssl"),
            (["--kafka-security", "tls"], "plaintext, ssl, sasl_plaintext, sasl_ssl"),
            (["--kafka-password", "hidden"], "--kafka-password-file"),
            (["--kafka-security", "ssl", "--kafka-certificate-file", "/nowhere.pem"], "both"),
        ])
    func `incomplete and contradictory settings are rejected with a remedy`(arguments: [String], remedy: String) {
        let (_, problems) = Self.readSettings(arguments)
        #expect(problems.contains(remedy), "\(problems)")
        #expect(!problems.contains("hidden"))
    }

    @Test func `the error for a setting with a secret does not contain the secret`() {
        // The key's file does not exist, so the settings are rejected.
        var security = KafkaSecurity()
        security.transport = .ssl
        security.keyPassword = Secret("hidden")
        security.keyFile = "/nowhere.key"
        let settings = KafkaSettings(brokers: "127.0.0.1:1", clientID: "x", security: security) { _, _, _ in }
        let error = #expect(throws: KafkaError.self) { _ = try KafkaAdmin(settings) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.description.contains("hidden") == false)
    }
}
