// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KafkaClient
package import Observability
package import PlazaModel
package import PlazaWire
package import Settings

/// The settings that every service has (docs/SETTINGS.md).
package struct ServiceSettings: Sendable {
    /// The addresses of the brokers to connect to first: `HOST:PORT`, separated by commas.
    package var brokers: String
    /// How connections to the brokers are secured.
    package var kafkaSecurity: KafkaSecurity
    /// The name of this process, which is unique in the cluster.
    package var instance: String
    /// The address at which this process listens for clients.
    package var host: String
    /// The address of the ops port, which serves `livez`, `readyz` and `metrics`.
    package var opsHost: String
    /// The number of the ops port; 0 for any free port.
    package var opsPort: Int
    /// The number of partitions of every topic.
    package var partitions: Int
    /// The replication factor of the topics that this process creates.
    package var replication: Int
    package var mode: KafkaMode
    /// The bytes of the apps file: keys, policies and webhooks of each app.
    package var appsFile: [UInt8]
    /// The option that gave the apps file; error messages name it.
    package var appsOption: String
    /// Whether a problem with the apps file was already reported.
    package var hasInvalidApps: Bool
    package var logLevel: LogLevel
    /// How long the components may take to stop.
    ///
    /// The process waits one second longer for them, and then up to 1.5 seconds for unsent spans and open ops requests.
    package var drain: Duration
    /// The address of the collector that gets spans; nil means that tracing is off.
    package var collectorURL: String?

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
        let appsPath = reader.optionalString(
            "apps", placeholder: "FILE", help: "The apps' keys, policies and hooks, as JSON.")
        let inlineJSON = reader.optionalString(
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
        self.drain = reader.milliseconds(
            "drain-milliseconds", default: 1500, range: 0...60_000,
            help: "How long a stop may take before what is left is cut off.")
        self.collectorURL = reader.optionalString(
            "traces", placeholder: "URL",
            help: "A collector of traces (OTLP/HTTP in JSON), such as http://127.0.0.1:4318. Without one: no traces.")
        if let collectorURL, !collectorURL.hasPrefix("http://"), !collectorURL.hasPrefix("https://") {
            reader.reject("traces", value: collectorURL, remedy: "give an address that begins with http:// or https://")
        }
        self.appsFile = []
        var hasInvalidApps = false
        if appsPath != nil, inlineJSON != nil {
            reader.reject("apps-json", value: nil, remedy: AppsDocument.onlyOneSourceAdvice)
            hasInvalidApps = true
        }
        self.appsOption = inlineJSON == nil ? "apps" : "apps-json"
        // The inline JSON contains secret keys, so error messages must not quote it.
        let quotableValue = inlineJSON == nil ? appsPath : nil
        if let inlineJSON {
            self.appsFile = Array(inlineJSON.utf8)
        } else if let appsPath {
            do {
                self.appsFile = [UInt8](try Data(contentsOf: URL(filePath: appsPath)))
            } catch {
                reader.reject("apps", value: appsPath, remedy: "give a file that can be read")
                hasInvalidApps = true
            }
        }
        let validationErrors = AppsDocument.validationErrors(in: self.appsFile, sending: backendRequests)
        for validationError in validationErrors {
            reader.reject(self.appsOption, value: quotableValue, remedy: validationError)
        }
        self.hasInvalidApps = hasInvalidApps || !validationErrors.isEmpty
    }

    /// The policies in the apps file, which was validated when it was read.
    package var policies: Policies {
        var policies: [AppID: AppPolicy] = [:]
        for (app, entry) in Self.entries(in: self.appsFile) {
            var policy = entry.policy ?? AppPolicy()
            policy.hasWebhooks = entry.wantsEvents
            policies[app] = policy
        }
        return Policies(policies)
    }

    /// The webhook configuration of each app that has one.
    package var hooks: [AppID: AppHooks] { Self.entries(in: self.appsFile).compactMapValues(\.hooks) }

    /// The settings that all Kafka clients of this process share.
    package func kafka(log: Log) -> KafkaSettings {
        KafkaSettings(
            brokers: self.brokers, clientID: self.instance, security: self.kafkaSecurity,
            maxMessageBytes: PlazaTopic.maxMessageBytes
        ) { level, facility, text in
            let fields: KeyValuePairs<LogKey, LogValue> = [.component: .string(facility), .detail: .string(text)]
            // Lower levels are more severe.
            if level <= .error { log.warning("kafka client", fields) } else { log.debug("kafka client", fields) }
        }
    }

    /// The entries of the apps file; empty if the file is invalid.
    private static func entries(in appsFile: [UInt8]) -> [AppID: AppsDocument.App] {
        let entries = (try? AppsDocument(json: appsFile))?.apps ?? [:]
        return Dictionary(entries.map { (AppID($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }
}
