// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import GatewayCore
import Testing

@testable import Gateway

/// Clients behind proxies: their addresses come in a PROXY header or in `X-Forwarded-For`.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ProxiedClientTests {
    /// A PROXY header (version 2, TCP over IPv4) with a client address of four bytes.
    private static func proxyHeader(_ address: [UInt8]) -> [UInt8] {
        let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
        let versionAndCommand: UInt8 = 0x21
        let tcpOverIPv4: UInt8 = 0x11
        // Two addresses of 4 bytes and two ports of 2 bytes follow.
        let remainingLength: [UInt8] = [0, 12]
        let proxyAddress: [UInt8] = [127, 0, 0, 1]
        let ports: [UInt8] = [0x12, 0x34, 0, 80]
        return signature + [versionAndCommand, tcpOverIPv4] + remainingLength + address + proxyAddress + ports
    }

    /// A gateway behind proxies on this machine, which admits one connection per client address.
    private func cluster(speaksProxyProtocol: Bool) throws -> FakeCluster {
        let block = try #require(AddressBlock("127.0.0.0/8"))
        return try FakeCluster {
            $0.trustedProxies = TrustedProxies([block])
            $0.speaksProxyProtocol = speaksProxyProtocol
            $0.admission.connectionsPerAddress = 1
        }
    }

    @Test func `limits apply to the client address in a PROXY header`() throws {
        // The gateway admits one connection per client address.
        let cluster = try self.cluster(speaksProxyProtocol: true)
        let port = cluster.gateway.port
        let first = try WireClient(port: port, proxyHeader: Self.proxyHeader([1, 1, 1, 1]))
        #expect(first.status == 101)
        #expect(try WireClient(port: port, proxyHeader: Self.proxyHeader([1, 1, 1, 1])).status == 429)
        let fromOtherAddress = try WireClient(port: port, proxyHeader: Self.proxyHeader([1, 1, 1, 2]))
        #expect(fromOtherAddress.status == 101)
        try first.send("{\"id\":1,\"method\":\"ping\"}")
        guard case .frame = try first.next() else {
            Issue.record("the gateway did not answer a ping on a connection that began with a PROXY header")
            return
        }
    }

    @Test func `a connection of a trusted proxy without a valid PROXY header is cut off`() throws {
        let cluster = try self.cluster(speaksProxyProtocol: true)
        #expect(throws: WireClient.Failure.self) { try WireClient(port: cluster.gateway.port) }
        var malformedHeader = Self.proxyHeader([1, 1, 1, 1])
        let addressFamilyIndex = 13
        let unknownAddressFamily: UInt8 = 0x77
        malformedHeader[addressFamilyIndex] = unknownAddressFamily
        #expect(throws: WireClient.Failure.self) {
            try WireClient(port: cluster.gateway.port, proxyHeader: malformedHeader)
        }
        #expect(cluster.metric("gateway_refusals_total") == 2, "both connections were refused")
    }

    /// Rules: R12.7.
    @Test func `a PROXY header of an untrusted peer is rejected as a bad request`() throws {
        let cluster = try FakeCluster { $0.speaksProxyProtocol = true }
        #expect(try WireClient(port: cluster.gateway.port, proxyHeader: Self.proxyHeader([1, 1, 1, 1])).status == 400)
        #expect(try WireClient(port: cluster.gateway.port).status == 101)
    }

    /// Rules: R12.7.
    @Test func `limits apply to the client address in X-Forwarded-For when proxies speak HTTP`() throws {
        let cluster = try self.cluster(speaksProxyProtocol: false)
        let port = cluster.gateway.port
        let first = try WireClient(port: port, headers: "X-Forwarded-For: 9.9.9.9, 1.1.1.1\r\n")
        let second = try WireClient(port: port, headers: "X-Forwarded-For: 9.9.9.8\r\nX-Forwarded-For: 1.1.1.1\r\n")
        let third = try WireClient(port: port, headers: "X-Forwarded-For: 1.1.1.2\r\n")
        // The last address in the header is the client's, because the trusted proxy has appended it. So the first two
        // connections have the same client address, 1.1.1.1. The gateway admits one connection per address.
        #expect([first.status, second.status, third.status] == [101, 429, 101])
        #expect(try WireClient(port: port).status == 101, "without the header the proxy's own address counts")
    }
}
