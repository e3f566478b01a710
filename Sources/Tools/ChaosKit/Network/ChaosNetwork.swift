// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import EventLoop

/// A connection between a process and its neighbours that can be interrupted.
package enum Link: Hashable, Sendable {
    /// Between a service's instance and all brokers.
    case kafka(String)
    /// Between a service's instance and Redis.
    case redis(String)
    /// Between a gateway and its clients.
    case clients(String)

    /// The process at this end of the link.
    package var process: String {
        switch self {
        case .kafka(let name), .redis(let name), .clients(let name): name
        }
    }

    /// The side that accepts the connections, and the side that begins them.
    var ends: (server: String, client: String) {
        let service = Fault.service(of: self.process)
        return switch self {
        case .kafka: ("Kafka", service)
        case .redis: ("Redis", service)
        case .clients: (service, "clients")
        }
    }
}

/// The proxies of a cluster: before Kafka and Redis for the first instance of each service, and before each gateway.
///
/// The other instances keep their direct way, so that an interruption hits one of several.
package final class ChaosNetwork: Sendable {
    /// The links that can be interrupted.
    package let links: [Link]
    /// The proxies of each link before Kafka and Redis.
    private let infrastructure: FaultProxy
    private let places: [Link: [Int]]
    private let gateways = Locked<(proxy: FaultProxy, names: [String], ports: [UInt16])?>(nil)

    /// Starts the proxies before Kafka and Redis, and sets the options of the cluster so that it uses them.
    ///
    /// - Parameter options: the options of a cluster that does not run yet. An embedded broker gets no proxies.
    /// - Throws: `ClusterError.noFreePort`, or `LoopError` when a proxy cannot listen.
    package init(for options: inout ClusterOptions) throws {
        let brokers = if case .kafkaHome(_, let count) = options.broker { count } else { 0 }
        if options.redisPort == 0 { options.redisPort = try PortRange.free() }
        var servers: [UInt16] = []
        var places: [Link: [Int]] = [:]
        var links: [Link] = []
        var listeners: [String: [Int]] = [:]
        for kind in ServiceKind.allCases where options.instances(of: kind) > 0 {
            let name = "\(kind.rawValue)-1"
            if brokers > 0 {
                let ports = try (0..<brokers).map { _ in try PortRange.free() }
                listeners[name] = ports
                places[.kafka(name)] = Array(servers.count..<servers.count + brokers)
                servers += ports.map(UInt16.init)
                links.append(.kafka(name))
            }
            if kind == .audiencePresence {
                places[.redis(name)] = [servers.count]
                servers.append(UInt16(options.redisPort))
                links.append(.redis(name))
            }
            if kind == .gateway { links.append(.clients(name)) }
        }
        let proxy = try FaultProxy(servers: servers)
        for (link, indices) in places {
            var route = options.routes[link.process] ?? ProcessRoute()
            if case .redis = link { route.redisPort = indices.first.map { Int(proxy.ports[$0]) } }
            if case .kafka(let name) = link {
                route.brokers = zip(listeners[name] ?? [], indices).map {
                    ProcessRoute.Broker(listener: $0, advertised: Int(proxy.ports[$1]))
                }
            }
            options.routes[link.process] = route
        }
        self.links = links
        self.places = places
        self.infrastructure = proxy
    }

    /// The ports at which clients reach the gateways of the cluster that runs, each through a proxy.
    ///
    /// - Throws: `LoopError` when a proxy cannot listen.
    func clientPorts(of cluster: LocalCluster) throws -> [UInt16] {
        if let known = self.gateways.withLock({ $0 }) { return known.ports }
        let gateways = cluster.gateways
        let proxy = try FaultProxy(servers: gateways.map { UInt16($0.port) })
        self.gateways.withLock { $0 = (proxy, gateways.map(\.name), proxy.ports) }
        return proxy.ports
    }

    /// Interrupts a link, or lets it go on.
    func interrupt(_ link: Link, _ interruption: Interruption) {
        if case .clients(let name) = link {
            self.gateways.withLock { gateways in
                guard let gateways, let index = gateways.names.firstIndex(of: name) else { return }
                gateways.proxy.interrupt(index, interruption)
            }
        } else {
            for index in self.places[link] ?? [] { self.infrastructure.interrupt(index, interruption) }
        }
    }

    /// Ends all proxies.
    package func stop() {
        self.infrastructure.stop()
        self.gateways.withLock { $0?.proxy.stop() }
    }
}
