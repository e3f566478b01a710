// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KafkaClient
package import Observability
package import PlazaModel
internal import PlazaWire
package import Settings

/// The settings that every service has (docs/OPERATING.md).
package struct ServiceSettings: Sendable {
    package var brokers: String
    package var instance: String
    package var host: String
    package var opsPort: Int
    package var partitions: Int
    package var replication: Int
    package var mode: KafkaMode
    /// The apps file as it was read: keys, policies and hooks by app.
    package var apps: [UInt8]
    /// The option that gave the apps file, as errors name it.
    package var appsOption: String
    /// Whether something wrong with the apps was told already.
    package var hasAppsFault: Bool
    package var logLevel: LogLevel
    package var drainMilliseconds: Int

    /// Declares and reads them; what is wrong is told by the reader's `finish()`.
    package init(_ reader: inout SettingsReader, service: String) {
        reader.section("Cluster")
        self.brokers = reader.string(
            "kafka", default: "127.0.0.1:9092", placeholder: "HOST:PORT[,…]", help: "The Kafka brokers to ask first.")
        self.mode = reader.choice(
            "kafka-mode", default: .full,
            help: "full: transactions, all guarantees. embedded: the in-memory broker of `plaza up`.")
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
        self.opsPort = reader.int(
            "ops-port", default: 0, range: 0...65535,
            help: "Port of livez, readyz and metrics; never make it public. 0 takes a free one.")
        self.logLevel = reader.choice("log-level", default: .info, help: "The least serious lines that are written.")
        self.drainMilliseconds = reader.milliseconds(
            "drain-milliseconds", default: 1500, range: 0...60_000,
            help: "How long a stop may take before what is left is cut off.")
        self.apps = []
        var hasAppsFault = false
        if path != nil, inline != nil {
            reader.refuse("apps-json", value: nil, remedy: AppsDocument.twice)
            hasAppsFault = true
        }
        self.appsOption = inline == nil ? "apps" : "apps-json"
        // What was given directly holds keys: it is in no message.
        let origin = inline == nil ? path : nil
        if let inline {
            self.apps = Array(inline.utf8)
        } else if let path {
            do {
                self.apps = [UInt8](try Data(contentsOf: URL(filePath: path)))
            } catch {
                reader.refuse("apps", value: path, remedy: "give a file that can be read")
                hasAppsFault = true
            }
        }
        let faults = AppsDocument.faults(in: self.apps)
        for fault in faults { reader.refuse(self.appsOption, value: origin, remedy: fault) }
        self.hasAppsFault = hasAppsFault || !faults.isEmpty
    }

    /// The policies of the apps file; it was checked when it was read.
    package var policies: Policies {
        var policies: [AppID: AppPolicy] = [:]
        for (app, entry) in Self.file(of: self.apps) {
            var policy = entry.policy ?? AppPolicy()
            policy.hasWebhooks = entry.hooks.map { $0.events != [] } ?? false
            policies[app] = policy
        }
        return Policies(policies)
    }

    /// The hooks of the apps that have some.
    package var hooks: [AppID: AppHooks] { Self.file(of: self.apps).compactMapValues(\.hooks) }

    /// What the Kafka clients of this process share.
    package func kafka(log: Log) -> KafkaSettings {
        KafkaSettings(brokers: self.brokers, clientID: self.instance) { level, facility, text in
            let line: KeyValuePairs<LogKey, LogValue> = [.reason: .string(facility), .detail: .string(text)]
            if level <= .error { log.warning("kafka client", line) } else { log.debug("kafka client", line) }
        }
    }

    private static func file(of apps: [UInt8]) -> [AppID: AppsDocument.App] {
        let file = (try? AppsDocument(json: apps))?.apps ?? [:]
        return Dictionary(file.map { (AppID($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }
}
