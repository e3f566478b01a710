// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Testing

/// Tests of IP addresses (`IPAddress`) and of blocks of addresses (`AddressBlock`), made from text or bytes.
@Suite struct IPAddressTests {
    // Each text of an address, with its expected `description`. A description of an IPv6 address has all eight groups,
    // because it does not use `::`. `::ffff:10.1.2.3` is the IPv6 form of the IPv4 address 10.1.2.3, so both have the
    // same description.
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("0.0.0.0", "0.0.0.0"),
        ("::1", "0:0:0:0:0:0:0:1"), ("::", "0:0:0:0:0:0:0:0"), ("fe80::1:2", "fe80:0:0:0:0:0:1:2"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1::", "1:0:0:0:0:0:0:0"), ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:DB8::8.8.8.8", "2001:db8:0:0:0:0:808:808"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
    ])
    func `each written form of an address is parsed`(text: String, expected: String) throws {
        #expect(try #require(IPAddress(text)).description == expected)
    }

    // "01.2.3.4" is rejected because some parsers read a number with a leading zero as octal. "%lo" is a zone, which an
    // `IPAddress` cannot have. "١" is the Arabic digit 1. The last two texts are longer than any address.
    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4", "1..2.3", " 1.2.3.4", "1.2.3.4 ", ":",
        ":::",
        "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::1%lo", "[::1]", "1:2:3:4:5:6:7::8",
        "1.2.3.4::", "::1.2.3", "+1::", "-1::", "1:2:3:4:5:6:7:1.2.3.4", "localhost", "١.2.3.4",
        String(repeating: ":", count: 100_000), String(repeating: "1", count: 100_000),
    ])
    func `text that is not an address is rejected`(text: String) { #expect(IPAddress(text) == nil) }

    @Test func `4 or 16 bytes in network order make an address, and 15 bytes make none`() {
        let four: [UInt8] = [10, 0, 0, 1]
        #expect(IPAddress(bytes: four.span) == IPAddress("10.0.0.1"))
        let sixteen: [UInt8] = [0x20, 0x01] + [UInt8](repeating: 0, count: 13) + [9]
        #expect(IPAddress(bytes: sixteen.span) == IPAddress("2001::9"))
        #expect(IPAddress(bytes: sixteen.span.extracting(0..<15)) == nil)
    }

    /// `limitKey` is the address under which limits count a client.
    @Test func `two addresses have the same key for limits if they are IPv6 and share their first 64 bits`() {
        #expect(IPAddress("2001:db8::1")?.limitKey == IPAddress("2001:db8::ffff:1")?.limitKey)
        #expect(IPAddress("2001:db8::1")?.limitKey != IPAddress("2001:db8:0:1::1")?.limitKey)
        #expect(IPAddress("10.0.0.1")?.limitKey != IPAddress("10.0.0.2")?.limitKey)
    }

    /// A block compares the IPv6 forms of addresses, in which 10.0.0.1 is `::ffff:10.0.0.1`.
    @Test func `an address block contains exactly the addresses with its prefix`() throws {
        let privateBlock = try #require(AddressBlock("10.0.0.0/8"))
        #expect(privateBlock.contains(try #require(IPAddress("10.255.0.1"))))
        #expect(privateBlock.contains(try #require(IPAddress("::ffff:10.1.1.1"))))
        #expect(!privateBlock.contains(try #require(IPAddress("11.0.0.1"))))
        #expect(!privateBlock.contains(try #require(IPAddress("::a00:1"))), "IPv6 that ends like 10.0.0.1")

        let singleAddress = try #require(AddressBlock("fd00::5"))
        #expect(singleAddress.contains(try #require(IPAddress("fd00::5"))))
        #expect(!singleAddress.contains(try #require(IPAddress("fd00::4"))))

        let allAddresses = try #require(AddressBlock("::/0"))
        #expect(allAddresses.contains(try #require(IPAddress("1.2.3.4"))), "an IPv4 address is mapped into IPv6")
        let allOfIPv4 = try #require(AddressBlock("0.0.0.0/0"))
        #expect(allOfIPv4.contains(try #require(IPAddress("1.2.3.4"))))
        #expect(!allOfIPv4.contains(try #require(IPAddress("2001::1"))), "an IPv6 address is no IPv4 address")
    }

    // A prefix has at most 32 bits for IPv4 and 128 bits for IPv6, written in at most three digits. "10.0.0.1/8" is
    // rejected because its last bit, which comes after the prefix, is set.
    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8/8", "fd00::/129", "x/8", "10.0.0.0/-1",
        "10.0.0.0/ 8", "10.0.0.0/0008",
    ])
    func `text that is not an address block is rejected`(text: String) { #expect(AddressBlock(text) == nil) }
}
