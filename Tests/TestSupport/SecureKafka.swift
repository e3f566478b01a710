// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
internal import MachineKit

/// A real Kafka with TLS: one listener requires a user and a password, and another requires a client's certificate.
///
/// A private authority signed the certificates. Tests administer the broker over a third listener without TLS.
package final class SecureKafka: Sendable {
    /// The user who logs in by SCRAM-SHA-512.
    package static let scramUser = (name: "alice", password: "alice-SCRAM-secret")
    /// The user who logs in by PLAIN.
    package static let plainUser = (name: "bob", password: "bob-PLAIN-secret")

    /// The authority that signed the broker's certificate.
    package let authority: PrivateAuthority
    /// The broker.
    package let kafka: RealKafka
    /// The listener with TLS and users: PLAIN and SCRAM-SHA-512.
    package let saslPort: Int
    /// The listener with TLS that requires a client's certificate.
    package let tlsPort: Int

    /// Starts the broker; blocks until it answers.
    ///
    /// - Throws: an error if there is no Kafka or no `openssl`, or if the broker does not answer in time.
    package init() throws {
        let authority = try PrivateAuthority()
        self.authority = authority
        self.saslPort = try FreePort.find()
        self.tlsPort = try FreePort.find()
        let module = "org.apache.kafka.common.security"
        let (user, password) = Self.plainUser
        self.kafka = try RealKafka(
            settings: [
                "listener.security.protocol.map":
                    "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL",
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
                "ssl.keystore.type": "PEM", "ssl.keystore.location": authority.serverKeystore,
                "ssl.truststore.type": "PEM", "ssl.truststore.location": authority.certificate,
                "listener.name.ssl.ssl.client.auth": "required",
                "listener.name.sasl_ssl.plain.sasl.jaas.config":
                    "\(module).plain.PlainLoginModule required user_\(user)=\"\(password)\";",
                "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config":
                    "\(module).scram.ScramLoginModule required;",
            ], listeners: [("SASL_SSL", self.saslPort), ("SSL", self.tlsPort)],
            formatting: [
                "--add-scram",
                "SCRAM-SHA-512=[name=\(Self.scramUser.name),password=\(Self.scramUser.password)]",
            ])
    }

    /// The user who can log in by `mechanism`.
    package static func user(of mechanism: KafkaSecurity.Mechanism) -> (name: String, password: String) {
        mechanism == .plain ? Self.plainUser : Self.scramUser
    }

    /// The settings of a client of the SASL listener.
    ///
    /// - Parameters:
    ///   - mechanism: the mechanism: PLAIN for `plainUser`, SCRAM-SHA-512 for `scramUser`.
    ///   - password: the password; nil for the right one.
    ///   - caFile: the file with the trusted certificate; nil for that of the authority.
    ///   - log: receives the client's log lines.
    /// - Returns: the settings.
    package func settings(
        _ mechanism: KafkaSecurity.Mechanism, password: String? = nil, caFile: String? = nil,
        log: @escaping @Sendable (KafkaLogLevel, String, String) -> Void = { _, _, _ in }
    ) -> KafkaSettings {
        let user = Self.user(of: mechanism)
        var security = KafkaSecurity()
        security.transport = .saslSSL
        security.mechanism = mechanism
        security.user = user.name
        security.password = Secret(password ?? user.password)
        security.caFile = caFile ?? self.authority.certificate
        return KafkaSettings(
            brokers: "127.0.0.1:\(self.saslPort)", clientID: "secure-test", security: security, log: log)
    }
}
