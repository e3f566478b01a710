// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import Settings

extension KafkaSecurity {
    /// Declares and reads the settings of connections to Kafka; the reader's `finish()` reports invalid settings.
    ///
    /// Services and the `plaza` tool have the same settings.
    package init(_ reader: inout SettingsReader) {
        self.init()
        self.transport = reader.choice(
            "kafka-security", default: .plaintext,
            help: "How connections to Kafka are secured: ssl is TLS, sasl is a user and password.")
        self.mechanism = reader.choice(
            "kafka-sasl-mechanism", default: .scramSHA512, help: "How the password is shown to the brokers.")
        self.user = reader.optionalString("kafka-user", placeholder: "NAME", help: "The user of Kafka.")
        self.password = reader.secret("kafka-password", help: "The file with the user's password.").map { Secret($0) }
        self.caFile = reader.certificateFile(
            "kafka-ca-file",
            help: "The certificates of the authorities that sign brokers' certificates, in PEM; default: the system's.")
        self.certificateFile = reader.certificateFile(
            "kafka-certificate-file", help: "This client's certificate in PEM, for brokers that ask for one.")
        self.keyFile = reader.privateKeyFile(
            "kafka-key-file", help: "The private key of that certificate in PEM. Readable by this user alone.")
        self.keyPassword = reader.secret("kafka-key-password", help: "The file with the private key's password.")
            .map { Secret($0) }
        self.rejectContradictions(&reader)
    }

    /// Rejects combinations of settings that are incomplete or contradict each other; the reader has already rejected
    /// values that are invalid by themselves.
    private func rejectContradictions(_ reader: inout SettingsReader) {
        let givenNames = Set(reader.effectiveSettings.filter { $0.source != .defaultValue }.map(\.name))
        // `secret("kafka-password")` declares the option --kafka-password-file and also reads an environment variable.
        // A file that cannot be read gives no password, and a password from the environment sets no option, so both
        // conditions are needed.
        let hasPassword = givenNames.contains("kafka-password-file") || self.password != nil
        let security = self.transport.rawValue
        func isGiven(_ name: String) -> Bool { givenNames.contains(name) }
        if self.transport.usesSASL {
            if self.user == nil {
                reader.reject("kafka-user", value: nil, remedy: "give the user that --kafka-security \(security) needs")
            }
            if !hasPassword {
                reader.reject(
                    "kafka-password-file", value: nil,
                    remedy: "give the file with the password that --kafka-security \(security) needs")
            }
        } else if self.user != nil || hasPassword || isGiven("kafka-sasl-mechanism") {
            reader.reject(
                "kafka-security", value: security,
                remedy: "a user and password need sasl_ssl, or sasl_plaintext on a private network")
        }
        let namesThatNeedTLS = ["kafka-ca-file", "kafka-certificate-file", "kafka-key-file", "kafka-key-password-file"]
        if !self.transport.usesTLS, let name = namesThatNeedTLS.first(where: isGiven) {
            reader.reject("kafka-security", value: security, remedy: "--\(name) needs ssl or sasl_ssl")
        }
        if isGiven("kafka-certificate-file") != isGiven("kafka-key-file") {
            reader.reject(
                "kafka-certificate-file", value: nil, remedy: "give both --kafka-certificate-file and --kafka-key-file")
        }
    }

    /// The names of the command-line options, whose values are not secret, in the order of the help.
    private static let optionNames = [
        "kafka-security", "kafka-sasl-mechanism", "kafka-user", "kafka-password-file", "kafka-ca-file",
        "kafka-certificate-file", "kafka-key-file", "kafka-key-password-file",
    ]

    /// The command-line options with which another process connects in the same way.
    ///
    /// They contain names of files, but no secrets. A child process inherits secrets from the environment.
    ///
    /// - Parameters:
    ///   - reader: the reader after `init` has read the settings.
    ///   - absolutePath: returns the absolute form of a path, for a child with another working directory.
    /// - Returns: the options and their values.
    package static func arguments(
        from reader: SettingsReader, absolutePath: (String) -> String
    ) -> [String] {
        let givenOptions = reader.effectiveSettings.filter {
            $0.source != .defaultValue && Self.optionNames.contains($0.name)
        }
        return givenOptions.flatMap { option in
            ["--\(option.name)", option.name.hasSuffix("-file") ? absolutePath(option.value) : option.value]
        }
    }
}
