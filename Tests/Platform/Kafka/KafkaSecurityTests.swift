// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Settings
import TestSupport
import Testing

/// Tests of clients of a real Kafka that asks for a user's password or for a client's certificate.
///
/// A private authority, which the test creates, signs all certificates.
@Suite(
    .serialized,
    .enabled(if: RealKafka.isAvailable && PrivateAuthority.isAvailable, "set KAFKA_HOME and install openssl"),
    .timeLimit(.minutes(2)))
struct KafkaSecurityTests {
    /// The broker, which starts when a test first uses it; a failure if it did not start.
    private static let sharedKafka = Result { try SecureKafka() }

    /// The Kafka that all tests of this suite share.
    private static func secureKafka() throws -> SecureKafka { try Self.sharedKafka.get() }

    /// Uses each kind of client: makes a topic, writes a record in a transaction, and reads it as a member of a group.
    private static func useAllClients(_ settings: KafkaSettings) throws {
        let topic = "secure-\(UInt32.random(in: .min ... .max))"
        let admin = try KafkaAdmin(settings)
        try admin.waitUntilReachable(timeout: .seconds(10))
        try admin.createTopics([TopicSpec(name: topic, partitions: 1)])
        let producer = try KafkaProducer(settings, transactionalID: topic)
        try producer.initTransactions(timeout: .seconds(20))
        try producer.beginTransaction()
        try producer.send(OutgoingRecord(topic: topic, text: "over a secured connection"))
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
    func `the error of a rejected SCRAM login says that the loaded librdkafka is too old`() async throws {
        try await runOnDedicatedThread {
            let error = try #require(Self.securityError(try Self.secureKafka().settings(.scramSHA512)))
            #expect(error.kind == .authenticationFailed)
            #expect(error.message.contains("librdkafka \(KafkaLibrary.version) cannot log in by SCRAM"), "\(error)")
        }
    }

    @Test(arguments: Self.mechanisms)
    func `producers, consumers and admin clients work over TLS with a user and a password`(
        mechanism: KafkaSecurity.Mechanism
    ) async throws {
        try await runOnDedicatedThread { try Self.useAllClients(try Self.secureKafka().settings(mechanism)) }
    }

    @Test func `without a user, a client with a certificate works over TLS, and a client without one is rejected`()
        async throws
    {
        try await runOnDedicatedThread {
            let secureKafka = try Self.secureKafka()
            var security = KafkaSecurity()
            security.transport = .ssl
            security.caFile = secureKafka.authority.certificate
            let brokers = "127.0.0.1:\(secureKafka.tlsPort)"
            let settingsWithoutCertificate = KafkaSettings(
                brokers: brokers, clientID: "stranger", security: security
            ) { _, _, _ in }
            // The broker may end each connection without a reason; then the client tries again until the timeout.
            #expect(Self.securityError(settingsWithoutCertificate, timeout: .seconds(4)) != nil)
            security.certificateFile = secureKafka.authority.clientCertificate
            security.keyFile = secureKafka.authority.clientKey
            try Self.useAllClients(
                KafkaSettings(brokers: brokers, clientID: "known", security: security) { _, _, _ in })
        }
    }

    /// The error with which an admin client fails to connect; nil if the server accepts the client.
    ///
    /// The default timeout is long because the machine may be slow. If the server refuses the client, the wait ends at
    /// once.
    private static func securityError(
        _ settings: KafkaSettings, timeout: Duration = .seconds(30)
    ) -> KafkaError? {
        do throws(KafkaError) {
            try KafkaAdmin(settings).waitUntilReachable(timeout: timeout)
            return nil
        } catch { return error }
    }

    @Test(arguments: [KafkaSecurity.Mechanism.scramSHA512, .plain])
    func `a wrong password causes at most four logins, and no error, log or description contains the password`(
        mechanism: KafkaSecurity.Mechanism
    ) async throws {
        try await runOnDedicatedThread {
            let secureKafka = try Self.secureKafka()
            let logTexts = Locked<[String]>([])
            let settings = secureKafka.settings(mechanism, password: "open sesame") { _, _, text in
                logTexts.withLock { $0.append(text) }
            }
            /// The number of failed logins in Kafka's log.
            func failureCount() -> Int {
                secureKafka.kafka.log.split(separator: "\n").count { $0.contains("Failed authentication") }
            }
            // The failed logins of other tests.
            let earlierFailures = failureCount()
            let startedAt = ContinuousClock.now
            let error = try #require(Self.securityError(settings))
            // `securityError` would wait for 30 s if the error were not reported.
            #expect(ContinuousClock.now - startedAt < .seconds(20))
            #expect(error.kind == .authenticationFailed && error.needsOperator && !error.isRetriable, "\(error)")
            // A client pauses for at most 500 ms between two logins. So if it tried again after it has reported the
            // error, this would happen within this second.
            DedicatedThread.sleep(for: .milliseconds(1000))
            let attempts = failureCount() - earlierFailures
            #expect((1...4).contains(attempts), "\(attempts) logins")
            #expect(!("\(error)" + logTexts.withLock { $0.joined() }).contains("open sesame"))
            #expect(!"\(settings)".contains("open sesame"))
        }
    }

    @Test func `a running producer reports a wrong password, and then tries to log in at most twice a second`()
        async throws
    {
        try await runOnDedicatedThread {
            let secureKafka = try Self.secureKafka()
            let reportedKinds = Locked<[KafkaError.Kind]>([])
            var settings = secureKafka.settings(.plain, password: "open sesame")
            settings.onError = { error in reportedKinds.withLock { $0.append(error.kind) } }
            /// The number of failed logins in Kafka's log.
            func failureCount() -> Int {
                secureKafka.kafka.log.split(separator: "\n").count { $0.contains("Failed auth") }
            }
            let earlierFailures = failureCount()
            let startedAt = ContinuousClock.now
            let producer = try KafkaProducer(settings)
            func isReported() -> Bool { reportedKinds.withLock { $0 }.contains(.authenticationFailed) }
            while !isReported(), ContinuousClock.now - startedAt < .seconds(20) {
                DedicatedThread.sleep(for: .milliseconds(50))
            }
            #expect(isReported())
            // Without pauses there would be hundreds of logins in this time.
            DedicatedThread.sleep(for: .seconds(5))
            producer.close(timeout: .zero)
            // The pauses grow until there are at most two logins in a second. At the beginning there are a few more.
            let seconds = (ContinuousClock.now - startedAt) / .seconds(1)
            let attempts = failureCount() - earlierFailures
            #expect(attempts >= 1 && Double(attempts) <= 6 + 2 * seconds, "\(attempts) logins in \(seconds) s")
        }
    }

    @Test func `a broker's certificate of an unknown authority, or for another host, is rejected`()
        async throws
    {
        try await runOnDedicatedThread {
            let secureKafka = try Self.secureKafka()
            let unknownAuthority = try PrivateAuthority()
            let unknownAuthoritySettings = secureKafka.settings(.plain, caFile: unknownAuthority.certificate)
            let unknownError = try #require(Self.securityError(unknownAuthoritySettings))
            #expect(unknownError.kind == .tlsFailed && unknownError.needsOperator, "\(unknownError)")

            // The broker's certificate is for 127.0.0.1, not for localhost.
            var otherHostSettings = secureKafka.settings(.plain)
            otherHostSettings.brokers = "localhost:\(secureKafka.saslPort)"
            let otherHostError = try #require(Self.securityError(otherHostSettings))
            #expect(otherHostError.kind == .tlsFailed, "\(otherHostError)")
        }
    }

    @Test func `a client with TLS fails at a listener without TLS`() async throws {
        try await runOnDedicatedThread {
            let secureKafka = try Self.secureKafka()
            var settings = secureKafka.settings(.plain)
            // The address of the listener without TLS.
            settings.brokers = secureKafka.kafka.bootstrap
            // librdkafka since 2.6 reports such a listener as a broken connection, and tries again until the timeout.
            let error = try #require(Self.securityError(settings, timeout: .seconds(4)))
            #expect([.tlsFailed, .brokerDown, .timedOut].contains(error.kind), "\(error)")
        }
    }
}

/// Tests of the settings that an operator gives for connections to Kafka.
@Suite struct KafkaSecuritySettingsTests {
    /// The security settings from arguments and environment variables, and the text of all problems.
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

    @Test func `without settings, connections have neither TLS nor a user`() {
        let (security, problems) = Self.readSettings([])
        #expect(security == KafkaSecurity() && problems.isEmpty)
    }

    @Test func `without a mechanism, a user logs in by SCRAM-SHA-512`() {
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
    func `incomplete and contradictory settings are rejected, and the problem names the remedy`(
        arguments: [String], remedy: String
    ) {
        let (_, problems) = Self.readSettings(arguments)
        #expect(problems.contains(remedy), "\(problems)")
        #expect(!problems.contains("hidden"), "a password on the command line is not repeated")
    }

    @Test func `the error for a private key's file does not contain the key's password`() {
        // The settings are rejected, because the key's file does not exist.
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
