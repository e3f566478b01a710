// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// The version of librdkafka that this process has loaded.
package enum KafkaLibrary {
    /// The version, such as `2.0.2`.
    package static var version: String { unsafe String(cString: rd_kafka_version_str()) }

    /// Whether this version can authenticate by SCRAM with Kafka 4.0 and later.
    ///
    /// Before 2.6.1 librdkafka repeated its nonce in the last message of SCRAM, against RFC 5802. Brokers up to Kafka
    /// 3.9 accept that. Since 4.0 they reject it with the error for a wrong password (librdkafka's pull request 4895).
    /// Debian 12 has librdkafka 2.0.2.
    ///
    /// The version number is `0xMMmmrrpp`; `pp` is `ff` for a release and lower for its candidates.
    package static var hasStrictSCRAM: Bool { rd_kafka_version() >= 0x0206_01ff }
}

extension KafkaError {
    /// Adds a hint to the error if an old librdkafka may be its cause instead of a wrong user or password.
    func addingSCRAMHint(for security: KafkaSecurity) -> KafkaError {
        guard self.kind == .authenticationFailed, security.mechanism != .plain, !KafkaLibrary.hasStrictSCRAM else {
            return self
        }
        var error = self
        error.message +=
            ". If the password is right: librdkafka \(KafkaLibrary.version) cannot log in by SCRAM at "
            + "Kafka 4.0 or later; load librdkafka 2.6.1 or later, or use PLAIN over TLS"
        return error
    }
}
