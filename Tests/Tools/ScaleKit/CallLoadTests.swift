// SPDX-License-Identifier: Apache-2.0
import ProtocolClient
import Testing

@testable import ScaleKit

/// Tests of how the owners of a scale test are distributed among the gateways.
struct CallLoadTests {
    @Test func `owners begin with different gateways, so that each gateway has work`() {
        let addresses = (1...4 as ClosedRange<UInt16>).map { PlazaAddress(host: "127.0.0.1", port: $0) }
        let firstPorts = (0..<8).map { CallLoad.rotate(addresses, by: $0).first?.port }
        #expect(firstPorts == [1, 2, 3, 4, 1, 2, 3, 4])
        #expect(CallLoad.rotate(addresses, by: 2).map(\.port) == [3, 4, 1, 2])
        #expect(CallLoad.rotate([], by: 2) == [])
    }
}
