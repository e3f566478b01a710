// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Testing

/// Tests of the client's address in the HTTP header `X-Forwarded-For`, which counts only if a trusted proxy sent it.
@Suite struct TrustedProxiesTests {
    private func trustedProxies() throws -> TrustedProxies {
        TrustedProxies([try #require(AddressBlock("10.0.0.0/8")), try #require(AddressBlock("fd00::/8"))])
    }

    /// The client's address, as `TrustedProxies` finds it.
    ///
    /// `peer` is the address of the other end of the connection, `header` the value of `X-Forwarded-For`.
    private func client(peer: String, header: String?) throws -> String {
        try self.trustedProxies().client(peer: #require(IPAddress(peer)), forwardedFor: header).description
    }

    @Test func `the header of a peer that is not a trusted proxy is ignored`() throws {
        #expect(try self.client(peer: "8.8.8.8", header: "1.1.1.1") == "8.8.8.8")
        #expect(
            TrustedProxies().client(peer: try #require(IPAddress("10.0.0.1")), forwardedFor: "1.1.1.1").description
                == "10.0.0.1")
    }

    // Each value of the header, with the client's expected address. Each proxy appends the address of its peer to the
    // header. Therefore the header is read from its end, and the first address that is not a trusted proxy's is the
    // client's. Reading also ends at the beginning of the header, and at an entry that is not an address. Then the
    // client is the address that was read last, or the peer if no address was read.
    @Test(
        arguments: [
            (nil, "10.0.0.1"), ("", "10.0.0.1"), ("1.1.1.1", "1.1.1.1"), (" 1.1.1.1\t", "1.1.1.1"),
            ("6.6.6.6, 1.1.1.1", "1.1.1.1"), ("6.6.6.6, 1.1.1.1, 10.9.9.9", "1.1.1.1"),
            ("6.6.6.6,1.1.1.1 ,fd00::1,10.9.9.9", "1.1.1.1"), ("1.1.1.1:4711", "1.1.1.1"),
            ("[2001:0::1]:4711", "2001:0:0:0:0:0:0:1"), ("2001::1", "2001:0:0:0:0:0:0:1"), ("10.1.1.1", "10.1.1.1"),
            ("6.6.6.6, unknown, 10.9.9.9", "10.9.9.9"), ("6.6.6.6,,", "10.0.0.1"), ("[::1", "10.0.0.1"),
            ("[]", "10.0.0.1"),
            ("6.6.6.6, " + String(repeating: "x", count: 70_000), "10.0.0.1"),
        ] as [(String?, String)])
    func `the client is the last address that is not a trusted proxy's`(header: String?, client: String) throws {
        #expect(try self.client(peer: "10.0.0.1", header: header) == client)
    }

    @Test func `I16 only the end of a long header is searched`() throws {
        // The entry 6.6.6.6 is too far from the end to be read, so the address that was read last counts.
        let longHeader = "6.6.6.6" + String(repeating: ", 10.2.2.2", count: 100_000)
        #expect(try self.client(peer: "10.0.0.1", header: longHeader) == "10.2.2.2")
    }
}
