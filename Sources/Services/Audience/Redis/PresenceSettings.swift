// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import Concurrency
package import MachineKit
package import PlazaModel
internal import RedisClient
package import ServiceShell
package import Settings

/// The settings of the audience-presence service (docs/SETTINGS.md).
package struct PresenceSettings: Sendable {
    package var redisHost = "127.0.0.1"
    package var redisPort = 6379
    package var redisUser: String?
    package var redisPassword: Secret?
    /// How long Redis may take for an answer.
    package var redisTimeout: Duration
    /// How long a session's lease lasts after the session's last sign of life.
    package var lease: Duration

    /// Declares and reads the settings; the reader's `finish()` reports invalid ones.
    package init(_ reader: inout SettingsReader) {
        reader.section("Presence")
        let address = reader.string(
            "redis", default: "127.0.0.1:6379", placeholder: "HOST:PORT", help: "The Redis that holds the leases.")
        self.redisUser = reader.optionalString(
            "redis-user", placeholder: "NAME", help: "The user of Redis's access control list; default: Redis's own.")
        self.redisPassword = reader.secret("redis-password", help: "The file with the user's password.")
            .map { Secret($0) }
        self.redisTimeout = reader.milliseconds(
            "redis-timeout", default: 1000, range: 50...10_000,
            help: "How long Redis may take for an answer before it counts as away.")
        self.lease = reader.seconds(
            "lease-seconds", default: 90, range: 2...3600,
            help: "How long a silent client stays in a live. The gateways need the same value.")
        // A file that was named but could not be read is already reported.
        if self.redisUser != nil, self.redisPassword == nil,
            !reader.effectiveSettings.contains(where: {
                $0.name == "redis-password-file" && $0.source != .defaultValue
            })
        {
            reader.reject("redis-password-file", value: nil, remedy: "give the file with the password of --redis-user")
        }
        if let colon = address.lastIndex(of: ":"), let port = Int(address[address.index(after: colon)...]),
            (1...65_535).contains(port), colon != address.startIndex
        {
            self.redisHost = String(address[..<colon])
            self.redisPort = port
        } else {
            reader.reject("redis", value: address, remedy: "give a host and a port, such as 127.0.0.1:6379")
        }
    }

    /// The specification of the service's shell: the machine's topics, and how to make the processor of a partition.
    ///
    /// - Parameters:
    ///   - policies: the policy of each app.
    ///   - outages: collects the partitions whose leases Redis does not serve.
    /// - Returns: the specification for the service's one shell.
    package func spec(policies: Policies, outages: LeaseOutages = LeaseOutages()) -> MachineSpec {
        let breaker = CircuitBreaker { MonotonicClock.now }
        let settings = self
        return MachineSpec(
            name: PresenceMetrics.machine, inbox: .audienceInbox, state: .audienceState, publicTopics: [.audienceCounts]
        ) { context in
            var redis = RedisClient.Settings(host: settings.redisHost, port: settings.redisPort)
            redis.user = settings.redisUser
            redis.password = settings.redisPassword
            redis.timeout = settings.redisTimeout
            let connection = RedisLeaseConnection(
                redis, breaker: breaker, metrics: RedisMetrics(context.metrics),
                random: SystemRandomNumberGenerator(), now: { MonotonicClock.now })
            let lease = Milliseconds(settings.lease)
            return PresenceProcessor(
                AudienceMachine(partition: context.partition, policies: policies),
                store: LeaseStore(connection, partition: context.partition, lease: lease), log: context.log,
                metrics: context.metrics, outages: outages)
        }
    }
}
