// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import ProtocolClient
import Testing

@testable import AttackKit

/// Tests of which addresses may be attacked, from which addresses connections come, and which attacks a run selects.
@Suite struct AttackPlanTests {
    /// An attack target whose gateway has the address `host`, and whose HTTP server has the address `http`.
    private static func target(_ host: String, http: String = "127.0.0.1") throws(AttackError) -> AttackTarget {
        try AttackTarget(
            gateways: [PlazaAddress(host: host, port: 1)], httpAddresses: [PlazaAddress(host: http, port: 2)],
            processes: [], partitions: 3, app: "demo", token: { user, _ in "token-of-\(user)" })
    }

    @Test(arguments: ["127.0.0.1", "127.9.8.7", "::1"])
    func `an address of the loopback interface may be attacked`(host: String) throws {
        #expect(try Self.target(host).gateways.first?.host == host)
    }

    @Test(arguments: ["10.0.0.1", "128.0.0.1", "0.0.0.0", "::", "example.org", "127.0.0.1.example.org", "", "127.1"])
    func `any other address is rejected, for the gateway and for HTTP`(host: String) {
        #expect(throws: AttackError.notLoopback(host)) { try Self.target(host) }
        #expect(throws: AttackError.notLoopback(host)) { try Self.target("127.0.0.1", http: host) }
    }

    @Test func `localhost becomes the loopback address without a look-up`() throws {
        #expect(try Self.target("localhost").gateways.first?.host == "127.0.0.1")
    }

    @Test func `connections come from many addresses, none of them that of honest clients`() {
        let sources = (0..<20_000).compactMap { Loopback.source(of: $0, to: "127.0.0.1") }
        #expect(sources.count == 20_000)
        let counts = Dictionary(grouping: sources) { $0 }.mapValues(\.count)
        // 50 connections share a source address (`Loopback.connectionsPerSource`), and 20,000 / 50 = 400.
        #expect(counts.count == 400 && counts.values.allSatisfy { $0 <= Loopback.connectionsPerSource })
        #expect(counts.keys.allSatisfy { Loopback.numericAddress($0) == $0 && $0 != "127.0.0.1" })
        // IPv6 has only one loopback address, so the system chooses the source.
        #expect(Loopback.source(of: 0, to: "::1") == nil)
    }

    @Test func `attacks that are chosen by name run in the catalog's order, each once`() throws {
        // An empty list of names selects all attacks.
        #expect(try AttackCatalog.named([]).count == AttackCatalog.all.count)
        #expect(try AttackCatalog.named(["ping-flood", "number", "number"]).map(\.name) == ["number", "ping-flood"])
        // A misspelt name is an error.
        #expect(throws: AttackError.unknown("numbre")) { try AttackCatalog.named(["numbre"]) }
        // No two attacks have the same name.
        #expect(Set(AttackCatalog.all.map(\.name)).count == AttackCatalog.all.count)
    }

    @Test func `each attack opens at least one connection and at most as many as the limit`() {
        for attack in AttackCatalog.all {
            for limit in [1, 7, 20_000] { #expect((1...limit).contains(attack.connectionCount(limit: limit))) }
        }
    }

    @Test func `a target without an HTTP address is not attacked over HTTP`() throws {
        let gateways = [PlazaAddress(host: "::1", port: 1)]
        let target = try AttackTarget(
            gateways: gateways, httpAddresses: [], processes: [], partitions: nil, app: "demo",
            token: { user, _ in user })
        let plan = AttackPlan(target: target, attacks: AttackCatalog.all, seed: 1)
        let attacksOverHTTP = [
            "number-http", "slow-http-head", "slow-http-body", "numbers-http", "deep-json-http", "marks-http",
        ]
        let otherAttacks = AttackCatalog.all.map(\.name).filter { !attacksOverHTTP.contains($0) }
        #expect(plan.runnable.map(\.name) == otherAttacks)
        // Each name in `attacksOverHTTP` is in the catalog.
        #expect(AttackCatalog.all.count == otherAttacks.count + attacksOverHTTP.count)
    }

    // The search tries names until one hashes to the partition.
    @Test func `a live name can be found that hashes to a given partition`() throws {
        for partition in 0..<12 {
            let name = try #require(PartitionedName.live("a", app: "demo", partition: partition, of: 12))
            #expect(PlazaTopic.partition(of: LiveKey("demo", LiveID(name)).text, among: 12) == partition)
        }
    }
}
