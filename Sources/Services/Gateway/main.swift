// SPDX-License-Identifier: Apache-2.0
import Gateway
import Glibc
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import Settings
import Tokens
import Webhooks

/// The settings that only a gateway has.
struct GatewayOptions: Sendable {
    let port: Int
    let httpPort: Int
    let shards: Int
    let lease: Duration
    let feedCacheSpan: Duration
    let sessionKey: Secret?
    let admission: AdmissionSettings
    let pages: PagesOptions
    let webhooks: WebhookSettings
    /// The share of the calls that is traced, from 0 to 1.
    let traceShare: Double

    init(_ reader: inout SettingsReader) {
        reader.section("Gateway")
        self.port = reader.int("port", default: 8080, range: 0...65535, help: "Port of WebSockets; 0 takes a free one.")
        self.httpPort = reader.int(
            "http-port", default: 8081, range: 0...65535, help: "Port of HTTP; 0 takes a free one.")
        // By default one shard for every two processors. At most 64, because `FeedHub` stores a set of shards in 64
        // bits.
        self.shards = reader.int(
            "shards", default: max(1, min(64, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)), range: 1...64,
            help: "Event loops, each with a thread and connections of its own.")
        self.lease = reader.seconds(
            "lease-seconds", default: 90, range: 1...3600,
            help: "How long a silent client counts as present; the same for presence and all gateways.")
        self.feedCacheSpan = reader.seconds(
            "ring-seconds", default: 60, range: 1...600,
            help: "How long feed items are kept in memory for clients that come back; older ones are read again.")
        self.sessionKey =
            reader.secret(
                "session-key",
                help: "A secret that binds sessions to their users; the same for all gateways."
            ).map { Secret($0) }
        if let key = self.sessionKey, key.text.utf8.count < 16 {
            reader.reject("session-key-file", value: nil, remedy: "at least 16 bytes, such as 32 random ones in base64")
        }
        self.admission = AdmissionSettings(&reader)
        self.pages = PagesOptions(&reader)
        self.webhooks = WebhookSettings(&reader)
        let share = reader.string(
            "trace-sample", default: "0.01", placeholder: "SHARE",
            help:
                "Which part of the calls is traced, 0 to 1, with --traces. Traces that HTTP clients began count apart.")
        // -1 stands for a text that is not a number; the check below rejects it.
        self.traceShare = Double(share) ?? -1
        if !(0...1).contains(self.traceShare) {
            reader.reject("trace-sample", value: share, remedy: "give a number from 0 to 1, such as 0.01")
        }
    }
}

exit(
    ServiceHost.run(
        "gateway", summary: "Connects clients: WebSocket and HTTP, reads, calls, feeds and notices.",
        backendRequests: .beforeHooks,
        settings: { GatewayOptions(&$0) },
        traceShare: { $0.traceShare },
        check: { settings, reader in
            // An apps file that no service can use was reported already. A gateway also needs an app with a key.
            if !settings.hasInvalidApps,
                let validationError = AppTokenAuthenticator.validationError(in: settings.appsFile)
            {
                reader.reject(settings.appsOption, value: nil, remedy: validationError)
            }
        },
        build: { host, options in
            var settings = GatewaySettings(
                id: GatewayID(host.settings.instance), host: host.settings.host, port: UInt16(options.port),
                httpPort: UInt16(options.httpPort), shards: options.shards, partitions: host.settings.partitions,
                lease: Milliseconds(options.lease))
            settings.policies = host.settings.policies
            settings.drain = Milliseconds(host.settings.drain)
            settings.tracer = host.tracer
            settings.feedCacheSpan = Milliseconds(options.feedCacheSpan)
            if let key = options.sessionKey {
                settings.sessionNamer = .keyed(key)
            } else {
                host.log.warning(
                    "anybody can compute the names of sessions: give all gateways one secret with --session-key-file")
            }
            let authenticator = try AppTokenAuthenticator(apps: host.settings.appsFile)
            options.admission.apply(to: &settings, appCount: authenticator.appCount)
            settings.origins = options.pages.origins
            settings.pages = options.pages.settings(apps: try AppKeyring(json: host.settings.appsFile))
            if options.pages.lacksPages { host.log.warning("there are no pages beside the program: see --pages") }
            if let app = options.pages.demoApp, let pages = settings.pages {
                if pages.demoTokens == nil {
                    host.log.warning("no key of the app signs, so pages get no tokens", [.app: .string(app)])
                } else {
                    host.log.warning(
                        "ANYBODY AT THIS MACHINE SIGNS IN AS ANY USER: --demo-tokens is for trying out alone",
                        [.app: .string(app)])
                }
            }
            if !DescriptorLimit.raise(for: settings.maxConnections) {
                host.log.warning("the limit of open files cannot be raised")
            }
            return [
                GatewayService(
                    settings, authenticator: authenticator, hooks: host.settings.hooks,
                    webhookCAFile: options.webhooks.caFile,
                    kafka: host.settings.kafka(log: host.log),
                    mode: host.settings.mode, log: host.log, registry: host.metrics)
            ]
        }))
