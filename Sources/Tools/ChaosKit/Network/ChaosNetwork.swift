// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import EventLoop

/// The connections between a process and its servers or clients, which can be interrupted together.
package enum Link: Hashable, Sendable {
    /// Between a service's instance and all brokers.
    case kafka(String)
    /// Between a service's instance and Redis.
    case redis(String)
    /// Between a gateway and its clients.
    case clients(String)

    /// The name of the service's instance.
    package var process: String {
        switch self {
        case .kafka(let name), .redis(let name), .clients(let name): name
        }
    }

    /// The link of the same kind of another process.
    func ofInstance(_ process: String) -> Link {
        switch self {
        case .kafka: .kafka(process)
        case .redis: .redis(process)
        case .clients: .clients(process)
        }
    }

    /// The names of the side that accepts the connections and of the side that opens them.
    var ends: (server: String, client: String) {
        let service = Fault.service(of: self.process)
        return switch self {
        case .kafka: ("Kafka", service)
        case .redis: ("Redis", service)
        case .clients: (service, "clients")
        }
    }
}

/// The proxies of a cluster: before Kafka and Redis for each instance of a service, and before each gateway.
///
/// Each instance has proxies of its own, so an interruption affects only one of several instances.
package final class ChaosNetwork: Sendable {
    /// The links that can be interrupted.
    package let links: [Link]
    /// The proxies before Kafka and Redis.
    private let infrastructureProxies: FaultProxies
    /// The indexes of each link's proxies in `infrastructureProxies`.
    private let proxyIndexes: [Link: [Int]]
    /// The proxies before the gateways; nil until `clientPorts` was called.
    private let gatewayProxies = Locked<(proxies: FaultProxies, names: [String], ports: [UInt16])?>(nil)

    /// Starts the proxies before Kafka and Redis, and sets routes in the options so that the cluster uses the proxies.
    ///
    /// - Parameter options: the options of a cluster that does not run yet. An embedded broker gets no proxies.
    /// - Throws: `ClusterError.noFreePort`, or `LoopError` when a proxy cannot listen.
    package init(for options: inout ClusterOptions) throws {
        let brokers = if case .kafkaHome(_, let count) = options.broker { count } else { 0 }
        if options.redisPort == 0 { options.redisPort = try PortRange.allocate() }
        var servers: [UInt16] = []
        var proxyIndexes: [Link: [Int]] = [:]
        var links: [Link] = []
        // The ports on which the brokers listen for each process.
        var listeners: [String: [Int]] = [:]
        let processes = ServiceKind.allCases.flatMap { kind in
            (0..<options.instances(of: kind)).map { (kind, name: kind.instanceName($0 + 1)) }
        }
        for (kind, name) in processes {
            if brokers > 0 {
                let ports = try (0..<brokers).map { _ in try PortRange.allocate() }
                listeners[name] = ports
                proxyIndexes[.kafka(name)] = Array(servers.count..<servers.count + brokers)
                servers += ports.map(UInt16.init)
                links.append(.kafka(name))
            }
            // Only presence uses Redis.
            if kind == .audiencePresence {
                proxyIndexes[.redis(name)] = [servers.count]
                servers.append(UInt16(options.redisPort))
                links.append(.redis(name))
            }
            if kind == .gateway { links.append(.clients(name)) }
        }
        let proxies = try FaultProxies(servers: servers)
        for (link, indexes) in proxyIndexes {
            var route = options.routes[link.process] ?? ProcessRoute()
            if case .redis = link { route.redisPort = indexes.first.map { Int(proxies.ports[$0]) } }
            if case .kafka(let name) = link {
                route.brokers = zip(listeners[name] ?? [], indexes).map {
                    ProcessRoute.Broker(listener: $0, advertised: Int(proxies.ports[$1]))
                }
            }
            options.routes[link.process] = route
        }
        self.links = links
        self.proxyIndexes = proxyIndexes
        self.infrastructureProxies = proxies
    }

    /// The ports on which clients reach the gateways of the running cluster, each through a proxy.
    ///
    /// The first call starts the proxies.
    ///
    /// - Throws: `LoopError` when a proxy cannot listen.
    func clientPorts(of cluster: LocalCluster) throws -> [UInt16] {
        if let existing = self.gatewayProxies.withLock({ $0 }) { return existing.ports }
        let gateways = cluster.gateways
        let proxies = try FaultProxies(servers: gateways.map { UInt16($0.port) })
        self.gatewayProxies.withLock { $0 = (proxies, gateways.map(\.name), proxies.ports) }
        return proxies.ports
    }

    /// Interrupts a link; the interruption `none` ends an earlier one.
    ///
    /// - Throws: `NoProxy` when the link has no proxy; `NoConnection` when there is nothing that could be interrupted.
    func interrupt(_ link: Link, _ interruption: Interruption) throws {
        if case .clients(let name) = link {
            guard let gateways = self.gatewayProxies.withLock({ $0 }), let index = gateways.names.firstIndex(of: name)
            else { throw NoProxy(link: link) }
            try Self.interrupt(link, [index], of: gateways.proxies, interruption)
        } else {
            guard let indexes = self.proxyIndexes[link], !indexes.isEmpty else { throw NoProxy(link: link) }
            try Self.interrupt(link, indexes, of: self.infrastructureProxies, interruption)
        }
    }

    private static func interrupt(
        _ link: Link, _ indexes: [Int], of proxies: FaultProxies, _ interruption: Interruption
    ) throws {
        if interruption != .none, indexes.allSatisfy({ proxies.connectionCount($0) == 0 }) {
            throw NoConnection(link: link)
        }
        for index in indexes { proxies.interrupt(index, interruption) }
    }

    /// A link cannot be interrupted, because it has no proxy.
    struct NoProxy: Error, CustomStringConvertible {
        let link: Link
        var description: String { "no proxy stands between \(self.link.ends.client) and \(self.link.ends.server)" }
    }

    /// A link has no connection, so an interruption would not be a fault.
    struct NoConnection: Error, CustomStringConvertible {
        let link: Link
        var description: String {
            "\(self.link.process) has no connection between \(self.link.ends.client) and \(self.link.ends.server)"
        }
    }

    /// Ends all proxies.
    package func stop() {
        self.infrastructureProxies.stop()
        self.gatewayProxies.withLock { $0?.proxies.stop() }
    }
}
