// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Testing

@testable import ChaosKit

/// Tests of the proxies through which the processes of a cluster connect, so that a fault can interrupt a connection.
///
/// `options.routes` has, by the name of a process, the ports of the proxies that this process must use.
struct ChaosNetworkTests {
    @Test func `each instance of each service reaches each broker through a separate proxy`() throws {
        var options = ClusterOptions(runDirectory: "unused")
        options.broker = .kafkaHome("unused", brokers: 3)
        options.scale[.cohostBattle] = 2
        let network = try ChaosNetwork(for: &options)
        defer { network.stop() }
        let instances = ServiceKind.allCases.map { "\($0.rawValue)-1" } + ["cohost-battle-2"]
        #expect(Set(options.routes.keys) == Set(instances))
        let brokerRoutes = options.routes.values.flatMap(\.brokers)
        #expect(brokerRoutes.count == 3 * instances.count)
        // If two routes shared a port, an interruption of one would affect the other.
        let ports = brokerRoutes.flatMap { [$0.listener, $0.advertised] }
        #expect(Set(ports).count == ports.count)
        // There is one link to Kafka for each instance, one to Redis, and one to the clients.
        #expect(network.links.count == instances.count + 2)
    }

    @Test func `only presence reaches Redis through a proxy`() throws {
        var options = ClusterOptions(runDirectory: "unused")
        options.broker = .kafkaHome("unused", brokers: 1)
        let network = try ChaosNetwork(for: &options)
        defer { network.stop() }
        let routesToRedis = options.routes.filter { $0.value.redisPort != nil }
        #expect(Array(routesToRedis.keys) == ["audience-presence-1"])
        #expect(options.redisPort != 0 && routesToRedis.values.first?.redisPort != options.redisPort)
        #expect(network.links.contains(.redis("audience-presence-1")) && network.links.contains(.clients("gateway-1")))
    }

    @Test func `no proxy leads to an embedded broker, because all clients of the broker get the same address`() throws {
        var options = ClusterOptions(runDirectory: "unused")
        let network = try ChaosNetwork(for: &options)
        defer { network.stop() }
        #expect(Set(network.links) == [.redis("audience-presence-1"), .clients("gateway-1")])
        let brokerRoutes = options.routes.values.flatMap(\.brokers)
        #expect(brokerRoutes.isEmpty)
    }

    @Test func `a link without a connection is not interrupted, since that would be no fault`() throws {
        var options = ClusterOptions(runDirectory: "unused")
        let network = try ChaosNetwork(for: &options)
        defer { network.stop() }
        let error = #expect(throws: ChaosNetwork.NoConnection.self) {
            try network.interrupt(.redis("audience-presence-1"), .cut)
        }
        let text = "audience-presence-1 has no connection between audience-presence and Redis"
        #expect(error?.description == text)
        #expect(throws: ChaosNetwork.NoProxy.self) { try network.interrupt(.redis("gateway-1"), .cut) }
        try network.interrupt(.redis("audience-presence-1"), .none)
    }
}
