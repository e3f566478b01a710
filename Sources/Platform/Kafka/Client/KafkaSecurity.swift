// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// How clients secure their connections to the brokers: TLS and authentication.
///
/// The raw values are librdkafka's. With TLS the broker's certificate and its host name are always checked.
package struct KafkaSecurity: Sendable, Equatable {
    /// The encryption and authentication of connections: librdkafka's `security.protocol`.
    package enum Transport: String, Sendable, CaseIterable {
        /// Neither TLS nor authentication.
        case plaintext
        /// TLS; the client may authenticate with a certificate.
        case ssl
        /// Authentication by user and password (SASL) without TLS; only SCRAM hides the password from eavesdroppers.
        case saslPlaintext = "sasl_plaintext"
        /// TLS, and authentication by user and password (SASL).
        case saslSSL = "sasl_ssl"

        /// Whether connections use TLS.
        package var usesTLS: Bool { self == .ssl || self == .saslSSL }
        /// Whether clients log in with a user and password.
        package var usesSASL: Bool { self == .saslPlaintext || self == .saslSSL }
    }

    /// How the client proves to the broker that it knows the password: librdkafka's `sasl.mechanism`.
    package enum Mechanism: String, Sendable, CaseIterable {
        /// The client sends the password itself.
        case plain = "PLAIN"
        /// The client sends only a proof that it knows the password (RFC 5802). The same holds for `scramSHA512`.
        case scramSHA256 = "SCRAM-SHA-256"
        case scramSHA512 = "SCRAM-SHA-512"
    }

    package var transport = Transport.plaintext
    package var mechanism = Mechanism.scramSHA512
    package var user: String?
    package var password: Secret?
    /// The file with the certificates (PEM) of the authorities that may sign brokers' certificates; nil for the
    /// certificates of the system.
    package var caFile: String?
    /// The file with the client's certificate (PEM), for brokers that require one.
    package var certificateFile: String?
    /// The file with the private key (PEM) of the client's certificate.
    package var keyFile: String?
    /// The password of the private key.
    package var keyPassword: Secret?

    /// Connections without TLS and authentication.
    package init() {}

    /// The settings by librdkafka's names.
    var settings: [(String, String)] {
        var settings = [("security.protocol", self.transport.rawValue)]
        if self.transport.usesSASL {
            settings.append(("sasl.mechanism", self.mechanism.rawValue))
            if let user { settings.append(("sasl.username", user)) }
            if let password { settings.append(("sasl.password", password.text)) }
        }
        if self.transport.usesTLS {
            settings += [
                ("enable.ssl.certificate.verification", "true"), ("ssl.endpoint.identification.algorithm", "https"),
            ]
            if let caFile { settings.append(("ssl.ca.location", caFile)) }
            if let certificateFile { settings.append(("ssl.certificate.location", certificateFile)) }
            if let keyFile { settings.append(("ssl.key.location", keyFile)) }
            if let keyPassword { settings.append(("ssl.key.password", keyPassword.text)) }
        }
        return settings
    }

    /// Whether the value of a setting is secret; errors must not contain such a value.
    static func isSecret(_ name: String) -> Bool { name.contains("password") }
}
