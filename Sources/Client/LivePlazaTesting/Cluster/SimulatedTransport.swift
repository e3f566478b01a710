// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit

/// Opens connections of one device to the simulated cluster.
struct SimulatedTransport: Transport {
    /// The name of the device.
    let name: String
    let network: SimulatedNetwork

    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        SimulatedSocket(number: self.network.connect(self.name, onEvent), network: self.network)
    }
}

private struct SimulatedSocket: TransportConnection {
    /// The connection's number in the network.
    let number: Int
    let network: SimulatedNetwork

    func send(_ text: [UInt8]) { self.network.send(text, from: self.number) }
    /// The simulated gateway treats all codes alike.
    func close(code: Int) { self.network.close(self.number) }
}
