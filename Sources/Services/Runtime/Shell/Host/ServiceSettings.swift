// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KafkaClient
package import Observability
package import PlazaModel
package import PlazaWire
package import Settings

/// The settings that every service has (docs/OPERATING.md).
package struct ServiceSettings: Sendable {
    package var brokers: String
    /// How connections to the brokers are secured.
    package var kafkaSecurity: KafkaSecurity
    package var instance: String
    package var host: String
    package var opsHost: String
    package var opsPort: Int
    package var partitions: Int
    package var replication: Int
    package var mode: KafkaMode
    /// The bytes of the apps file: keys, policies and webhooks of each app.
    package var apps: [UInt8]
    /// The option that gave the apps file; error messages name it.
    package var appsOption: String
    /// Whether a problem with the apps file was already reported.
    package var hasInvalidApps: Bool
    package var logLevel: LogLevel
    package var drainMilliseconds: Int
    /// The collector that gets spans; nil: tracing is off.
    package var traces: String?

    /// Declares and reads the settings; the reader's `finish()` reports invalid ones.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - service: the program's name.
    ///   - backendRequests: the requests that the service sends to apps' backends; the apps file may omit the addresses
    ///     and secrets that these do not need.
    package init(_ reader: inout SettingsReader, service: String, backendRequests: AppsDocument.BackendRequests) {
        reader.section("Cluster")
        self.brokers = reader.string(
            "kafka", default: "127.0.0.1:9092", placeholder: "HOST:PORT[,…]", help: "The Kafka brokers to ask first.")
        self.mode = reader.choice(
            "kafka-mode", default: .full,
            help: "full: transactions, all guarantees. embedded: the in-memory broker of `plaza up`.")
        self.kafkaSecurity = KafkaSecurity(&reader)
        self.instance = reader.string(
            "instance", default: "\(service)-1", placeholder: "NAME",
            help: "This process's name. No two processes of a cluster may share one.")
        self.partitions = reader.int(
            "partitions", default: 12, range: 1...1000,
            help: "Partitions of every topic. Chosen when a cluster is made; never changes.")
        self.replication = reader.int(
            "replication", default: 1, range: 1...9, help: "Copies of every partition, when this process makes topics.")
        let path = reader.optionalString(
            "apps", placeholder: "FILE", help: "The apps' keys, policies and hooks, as JSON.")
        let inline = reader.optionalString(
            "apps-json", placeholder: "JSON", isSecret: true, help: "The same, given directly instead of a file.")
        reader.section("Process")
        self.host = reader.string(
            "host", default: "127.0.0.1", placeholder: "ADDRESS", help: "The address that this process listens on.")
        self.opsHost = reader.string(
            "ops-host", default: "127.0.0.1", placeholder: "ADDRESS",
            help: "The address of livez, readyz and metrics; never a public one.")
        self.opsPort = reader.int(
            "ops-port", default: 0, range: 0...65535,
            help: "Port of livez, readyz and metrics; never make it public. 0 takes a free one.")
        self.logLevel = reader.choice("log-level", default: .info, help: "The least serious lines that are written.")
        self.drainMilliseconds = reader.milliseconds(
            "drain-milliseconds", default: 1500, range: 0...60_000,
            help: "How long a stop may take before what is left is cut off.")
        self.traces = reader.optionalString(
            "traces", placeholder: "URL",
            help: "A collector of traces (OTLP/HTTP in JSON), such as http://127.0.0.1:4318. Without one: no traces.")
        if let traces, !traces.hasPrefix("http://"), !traces.hasPrefix("https://") {
            reader.reject("traces", value: traces, remedy: "give an address that begins with http:// or https://")
        }
        self.apps = []
        var hasInvalidApps = false
        if path != nil, inline != nil {
            reader.reject("apps-json", value: nil, remedy: AppsDocument.onlyOneSourceAdvice)
            hasInvalidApps = true
        }
        self.appsOption = inline == nil ? "apps" : "apps-json"
        // The inline JSON contains secret keys, so error messages must not quote it.
        let origin = inline == nil ? path : nil
        if let inline {
            self.apps = Array(inline.utf8)
        } else if let path {
            do {
                self.apps = [UInt8](try Data(contentsOf: URL(filePath: path)))
            } catch {
                reader.reject("apps", value: path, remedy: "give a file that can be read")
                hasInvalidApps = true
            }
        }
        let validationErrors = AppsDocument.validationErrors(in: self.apps, sending: backendRequests)
        for validationError in validationErrors {
            reader.reject(self.appsOption, value: origin, remedy: validationError)
        }
        self.hasInvalidApps = hasInvalidApps || !validationErrors.isEmpty
    }

    /// The policies in the apps file, which was validated when it was read.
    package var policies: Policies {
        var policies: [AppID: AppPolicy] = [:]
        for (app, entry) in Self.file(of: self.apps) {
            var policy = entry.policy ?? AppPolicy()
            policy.hasWebhooks = entry.hasWebhooks
            policies[app] = policy
        }
        return Policies(policies)
    }

    /// The webhook configuration of each app that has one.
    package var hooks: [AppID: AppHooks] { Self.file(of: self.apps).compactMapValues(\.hooks) }

    /// The settings that all Kafka clients of this process share.
    package func kafka(log: Log) -> KafkaSettings {
        KafkaSettings(
            brokers: self.brokers, clientID: self.instance, security: self.kafkaSecurity,
            maxMessageBytes: PlazaTopic.maxMessageBytes
        ) { level, facility, text in
            let line: KeyValuePairs<LogKey, LogValue> = [.reason: .string(facility), .detail: .string(text)]
            if level <= .error { log.warning("kafka client", line) } else { log.debug("kafka client", line) }
        }
    }

    private static func file(of apps: [UInt8]) -> [AppID: AppsDocument.App] {
        let file = (try? AppsDocument(json: apps))?.apps ?? [:]
        return Dictionary(file.map { (AppID($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }
}
