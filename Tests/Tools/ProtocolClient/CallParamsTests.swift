// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import ProtocolClient
import Testing

@Suite struct CallParamsTests {
    @Test func `only the parameters that a tool names are sent, under the names of the protocol`() {
        let params = CallParams(live: "concert", users: ["anna"], to: ["duet"], timeout: 60)
        let json = #"{"live":"concert","timeout":60,"to":["duet"],"users":["anna"]}"#
        #expect(String(decoding: Wire.encode(params), as: UTF8.self) == json)
        #expect(Wire.encode(CallParams()) == Array("{}".utf8))
    }
}
